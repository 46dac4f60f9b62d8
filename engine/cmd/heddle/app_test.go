package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"heddle/codec"
	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/help"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/binning"
	"heddle/engine/table/column"
)

func TestUsage(t *testing.T) {
	inTempDir(t)
	for _, test := range []struct {
		args    string
		message string
	}{
		{"serch", `heddle: unknown command "serch" (nearest: search`},
		{"xyzzy", `heddle: unknown command "xyzzy"`},
		{"index bild", `heddle index: unknown command "bild" (nearest: build)`},
		{"--nope", "heddle: unknown flag: --nope\n"},
		{"search x.hdl --querry a", `heddle search: unknown flag: --querry (nearest: --query)`},
		{"index info -q x.hdl", `heddle index info: unknown shorthand flag: 'q' in -q`},
		{"bitmap query x.hdb --select * --limit -1", `heddle bitmap query: flag --limit: "-1" is not a positive integer or 0`},
		{"bitmap query x.hdb --select * --limit 99999999999999999999", `heddle bitmap query: flag --limit: 99999999999999999999 is out of range`},
		{"index info --json=maybe x.hdl", `heddle index info: flag --json: "maybe" is not true or false`},
		{"index info --json= x.hdl", `heddle index info: flag --json: "" is not true or false`},
		{"version --nope", `heddle version: unknown flag: --nope`},
		{"version -z", `heddle version: unknown shorthand flag: 'z'`},
		{"version now", `heddle version: takes no argument, found "now"`},
		{"config print now", `takes no argument`},
		{"devices now", `takes no argument`},
		{"index info", `index file is missing`},
		{"index info a b", `takes one index file, found also "b"`},
		{"index verify", `index file is missing`},
		{"index dump", `index file is missing`},
		{"index build a.txt", `--output (-o) is missing`},
		{"index build -o", `flag needs an argument: 'o' in -o`},
		{"index build -o x.hdl", `an input is missing`},
		{"index build -o - a.txt", `an index cannot be written to standard output`},
		{"index build -o x.hdl --format pdf a.txt", `flag --format: "pdf" is not one of auto, text, jsonl, trec, warc, pisa, ciff` + "\n"},
		{"index build -o x.hdl --codec zip a.txt", `flag --codec: "zip" is not one of auto, raw, parapfor, bitset, vbyte`},
		{"index build -o x.hdl --exception-ratio 0.7 a.txt", `flag --exception-ratio: 0.7 is not from 0 to 0.6`},
		{"index build -o x.hdl --build-memory much a.txt", `flag --build-memory: "much" is not a size`},
		{"search", `index file is missing`},
		{"search x.hdl", `--query or --queries is missing`},
		{"search x.hdl --query a --queries b", `--query and --queries exclude each other`},
		{"search x.hdl --query a --all --count", `--all and --count exclude each other`},
		{"search x.hdl --query a --mode xor", `flag --mode: "xor" is not one of or, and, and-or`},
		{"search x.hdl --query a --backend gpu", `flag --backend: "gpu" is not one of auto, host, opencl`},
		{"search x.hdl --query a --algorithm hs17", `flag --algorithm: "hs17" is not one of`},
		{"search x.hdl --query a -k -1", `flag --k: -1 is not from 0 to`},
		{"search x.hdl --query a --threads many", `flag --threads: want a whole number, found "many"`},
		{"search x.hdl --query a --profiling=perhaps", `flag --profiling: want true or false, found "perhaps"`},
		{"tune now", `takes no argument`},
		{"search x.hdl --query a --format xml", `flag --format: "xml" is not one of text, tsv, jsonl, trec`},
		{"search x.hdl --query a --log-level loud", `flag --log-level: "loud" is not one of`},
	} {
		t.Run(test.args, func(t *testing.T) {
			wantFailure(t, heddle(t, strings.Fields(test.args)...), exitUsage, test.message)
		})
	}
	if f := files(t); f != "" {
		t.Errorf("left behind: %s", f)
	}
}

// TestMissingCommand checks that a group of commands prints its help on standard error
// and fails.
func TestMissingCommand(t *testing.T) {
	for _, args := range [][]string{nil, {"index"}, {"config"}} {
		r := heddle(t, args...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, "Available Commands:") || !strings.HasSuffix(r.stderr, "a command is missing\n") {
			t.Errorf("heddle %q: %+v", args, r)
		}
	}
}

