package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// someQueries are queries on the test collection: with one term and many, repeated terms,
// unknown terms, no terms, and frequent terms only.
func someQueries() []string {
	qs := []string{"w0", "w29", "w0 w1", "w3 w0", "w5 w2 w1", "w1 w1", "w28 w29", "nosuch", "w0 nosuch", "?!", "W0 W1!"}
	for i := range 30 {
		qs = append(qs, fmt.Sprintf("w%d w%d", i, i*7%30), fmt.Sprintf("w%d w0 w%d w1", i, i/3))
	}
	return append(qs, strings.Repeat("w0 w1 ", 60))
}

// want returns the names of the documents that match a query, by a scan of the
// collection.
func (c *corpus) want(q string) (names []string) {
	q = strings.ToLower(strings.NewReplacer("!", " ", "?", " ").Replace(q))
	for _, d := range c.matches(q) {
		names = append(names, c.names[d])
	}
	return names
}

func lines(names []string, prefix string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(prefix + n + "\n")
	}
	return b.String()
}

func TestSearch(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	queries := 15 // TestSearchFormats runs all of them, faster
	if testing.Short() {
		queries = 3
	}
	for _, q := range append(someQueries()[:queries], "") {
		want := c.want(q)
		if got := must(t, "search", "c.hdl", "--mode", "and", "--query", q, "--all"); got != lines(want, "") {
			t.Errorf("%q --all: %d documents, want %d", q, strings.Count(got, "\n"), len(want))
		}
		if got, want := must(t, "search", "c.hdl", "--mode", "and", "--query", q, "--count"), fmt.Sprintf("1\t%d\n", len(want)); got != want {
			t.Errorf("%q --count: %q, want %q", q, got, want)
		}
	}
}

