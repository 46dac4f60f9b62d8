package build

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/hdl"
	"heddle/engine/plan/testneeds"
)

var rewrite = flag.Bool("rewrite", false, "write the binary files and the golden index of testdata again")

// TestGolden builds the same small collection from every format that testdata has
// it in, plain and gzipped, and compares with the one golden index.
func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "loom.golden")
	if *rewrite {
		rewriteTestdata(t, golden)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"loom.tsv", "loom.jsonl", "loom.trec", "loom", "loom.docs", "loom.ciff"} {
		path := filepath.Join("testdata", input)
		got, sum := mustBuild(t, DefaultOptions(), path)
		if got.String() != string(want) {
			t.Errorf("%s: the index is\n%s\nwant\n%s", input, got, want)
		}
		if len(sum.Warnings) > 0 {
			t.Errorf("%s: warnings %q", input, sum.Warnings)
		}
		zipped := gzipped(t, path)
		if got, _ := mustBuild(t, DefaultOptions(), zipped); got.String() != string(want) {
			t.Errorf("%s, gzipped: the index is\n%s\nwant\n%s", input, got, want)
		}
	}
}

// gzipped makes gzipped copies of an input's files, and gives the input's name.
func gzipped(t *testing.T, path string) string {
	t.Helper()
	files := map[string][]byte{}
	paths := inverted.Files(path)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)+".gz"] = zip(b)
	}
	dir := filepath.Dir(save(t, files)[0])
	if len(paths) > 1 {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Join(dir, filepath.Base(path)+".gz")
}

func rewriteTestdata(t *testing.T, golden string) {
	t.Helper()
	c, _ := mustBuild(t, DefaultOptions(), filepath.Join("testdata", "loom.tsv"))
	terms := slices.Sorted(maps.Keys(c.lists))
	slices.Reverse(terms) // CIFF does not ask for any order
	files := map[string][]byte{"testdata/loom.ciff": asCIFF(c, terms), golden: []byte(c.String())}
	for suffix, b := range asPISA(c) {
		files["testdata/loom"+suffix] = b
	}
	for path, b := range files {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var words = []string{"warp", "weft", "Heddle", "loom", "SHUTTLE", "reed", "don't", "3.14", "tréadle", "漢", "a_b", "x"}

func drawTexts(t *rapid.T) []text {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) text {
		return text{
			name: rapid.StringMatching(`[a-zA-Z0-9:._-]{1,12}`).Draw(t, "name"),
			text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), " "),
		}
	}), 0, 60).Draw(t, "documents")
}

// TestEveryFormatGivesTheSameIndex compares builds of drawn collections with the
// oracle, under drawn limits, workers and splits into several inputs.
func TestEveryFormatGivesTheSameIndex(t *testing.T) {
	testneeds.Long(t)
	rapid.Check(t, func(r *rapid.T) {
		docs := drawTexts(r)
		opt := DefaultOptions()
		opt.MemoryLimit = rapid.SampledFrom([]uint64{1, 0}).Draw(r, "limit")
		opt.Workers = rapid.IntRange(1, 3).Draw(r, "workers")
		opt.Stem = rapid.SampledFrom([]string{"", analyze.StemEnglish}).Draw(r, "stemmer")
		opt.StopWords = rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(r, "stop words")
		set := analyze.Settings{Stemmer: opt.Stem, StopWords: opt.StopWords}

		cut := rapid.IntRange(0, len(docs)).Draw(r, "cut")
		var inputs []string
		for i, part := range [][]text{docs[:cut], docs[cut:]} {
			content, name := asText(part), "text.tsv"
			switch format := rapid.SampledFrom([]Format{Text, JSONL, TREC, CIFF, PISA}).Draw(r, "format"); format {
			case JSONL:
				content, name = asJSONL(part), "text.jsonl"
			case TREC:
				if len(part) > 0 {
					content, name = asTREC(part), "text"
				}
			case CIFF:
				c := invert(t, part, set)
				content, name = asCIFF(c, rapid.Permutation(slices.Sorted(maps.Keys(c.lists))).Draw(r, "order")), "text.ciff"
			case PISA:
				files := map[string][]byte{}
				c := invert(t, part, set)
				for suffix, b := range asPISAOf(c, rapid.Permutation(slices.Sorted(maps.Keys(c.lists))).Draw(r, "order")) {
					files["base"+suffix] = b
				}
				inputs = append(inputs, filepath.Join(filepath.Dir(save(t, files)[0]), "base"))
				continue
			}
			if rapid.Bool().Draw(r, "gzipped") {
				content = zip(content)
			}
			inputs = append(inputs, save(t, map[string][]byte{fmt.Sprint(i, name): content})...)
		}
		got, sum := mustBuild(t, opt, inputs...)
		want := invert(t, docs, set)
		if got.String() != want.String() {
			r.Fatalf("the index is\n%s\nwant\n%s", got, want)
		}
		if sum.Documents != uint64(len(docs)) || sum.Terms != uint64(len(want.lists)) || sum.Tokens != want.tokens() || len(sum.Warnings) > 0 {
			r.Fatalf("summary %+v", sum)
		}
	})
}