// TestMissingFiles checks that every command names a missing file and exits with code 1.
func TestMissingFiles(t *testing.T) {
	inTempDir(t)
	writeFile(t, "ok.txt", "a\tb\n")
	must(t, "index", "build", "-o", "ok.hdl", "ok.txt")
	for _, args := range []string{
		"index info none.x", "index verify none.x", "index dump none.x", "search none.x --query a",
		"index build -o x.hdl none.x", "index build -o x.hdl --stopwords none.x ok.txt",
		"search ok.hdl --queries none.x", "config print --config none.x", "search ok.hdl --query a --config none.x",
	} {
		t.Run(args, func(t *testing.T) {
			wantFailure(t, heddle(t, strings.Fields(args)...), exitFailure, "none.x", "no such file")
		})
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "none/x.hdl", "ok.txt"), exitFailure, "none", "no such file")
	wantFailure(t, heddle(t, "search", ".", "--query", "a"), exitFailure, ".")
	if f := files(t); f != "ok.hdl ok.txt" {
		t.Errorf("left behind: %s", f)
	}
}

func TestNoSuchDevice(t *testing.T) {
	inTempDir(t)
	writeFile(t, "ok.txt", "a\tb\n")
	must(t, "index", "build", "-o", "ok.hdl", "ok.txt")
	for _, args := range []string{
		"search ok.hdl --query b --backend opencl --device no-such-device",
		"search ok.hdl --query b --device no-such-device",
	} {
		t.Run(args, func(t *testing.T) {
			wantFailure(t, heddleWith(t, "", nil, strings.Fields(args)...), exitDevice, "no such device", "no-such-device")
		})
	}
}

func TestVersion(t *testing.T) {
	if got := must(t, "version"); !strings.HasPrefix(got, "heddle ") || !strings.Contains(got, runtime.Version()) || strings.Count(got, "\n") != 1 {
		t.Errorf("version prints %q", got)
	}
	var b buildDetails
	if err := json.Unmarshal([]byte(must(t, "version", "--json")), &b); err != nil || b != thisBuild() || b.Version == "" {
		t.Errorf("version --json gives %+v, %v", b, err)
	}
}

// TestHelp checks that every command has a summary, a description and explained flags, in
// lines that fit a terminal.
func TestHelp(t *testing.T) {
	testneeds.Sequential(t)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" || isCore && c.DisableFlagParsing {
			return
		}
		if c.Short == "" || c.Long == "" || strings.HasSuffix(c.Short, ".") || !strings.HasSuffix(c.Long, ".") {
			t.Errorf("%s: summary %q, description %q", c.CommandPath(), c.Short, c.Long)
		}
		for line := range strings.SplitSeq(c.Long+"\n"+c.Example, "\n") {
			if len([]rune(line)) > 98 || strings.Contains(line, "\t") {
				t.Errorf("%s: line %q is too long or has a tab", c.CommandPath(), line)
			}
		}
		r := heddle(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		for line := range strings.SplitSeq(r.stdout, "\n") {
			if len([]rune(line)) > help.Width || line != strings.TrimRight(line, " ") || strings.Contains(line, "uRL") {
				t.Errorf("%s: line %q is too long, ends in spaces, or has a broken URL", c.CommandPath(), line)
			}
		}
		if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, c.Long) {
			t.Errorf("%s --help: %+v", c.CommandPath(), r)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&App{}, ""))
	for name, most := range map[string]int{"search": 85, "query-language": 66, "formats": 60, "predicates": 40, "codecs": 50, "algorithms": 40, "policies": 40, "csv": 50} {
		if r := heddle(t, "help", name); r.code != 0 || strings.Count(r.stdout, "\n") > most || strings.Count(r.stdout, "\n") < 15 {
			t.Errorf("help %s has %d lines, want at most %d: %+v", name, strings.Count(r.stdout, "\n"), most, r)
		}
	}
	if r := heddle(t, "help", "exit-codes"); !strings.HasPrefix(r.stdout, "  0  ") {
		t.Errorf("the first line of a table is out of line: %s", r.stdout)
	}
	for args, want := range map[string]string{"nothing": `heddle help: unknown command "nothing"`, "serch": "nearest: search", "index bild": "nearest: build", "search x": `heddle search has no command "x"`} {
		wantFailure(t, heddle(t, append([]string{"help"}, strings.Fields(args)...)...), exitUsage, want)
	}
}

// TestCompletion: the shell completes the values of flags, and topics of help.
func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"search --backend ": "host\n", "search --algorithm ": "bsloop\n", "search --syntax ": "boolean\n",
		"index build --codec ": "hslrc256\n", "bitmap build --binning ": "lloyd\n", "help ": "query-language\t",
	} {
		if r := heddle(t, append([]string{"__complete"}, strings.Split(args, " ")...)...); r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}