func TestSearchAlgorithms(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	queries := []string{"w0 w1", "w9 w0 w2", "w20 w1"}
	var want strings.Builder
	for i, q := range queries {
		for _, name := range c.want(q) {
			fmt.Fprintf(&want, "%d\t%s\n", i+1, name)
		}
	}
	k, _ := config.Lookup("search.algorithm")
	for _, algorithm := range k.Values {
		a, err := plan.ParseAlgorithm(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if err := hostfallback.New(hostfallback.Options{}).Info().Runs(a); err != nil {
			t.Fatal(err) // the host supports all algorithms
		}
		backend := []string(nil)
		switch a { // algorithms that devices lack
		case plan.Gallop, plan.SvS, plan.SkipList, plan.SegStep, plan.BSLoop:
			if testneeds.OnDevice() {
				wantFailure(t, heddle(t, "search", "c.hdl", "--mode", "and", "--query", "w0 w1", "--all", "--algorithm", algorithm), exitUsage, "unsupported algorithm "+algorithm)
			}
			backend = []string{"--backend", "host"}
		case plan.Auto, plan.BS:
		default: // each command opens the device, which takes a second
			if testneeds.OnDevice() && !testneeds.Full() {
				continue
			}
		}
		args := append([]string{"search", "c.hdl", "--mode", "and", "--queries", "-", "--all", "--algorithm", algorithm}, backend...)
		if got := heddleWith(t, lines(queries, ""), backendEnv(), args...); got.code != 0 || got.stdout != want.String() {
			t.Errorf("%s: another answer: %v", algorithm, got)
		}
	}
}

func TestSearchFormats(t *testing.T) {
	c := buildCollection(t)
	queries := someQueries()
	writeFile(t, "q.tsv", lines(queries, ""))
	var text, tsv, counts strings.Builder
	for i, q := range queries {
		for rank, name := range c.want(q) {
			fmt.Fprintf(&text, "%d\t%s\n", i+1, name)
			fmt.Fprintf(&tsv, "%d\t%d\t%s\t1\n", i+1, rank+1, name)
		}
		fmt.Fprintf(&counts, "%d\t%d\n", i+1, len(c.want(q)))
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{text.String(), []string{"--all"}},
		{text.String(), []string{"--all", "--format", "text"}},
		{tsv.String(), []string{"--all", "--format", "tsv"}},
		{counts.String(), []string{"--count"}},
		{counts.String(), []string{"--count", "--format", "tsv"}},
	} {
		if got := must(t, append([]string{"search", "c.hdl", "--mode", "and", "--queries", "q.tsv"}, test.args...)...); got != test.want {
			t.Errorf("%q gives other lines than the documents do", test.args)
		}
	}

	for _, args := range [][]string{{"--all"}, {"--count"}} {
		out := must(t, append([]string{"search", "c.hdl", "--mode", "and", "--queries", "q.tsv", "--format", "jsonl"}, args...)...)
		d := json.NewDecoder(strings.NewReader(out))
		d.DisallowUnknownFields()
		for i, q := range queries {
			var o answer.Object
			if err := d.Decode(&o); err != nil {
				t.Fatal(err)
			}
			want := c.want(q)
			n := len(want)
			if args[0] == "--count" {
				want = nil
			}
			if o.Query != strconv.Itoa(i+1) || o.Text != q || o.Count == nil || *o.Count != uint64(n) || o.Scores != nil || strings.Join(o.Docs, " ") != strings.Join(want, " ") || o.Explain != nil {
				t.Errorf("%q: %+v, want %d documents", args, o, n)
			}
		}
		if _, err := d.Token(); err != io.EOF {
			t.Errorf("more objects than queries: %v", err)
		}
	}
}

// TestQueryFiles checks identifiers, line ends, blank lines and standard input.
func TestQueryFiles(t *testing.T) {
	buildCollection(t)
	count := func(q string) string {
		_, n, _ := strings.Cut(must(t, "search", "c.hdl", "--query", q, "--count"), "\t")
		return strings.TrimSpace(n)
	}
	w0, w1, both := count("w0"), count("w1"), count("w0 w1")
	for _, test := range []struct{ name, file, want string }{
		{"text alone", "w0\nw1\n", "1\t" + w0 + "\n2\t" + w1 + "\n"},
		{"no end of line", "w0\nw1", "1\t" + w0 + "\n2\t" + w1 + "\n"},
		{"with identifiers", "x\tw0\ny y\tw1\n", "x\t" + w0 + "\ny y\t" + w1 + "\n"},
		{"mixed", "x\tw0\nw1\nz\tw0 w1\nw1\n", "x\t" + w0 + "\n2\t" + w1 + "\nz\t" + both + "\n4\t" + w1 + "\n"},
		{"two tabs", "x\tw0\tw1\n", "x\t" + both + "\n"},
		{"blank lines", "\nw0\n\n\nw1\n\n", "1\t" + w0 + "\n2\t" + w1 + "\n"},
		{"CR LF and a byte order mark", "\ufeffw0\r\n\r\nw1\r\n", "1\t" + w0 + "\n2\t" + w1 + "\n"},
		{"no text", "x\t\ny\tw0\n", "x\t0\ny\t" + w0 + "\n"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, "q.txt", test.file)
			if got := must(t, "search", "c.hdl", "--queries", "q.txt", "--count"); got != test.want {
				t.Errorf("from a file: %q, want %q", got, test.want)
			}
			r := heddleWith(t, test.file, backendEnv(), "search", "c.hdl", "--queries", "-", "--count")
			if r.code != 0 || r.stdout != test.want || note.ReplaceAllString(r.stderr, "") != "" {
				t.Errorf("from standard input: %+v, want %q", r, test.want)
			}
		})
	}

	writeFile(t, "long.txt", "w0\n"+strings.Repeat("w0 ", trec.MaxLine/3+10)+"\nw1\n")
	r := heddle(t, "search", "c.hdl", "--queries", "long.txt", "--count")
	if r.code != exitFailure || !strings.Contains(r.stderr, "long.txt:2: a line of 1048606 bytes; at most 1048576 are possible\n") || r.stdout != "1\t"+w0+"\n3\t"+w1+"\n" {
		t.Errorf("an endless query: %+v", r)
	}
	writeFile(t, "one.txt", "w0\n")
	wantFailure(t, heddle(t, "search", "c.hdl", "--queries", ""), exitFailure, "no such file")
}

// TestManyQueries reads more queries than fit the read-ahead, in small pieces.
func TestManyQueries(t *testing.T) {
	testneeds.Sequential(t)
	c := buildCollection(t)
	queries := someQueries()
	var in, want strings.Builder
	for i := range 5000 {
		q := queries[i%len(queries)]
		fmt.Fprintf(&in, "q%d\t%s\n", i, q)
		fmt.Fprintf(&want, "q%d\t%d\n", i, len(c.want(q)))
	}
	for _, n := range []string{"1", "7", "16384"} {
		env := append(backendEnv(), "HEDDLE_BATCHING_QUERIES="+n, "HEDDLE_BATCHING_CANDIDATES=500")
		r := heddleWith(t, in.String(), env, "search", "c.hdl", "--mode", "and", "--queries", "-", "--count")
		if r.code != 0 || r.stdout != want.String() {
			t.Errorf("%s read ahead: exit code %d, %s; answers differ", n, r.code, r.stderr)
		}
	}
}

