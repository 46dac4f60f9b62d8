package build

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/source"
)

// fuzzOptions reads standard input in small chunks and spills often.
func fuzzOptions(content []byte, f Format) Options {
	return Options{Format: f, Stdin: bytes.NewReader(content), MemoryLimit: 1, Workers: 2, maxDocument: 1 << 16}.complete("")
}

// readOnly runs the readers on inputs, without writing an index, and checks the calls of
// the builder: lists strictly ascending, docIDs in range, frequencies above 0. Every
// error must concern the content.
func readOnly(t *testing.T, opt Options, inputs ...string) (c collection, err error) {
	t.Helper()
	ctx := context.Background()
	analyzer, err := analyze.New(analyze.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBuilder(ctx, "", 1, opt.stores())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	b.tick = func(bool) {}
	files := &source.Opener{Opener: input.Opener{Ctx: ctx, Stdin: opt.Stdin}, MaxDocument: opt.maxDocument}
	if err := readInputs(b, files, nil, inputs, &opt, analyzer); err != nil {
		if !errors.Is(err, input.ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
		return c, err
	}
	runs, err := b.cursors(1)
	if err != nil {
		t.Fatal(err)
	}
	c.lists = map[string][]posting{}
	err = gather.Merge(ctx, runs, 2, false, func(m *gather.Merged) error {
		l := []posting{}
		for i, d := range m.Docs {
			if uint64(d) >= b.docs || m.Freqs[i] == 0 || i > 0 && d <= m.Docs[i-1] {
				t.Fatalf("list %q: posting %d is %d:%d of %d documents", m.Term, i, d, m.Freqs[i], b.docs)
			}
			l = append(l, posting{d, m.Freqs[i]})
		}
		c.lists[m.Term] = l
		return nil
	})
	if err != nil && !errors.Is(err, input.ErrCorrupt) {
		t.Fatalf("error %v", err)
	}
	c.names = make([]string, b.docs)
	return c, err
}

func fuzzText(f *testing.F, format Format, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add(zip([]byte(s)))
	}
	golden, err := os.ReadFile(filepath.Join("testdata", map[Format]string{
		Text: "loom.tsv", JSONL: "loom.jsonl", TREC: "loom.trec", CIFF: "loom.ciff", Auto: "loom.tsv",
	}[format]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _ = readOnly(t, fuzzOptions(content, format), "-")
		skip := fuzzOptions(content, format)
		skip.Invalid = input.Skip
		_, _ = readOnly(t, skip, "-")
	})
}

func FuzzText(f *testing.F) { fuzzText(f, Text, "a\tb\r\n\nc", "\ufeff\t\t\xff\n") }

func FuzzJSONL(f *testing.F) {
	fuzzText(f, JSONL, `{"id":1,"text":"a"}`, `{"_id":null,"body":"\ud800"}`+"\n[]", `{"id":{},"text":""}`)
}

func FuzzTREC(f *testing.F) {
	fuzzText(f, TREC, "<DOC><DOCNO>1</DOCNO>a<b</DOC>", "<doc ><docno>1</docno><!--<script></doc>", "<DOC><DOCNO>1</DOCNO>&amp;&#x41;&x;</DOC><DOC>")
}

func FuzzAuto(f *testing.F) { fuzzText(f, Auto, "<DOC>", "{\"", "\x02\x08\x01", "\x1f\x8b\x08") }

func FuzzCIFF(f *testing.F) {
	c := smallCollection()
	fuzzText(f, CIFF, string(asCIFF(c, []string{"one", "two", "weft", "empty"})), "\x02\x08\x01")
}