// manyTexts is n texts of 20 words, with frequent, rare and unique words.
func manyTexts(n int) []text {
	docs := make([]text, n)
	state := uint64(1)
	for i := range docs {
		var b strings.Builder
		for j := range 20 {
			state = state*6364136223846793005 + 1442695040888963407
			fmt.Fprintf(&b, "w%d ", (state>>33)%(1<<uint(j%14)))
		}
		docs[i] = text{fmt.Sprintf("d%d", i), b.String()}
	}
	return docs
}

// TestSpilledBuildIsTheSame compares files byte for byte: many runs or none, one
// worker or several, text or inverted.
func TestSpilledBuildIsTheSame(t *testing.T) {
	texts := 3000
	if testing.Short() {
		texts = 600
	}
	docs := manyTexts(texts)
	c := invert(t, docs, analyze.Settings{})
	files := map[string][]byte{"docs.tsv": asText(docs), "docs.ciff": asCIFF(c, slices.Collect(maps.Keys(c.lists)))}
	for suffix, b := range asPISA(c) {
		files["docs"+suffix] = b
	}
	for suffix, b := range asPISAOf(c, descending(c)) {
		files["down"+suffix] = b
	}
	dir := filepath.Dir(save(t, files)[0])
	for _, input := range []string{"docs.tsv", "docs.ciff", "down", "docs"} {
		var first []byte
		for _, limit := range []uint64{0, 1, 1 << 20} {
			for _, workers := range []int{1, 3} {
				opt := DefaultOptions()
				opt.MemoryLimit, opt.Workers = limit, workers
				out, sum, err := buildAt(t, opt, filepath.Join(dir, input))
				if err != nil {
					t.Fatal(err)
				}
				// Ascending lists need no runs.
				if spilt := sum.Runs > 10; spilt != (limit == 1 && input != "docs") || input == "docs" && sum.Runs > 0 {
					t.Errorf("%s: %d runs with a limit of %d", input, sum.Runs, limit)
				}
				got, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
					if c := load(t, out).String(); c != invert(t, docs, analyze.Settings{}).String() {
						t.Errorf("%s: not the index of its documents", input)
					}
				}
				if !bytes.Equal(got, first) {
					t.Errorf("%s: a build with limit %d and %d workers differs", input, limit, workers)
				}
				if sum.FileBytes != int64(len(got)) {
					t.Errorf("%s: summary has %d bytes, the file %d", input, sum.FileBytes, len(got))
				}
			}
		}
	}
}

// TestListLongerThanTheLimit spills in the middle of a list.
func TestListLongerThanTheLimit(t *testing.T) {
	c := collection{lists: map[string][]posting{}}
	for d := range uint32(20000) {
		c.names, c.lengths = append(c.names, fmt.Sprint(d)), append(c.lengths, d+1)
		c.lists["long"] = append(c.lists["long"], posting{d, d + 1})
		if d%2 == 0 {
			c.lists["half"] = append(c.lists["half"], posting{d, 1})
		}
	}
	opt := DefaultOptions()
	opt.MemoryLimit = 1
	files := map[string][]byte{"x.ciff": asCIFF(c, []string{"long", "half"})}
	for suffix, b := range asPISAOf(c, descending(c)) {
		files["x"+suffix] = b
	}
	dir := filepath.Dir(save(t, files)[0])
	for _, input := range []string{"x.ciff", "x.docs"} {
		got, sum := mustBuild(t, opt, filepath.Join(dir, input))
		if sum.Runs < 5 {
			t.Errorf("%s: %d runs", input, sum.Runs)
		}
		if got.String() != c.String() {
			t.Errorf("%s: a wrong index", input)
		}
	}
}