// TestPart checks that --part changes no answer, and is rejected where no list is
// divided.
func TestPart(t *testing.T) {
	testneeds.Sequential(t)
	buildCollection(t)
	writeFile(t, "q.txt", lines(someQueries(), ""))
	for _, what := range []string{"--all", "--count"} {
		for _, backend := range []string{"", "--backend all"} {
			args := append([]string{"search", "c.hdl", "--mode", "and", "--queries", "q.txt", what}, strings.Fields(backend)...)
			want := must(t, args...)
			r := heddle(t, append(args, "--part", "--explain")...)
			if r.code != 0 || r.stdout != want || strings.Count(r.stderr, "\n  part     one work-group or thread per query\n") != len(someQueries()) {
				t.Errorf("%s, %s: %+v", what, backend, r)
			}
			if got := must(t, append(args, "--part")...); got != want {
				t.Errorf("%s, %s: %s, want %s", what, backend, got, want)
			}
		}
	}
	for _, args := range []string{"", "--mode or", "--syntax boolean", "--syntax boolean --all", "--all --mode or", "--count --mode or"} {
		r := heddle(t, append([]string{"search", "c.hdl", "--query", "w9 w0", "--part"}, strings.Fields(args)...)...)
		wantFailure(t, r, exitUsage, "--part is for")
	}
}

func TestExplain(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	q := "w9 w0 nosuch w9 alsonot"
	r := heddle(t, "search", "c.hdl", "--mode", "and", "--query", q, "--explain", "--all")
	if r.code != 0 || r.stdout != "" {
		t.Fatalf("%+v", r)
	}
	for _, part := range []string{
		"query 1: " + q + "\n", "backend ",
		fmt.Sprintf("first    w9: %d documents, ", len(c.want("w9"))), fmt.Sprintf("then     w0: %d documents, bitset", len(c.want("w0"))),
		"unknown  alsonot: in no document\n", "unknown  nosuch: in no document\n", "matches  0 documents in ",
	} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("no %q in\n%s", part, r.stderr)
		}
	}
	if r := heddle(t, "search", "c.hdl", "--mode", "and", "--query", "w9 w0", "--all", "--explain", "--algorithm", "bs"); !strings.Contains(r.stderr, "\n  runs     bs\n") {
		t.Errorf("no algorithm in\n%s", r.stderr)
	}
	must(t, "index", "build", "-o", "gaps.hdl", "--codec", "parapfor", "c.tsv")
	if r := heddle(t, "search", "gaps.hdl", "--mode", "and", "--query", "w29", "--all", "--explain", "--algorithm", "bs"); !strings.Contains(r.stderr, "\n  decoded  1 blocks") {
		t.Errorf("no decoded blocks in\n%s", r.stderr)
	}
	if r := heddle(t, "search", "c.hdl", "--query", "w9", "--all", "--backend", "opencl", "--algorithm", "svs"); r.code == exitFailure || r.code == exitSuccess {
		t.Errorf("an algorithm that no device runs: exit code %d, %s", r.code, r.stderr)
	}
	if strings.Count(r.stderr, "w9: ") != 1 {
		t.Errorf("a term that stands twice is explained twice:\n%s", r.stderr)
	}

	r = heddle(t, "search", "c.hdl", "--mode", "and", "--query", "w9 w0", "--explain", "--format", "jsonl", "--all")
	var o answer.Object
	if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || r.code != 0 || r.stderr != "" {
		t.Fatalf("%v, %+v", err, r)
	}
	want := len(c.want("w9 w0"))
	if o.Explain == nil || len(o.Explain.Lists) != 2 || o.Explain.Lists[0].Term != "w9" || o.Explain.Lists[1].Codec != "bitset" ||
		!strings.Contains(o.Explain.Runs, ": ") || o.Explain.Matches != uint64(want) || len(o.Docs) != want || o.Explain.Micros <= 0 {
		t.Errorf("%+v with %+v, want %d documents", o, o.Explain, want)
	}
	// Explanations do not change answers.
	writeFile(t, "q.txt", lines(someQueries(), ""))
	plain := must(t, "search", "c.hdl", "--queries", "q.txt", "--all", "--format", "tsv")
	if r := heddle(t, "search", "c.hdl", "--queries", "q.txt", "--all", "--format", "tsv", "--explain"); r.stdout != plain {
		t.Error("--explain changes the answers")
	}
}