// TestSharedFlags checks that flags with the same meaning have the same name and text in
// all commands.
func TestSharedFlags(t *testing.T) {
	usage := map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, name := range []string{"config", "backend", "device", "json", "log-level", "no-progress", "threads"} {
			f := c.Flags().Lookup(name)
			if f == nil || name == "json" && f.Value.Type() != "bool" { // bench writes a file
				continue
			}
			if seen, ok := usage[name]; ok && seen != f.Usage {
				t.Errorf("%s: --%s is %q, elsewhere %q", c.CommandPath(), name, f.Usage, seen)
			}
			usage[name] = f.Usage
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&App{}, ""))
	if len(usage) < 6 {
		t.Errorf("only %d of the shared flags were found", len(usage))
	}
}

// TestOneCommand: a command that is made alone is the command that is made with the others.
func TestOneCommand(t *testing.T) {
	all := newRoot(&App{}, "")
	for _, c := range constructors() {
		name := c.name
		root := newRoot(&App{}, name)
		one, _, err := root.Find([]string{name})
		want, _, wantErr := all.Find([]string{name})
		if err != nil || wantErr != nil || one.Name() != name || one.UsageString() != want.UsageString() || one.Long != want.Long {
			t.Errorf("%s: %v, %v, %v: %s", name, one, err, wantErr, one.UsageString())
		}
		if len(root.Commands()) >= len(all.Commands()) {
			t.Errorf("%s has %d commands beside it", name, len(root.Commands()))
		}
	}
}

// TestNamesAgree compares the names in the configuration with the packages that define
// them.
func TestNamesAgree(t *testing.T) {
	codecs := []string{"auto"}
	for _, id := range codec.IDs() {
		codecs = append(codecs, id.String())
		if alias := id.Describe().Alias; alias != "" {
			codecs = append(codecs, alias)
		}
	}
	for level := range codec.MaxRPFDLevels + 1 {
		codecs = append(codecs, fmt.Sprintf("%s%d", codec.RPFD, level))
	}
	algorithms := []string{"auto", "hs", "pmf"}
	for _, a := range plan.Algorithms() {
		algorithms = append(algorithms, a.String())
	}
	var modes, variants []string
	for _, m := range engine.Matches() {
		modes = append(modes, m.String())
	}
	for _, v := range bm25.Variants() {
		variants = append(variants, v.String())
	}
	strategies := []string{"auto"}
	for _, s := range plan.Strategies() {
		strategies = append(strategies, s.String())
	}
	var encodings, binnings []string
	for e := column.Equality; e <= column.Interval; e++ {
		encodings = append(encodings, e.String())
	}
	for b := column.Auto; b <= column.Lloyd; b++ {
		binnings = append(binnings, b.String())
	}
	for name, want := range map[string][]string{
		"index.codec": codecs, "search.algorithm": algorithms, "search.mode": modes, "ranking.variant": variants,
		"bitmap.strategy": strategies, "schedule.policy": schedule.Policies(), "bitmap.encoding": encodings, "bitmap.binning": binnings,
	} {
		k, ok := config.Lookup(name)
		got := slices.Clone(k.Values)
		slices.Sort(got)
		slices.Sort(want)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s is one of %q, want %q", name, got, want)
		}
	}
	if got, want := config.Default().Index.ExceptionRatio, codec.DefaultOptions().ExceptionRatio; got != want {
		t.Errorf("default exception ratio is %v, that of package codec %v", got, want)
	}
	c := config.Default()
	variant, err := bm25.ParseVariant(c.Ranking.Variant)
	if got := (bm25.Params{Variant: variant, K1: c.Ranking.K1, B: c.Ranking.B}); err != nil || got != bm25.Default() {
		t.Errorf("default scoring is %s, that of package bm25 %s (%v)", got, bm25.Default(), err)
	}
	for _, test := range []struct {
		key      string
		greatest int
	}{{"search.k", plan.MaxK}, {"ranking.k1", bm25.MaxK1}, {"bitmap.bins", binning.MaxBins}} {
		for n, valid := range map[int]bool{test.greatest: true, test.greatest + 1: false} {
			_, err := config.Load(config.Sources{Flags: []config.Flag{{Name: "x", Key: test.key, Value: strconv.Itoa(n)}}})
			if (err == nil) != valid {
				t.Errorf("%s = %d: %v", test.key, n, err)
			}
		}
	}
}