func TestMeta(t *testing.T) {
	opt := Options{
		Codec: "raw", Dense: "never", ExceptionRatio: 0.25, Creator: "test 1",
		Stem: "English", StopWords: []string{"The", "a", "the"},
	}
	inputs := save(t, map[string][]byte{"a.tsv": []byte("x\tThe loom\n"), "b.jsonl": []byte(`{"id":"y","text":"a weft"}`)})
	out, _, err := buildAt(t, opt, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := hdl.Meta{
		Docs: 2, Creator: "test 1", Format: "jsonl+text", Codec: "raw", Dense: "never", ExceptionRatio: 0.25,
		Analysis: analyze.Settings{Rules: analyze.Rules, CJK: analyze.CJKBigrams, Stemmer: "english", StopWords: []string{"a", "the"}},
		Terms:    2, Postings: 2, Tokens: 2, Length: 2, WithTerms: 2,
	}
	if got := f.Meta(); !reflect.DeepEqual(got, want) {
		t.Errorf("meta %+v, want %+v", got, want)
	}
	for _, l := range f.Source().Lists {
		if l.Codec != codec.Raw {
			t.Errorf("a list in codec %s", l.Codec)
		}
	}
}

// TestLevels: the name of RPFD may have a number of levels, and the lists of the file have that.
func TestLevels(t *testing.T) {
	c, docs := collection{lists: map[string][]posting{}}, []uint32{}
	for d, next := uint32(0), uint32(0); d < 20000; d++ {
		c.names, c.lengths = append(c.names, fmt.Sprint(d)), append(c.lengths, 1)
		if d == next {
			docs, next = append(docs, d), d+1+d%3+64*(d%13/12)*(d%7)
			c.lists["gaps"] = append(c.lists["gaps"], posting{d, 1})
		}
	}
	input := save(t, map[string][]byte{"x.ciff": asCIFF(c, []string{"gaps"})})
	for level := range codec.MaxRPFDLevels + 1 {
		set := DefaultOptions()
		set.Codec, set.Dense = fmt.Sprint("rpfd", level), "never"
		out, _, err := buildAt(t, set, input...)
		if err != nil {
			t.Fatal(err)
		}
		f, err := hdl.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opt := codec.DefaultOptions()
		opt.RPFDLevels = level
		want, err := codec.Append(nil, codec.RPFD, docs, opt)
		if err != nil {
			t.Fatal(err)
		}
		l := f.Source().List(0)
		if l.Codec != codec.RPFD || !slices.Equal(l.Words[:len(want)], want) {
			t.Errorf("%d levels: the list has codec %v and other words than the encoder", level, l.Codec)
		}
	}
}

func TestDefaultOptions(t *testing.T) {
	o := DefaultOptions()
	if o.ExceptionRatio != codec.DefaultOptions().ExceptionRatio || o.MemoryLimit != DefaultMemoryLimit || o.Format != Auto || o.Workers < 1 {
		t.Errorf("defaults %+v", o)
	}
	for _, limit := range []uint64{1, 64 << 10, 16 << 20, 1 << 30, 1 << 40} {
		for _, workers := range []int{1, 2, 64, 512} {
			o.MemoryLimit, o.Workers = limit, workers
			size, number, index := o.chunkLimits()
			if size < 4<<10 || size > 1<<20 || number <= workers || index < limit/2 || index > limit {
				t.Errorf("limit %d, %d workers: %d chunks of %d bytes, index %d", limit, workers, number, size, index)
			}
			if limit >= 1<<30 && index+uint64(4*size*number) > limit+uint64(number)<<14 {
				t.Errorf("limit %d, %d workers: %d chunks of %d bytes and an index of %d", limit, workers, number, size, index)
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	path := save(t, map[string][]byte{"a.tsv": []byte("a\tb\n")})[0]
	bad := func(name string, change func(*Options)) {
		t.Helper()
		opt := DefaultOptions()
		change(&opt)
		if _, _, err := buildAt(t, opt, path); err == nil || errors.Is(err, input.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	bad("format", func(o *Options) { o.Format = "csv" })
	bad("codec", func(o *Options) { o.Codec = "gzip" })
	bad("ratio", func(o *Options) { o.ExceptionRatio = 0.7 })
	bad("dense", func(o *Options) { o.Dense = "sometimes" })
	bad("stemmer", func(o *Options) { o.Stem = "latin" })
	bad("temporary folder", func(o *Options) { o.TempDir = filepath.Join(path, "none") })
	bad("pisa from standard input", func(o *Options) { o.Format = PISA; path = "-" })
	if _, _, err := buildAt(t, DefaultOptions()); err == nil {
		t.Error("no input: no error")
	}
	_, _, err := buildAt(t, DefaultOptions(), filepath.Join(t.TempDir(), "missing"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing input: %v", err)
	}
	if _, _, err := buildAt(t, DefaultOptions(), t.TempDir()); err == nil || errors.Is(err, input.ErrCorrupt) {
		t.Errorf("a folder as input: %v", err)
	}
	if _, err := Build(context.Background(), t.TempDir(), []string{path}, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder as output: %v", err)
	}
	// A socket stands for every target that is no file. Renaming an index to its path
	// would replace it, and a device as well.
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Build(context.Background(), socket, []string{path}, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a socket as output: %v", err)
	}
	if st, err := os.Stat(socket); err != nil || st.Mode().Type() != fs.ModeSocket {
		t.Errorf("the socket after it: %v, %v", st, err)
	}
	if _, err := Build(context.Background(), filepath.Join(t.TempDir(), "none", "x.hdl"), []string{path}, DefaultOptions()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing output folder: %v", err)
	}
}

// TestBuildSparesItsInputs gives an input as the output, under another name too.
func TestBuildSparesItsInputs(t *testing.T) {
	path := save(t, map[string][]byte{"a.tsv": []byte("a\tb\n")})[0]
	other := filepath.Join(t.TempDir(), "b")
	testneeds.Link(t, path, other)
	for _, out := range []string{path, other} {
		if _, err := Build(context.Background(), out, []string{path}, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "is an input") {
			t.Errorf("%s: %v", out, err)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "a\tb\n" {
		t.Errorf("the input is %q now, %v", text, err)
	}
}

// TestFailedBuildLeavesTheOldFile replaces an index by success only.
func TestFailedBuildLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.hdl")
	inputs := save(t, map[string][]byte{"a.tsv": []byte("a\tb\n"), "b.jsonl": []byte("{}\n"), "c.tsv": []byte("c\td e\n")})
	if _, err := Build(context.Background(), out, inputs[:1], DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(out)
	if _, err := Build(context.Background(), out, inputs, DefaultOptions()); !errors.Is(err, input.ErrCorrupt) {
		t.Fatalf("error %v", err)
	}
	if after, _ := os.ReadFile(out); !bytes.Equal(before, after) || len(after) == 0 {
		t.Error("a failed build changed the file")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"x.hdl"}) {
		t.Errorf("left behind: %q", got)
	}
	if _, err := Build(context.Background(), out, inputs[2:], DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	if c := load(t, out); len(c.lists) != 2 {
		t.Errorf("the file was not replaced: %s", c)
	}
}

func TestProgress(t *testing.T) {
	inputs := save(t, map[string][]byte{"a.tsv": asText(manyTexts(100)), "b.tsv.gz": zip(asText(manyTexts(50)))})
	total := input.Size(inputs[0]) + input.Size(inputs[1])
	opt := DefaultOptions()
	var calls int
	var done, all int64
	var docs uint64
	opt.Progress = func(d, a int64, n uint64) {
		if d < done || n < docs {
			t.Errorf("progress went back from %d bytes, %d documents to %d, %d", done, docs, d, n)
		}
		calls, done, all, docs = calls+1, d, a, n
	}
	_, sum := mustBuild(t, opt, inputs...)
	if calls < 1 || done != total || all != total || docs != 150 || sum.ReadBytes != total {
		t.Errorf("%d calls, the last with %d of %d bytes and %d documents; %d bytes in all", calls, done, all, docs, total)
	}
}

// BenchmarkBuild builds from texts, analysis and writing included.
func BenchmarkBuild(b *testing.B) {
	content := asText(manyTexts(50000))
	inputs := save(b, map[string][]byte{"a.tsv": content})
	out := filepath.Join(b.TempDir(), "x.hdl")
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := Build(context.Background(), out, inputs, DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
}