// TestOddNames checks that a character that would break an output line becomes an escape,
// that JSON keeps it, and that a document without a name is printed by its docID.
func TestOddNames(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", `{"id":"a\tb\nc","text":"x"}`+"\n"+`{"id":"","text":"x"}`+"\n"+`{"id":"<é>","text":"x"}`+"\n")
	must(t, "index", "build", "-o", "d.hdl", "d.jsonl")
	got := strings.Split(must(t, "search", "d.hdl", "--query", "x", "--all"), "\n")
	if len(got) != 4 || got[0] != `a\tb\nc` || got[2] != "<é>" {
		t.Errorf("names %q", got)
	}
	var o answer.Object
	if err := json.Unmarshal([]byte(must(t, "search", "d.hdl", "--query", "x", "--format", "jsonl", "--no-header")), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Docs) != 3 || o.Docs[0] != "a\tb\nc" || o.Docs[2] != "<é>" {
		t.Errorf("names %q", o.Docs)
	}
}

// TestWriteErrors checks that a failure to write is a failure of the command.
func TestWriteErrors(t *testing.T) {
	buildCollection(t)
	writeFile(t, "run.txt", someRun)
	writeFile(t, "qrels.txt", someQrels)
	broken := errors.New("pipe is broken")
	for _, args := range []string{
		"search c.hdl --query w0", "search c.hdl --query w0 --count", "search c.hdl --query w0 --format jsonl", "search c.hdl --query w0 --explain",
		"search c.hdl --query w0 --all", "search c.hdl --query w0 --format trec", "eval run.txt qrels.txt", "eval run.txt qrels.txt --json -q",
		"index info c.hdl", "index info c.hdl --json", "index dump c.hdl", "index dump c.hdl --term w0", "index verify c.hdl",
		"version", "version --json", "config print", "config print --json", "devices --backend host", "devices --backend host --json",
		"index build -o d.hdl c.tsv",
	} {
		t.Run(args, func(t *testing.T) {
			var stderr strings.Builder
			a := &App{Stdin: strings.NewReader(""), Stdout: failingWriter{broken}, Stderr: &stderr, Machine: machine.Machine{Environ: []string{"HEDDLE_DEVICES_BACKEND=host"}}}
			if code := a.Run(t.Context(), strings.Fields(args)); code != exitFailure || !strings.Contains(stderr.String(), broken.Error()) {
				t.Errorf("exit code %d, %q", code, stderr.String())
			}
		})
	}
	a := &App{Stdin: iotest.ErrReader(broken), Stdout: io.Discard, Stderr: os.Stderr, Machine: machine.Machine{Environ: backendEnv()}}
	var stderr strings.Builder
	a.Stderr = &stderr
	if code := a.Run(t.Context(), []string{"search", "c.hdl", "--queries", "-"}); code != exitFailure || !strings.Contains(stderr.String(), broken.Error()) {
		t.Errorf("reading: exit code %d, %q", code, stderr.String())
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestChoice checks that backend auto explains its choice, and that an explicit backend
// has none.
func TestChoice(t *testing.T) {
	buildCollection(t)
	writeFile(t, "q.txt", "w0 w1\nw9\n")
	for _, test := range []struct{ args, want string }{
		{"--query w0^2", "the host should finish first: 1 query should take "},
		{"--query w0 --count", "the host should finish first: 1 query should take "},
		{"--query w0 --mode or --all", "the host should finish first: 1 query should take "},
		{"--syntax boolean --query w0", "the host should finish first: 1 query should take "},
		{"--queries q.txt", "the host should finish first: 2 queries should take "},
		{"--queries -", "queries arrive in a stream of unknown length"},
		{"--query w0 --backend host", ""},
	} {
		r := heddleWith(t, "w0\n", nil, append([]string{"search", "c.hdl", "--explain", "--no-header"}, strings.Fields(test.args)...)...)
		if r.code != 0 || !strings.Contains(r.stderr, test.want) || strings.Contains(r.stderr, "choice") != (test.want != "") {
			t.Errorf("%s: %+v, want %q", test.args, r, test.want)
		}
	}
}
