package export

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/index/build/records"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// index builds an index of texts.
func index(t *testing.T, opt build.Options, name, content string) *hdl.File {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(in, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return rebuild(t, opt, out, in)
}

func rebuild(t *testing.T, opt build.Options, out string, in string) *hdl.File {
	t.Helper()
	if _, err := build.Build(t.Context(), out, []string{in}, opt); err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// content has a line per document and per list.
func content(t *testing.T, f *hdl.File) string {
	t.Helper()
	var b strings.Builder
	for d := range f.Docs() {
		text := ""
		if f.HasDocuments() {
			var err error
			if text, err = records.TextOf(f, d); err != nil {
				t.Fatal(err)
			}
		}
		name, err := f.DocName(d)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q %d %q\n", name, f.DocLen(d), text)
	}
	for i := range f.Terms() {
		h := plan.Handle(i)
		docs, err := f.Source().List(h).AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		freqs, err := f.Freqs(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q %d %d\n", f.Term(h), docs, freqs)
	}
	return b.String()
}

// collection is large enough for lists of every codec.
func collection() string {
	var b strings.Builder
	for d := range 3000 {
		fmt.Fprintf(&b, "doc %d\t", d)
		for w := range 12 {
			fmt.Fprintf(&b, "w%d ", (d*w*w+d/7)%(40*w+1))
		}
		b.WriteString("“é” <b> \\\n")
	}
	b.WriteString("\tno name\nlast\t\n")
	return b.String()
}

// TestRoundTrip builds an index again from each export.
func TestRoundTrip(t *testing.T) {
	texts := build.DefaultOptions()
	texts.Store = hdl.StoreText
	impacts := build.DefaultOptions()
	impacts.Impacts = 8
	lucene := build.DefaultOptions()
	lucene.Lengths = hdl.LengthsLucene
	for name, c := range map[string]struct {
		opt     build.Options
		content string
	}{
		"texts": {build.DefaultOptions(), collection()}, "stored": {texts, collection()}, "impacts": {impacts, collection()},
		"rounded": {lucene, collection()}, "empty": {build.DefaultOptions(), ""}, "one": {build.DefaultOptions(), "a\tx\n"},
	} {
		f := index(t, c.opt, "in.tsv", c.content)
		want := content(t, f)
		for _, format := range Formats() {
			opt := build.DefaultOptions()
			switch {
			case format == JSONL && name == "rounded":
				continue // it has no lengths
			case format == JSONL:
				opt.Store = f.Meta().Store
				opt.Impacts = f.Meta().Impacts.Bits
			}
			base := filepath.Join(t.TempDir(), "x."+string(format))
			if err := Files(t.Context(), f, format, base, false); err != nil {
				t.Fatalf("%s, %s: %v", name, format, err)
			}
			opt.Format = build.Format(format)
			again := content(t, rebuild(t, opt, filepath.Join(t.TempDir(), "y.hdl"), base))
			expected := want
			if format == JSONL && name == "impacts" { // the length is the number of terms
				again, expected = lists(again), lists(want)
			}
			if format != JSONL && name == "stored" {
				expected = content(t, index(t, build.DefaultOptions(), "in.tsv", c.content))
			}
			if again != expected {
				t.Errorf("%s, %s: the index differs:\n%.2000s\nwant\n%.2000s", name, format, again, expected)
			}
			if format != PISA {
				var out bytes.Buffer
				if err := Write(t.Context(), f, format, &out); err != nil {
					t.Error(err)
				}
				if file, err := os.ReadFile(base); err != nil || !bytes.Equal(file, out.Bytes()) {
					t.Errorf("%s, %s: output and file differ, %v", name, format, err)
				}
			}
		}
	}
}

// TestQuantised: an export of impacts gives the impacts back, without a warning.
func TestQuantised(t *testing.T) {
	opt := build.DefaultOptions()
	opt.Impacts = 8
	for name, text := range map[string]string{"in.tsv": collection(), "in.jsonl": `{"id":"a","vector":{"x":200,"y":3}}` + "\n" + `{"id":"b","vector":{"x":1}}`} {
		f := index(t, opt, name, text)
		for _, format := range []Format{CIFF, PISA} {
			base, out := filepath.Join(t.TempDir(), "x."+string(format)), filepath.Join(t.TempDir(), "y.hdl")
			if err := Files(t.Context(), f, format, base, false); err != nil {
				t.Fatal(err)
			}
			again := opt
			again.Format, again.Quantised = build.Format(format), true
			sum, err := build.Build(t.Context(), out, []string{base}, again)
			if err != nil || len(sum.Warnings) > 0 {
				t.Fatalf("%s, %s: %v, %q", name, format, err, sum.Warnings)
			}
			back, err := hdl.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := lists(content(t, back)), lists(content(t, f)); got != want || back.Meta().Impacts.Origin != hdl.ImpactsWeights || back.Meta().Impacts.Scale != 1 {
				t.Errorf("%s, %s: %+v\n%.500s\nwant\n%.500s", name, format, back.Meta().Impacts, got, want)
			}
			if err := back.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	f := index(t, build.DefaultOptions(), "in.tsv", "a\t"+strings.Repeat("x ", 300))
	base := filepath.Join(t.TempDir(), "x.ciff")
	if err := Files(t.Context(), f, CIFF, base, false); err != nil {
		t.Fatal(err)
	}
	opt.Quantised = true
	_, err := build.Build(t.Context(), filepath.Join(t.TempDir(), "y.hdl"), []string{base}, opt)
	if want := `list "x": docID 0 has impact 300; at most 255 are possible`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	opt.Impacts = 0
	if _, err := build.Build(t.Context(), filepath.Join(t.TempDir(), "y.hdl"), []string{base}, opt); err == nil || !strings.Contains(err.Error(), "8 or 16 bits") {
		t.Errorf("without a size: %v", err)
	}
}

// lists drops the lines of documents, which have three parts.
func lists(content string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(content, "\n"), func(line string) bool { return strings.HasSuffix(line, `"`) }), "\n")
}

// TestBatches: the size of a batch of documents changes no byte.
func TestBatches(t *testing.T) {
	f := index(t, build.DefaultOptions(), "in.tsv", collection())
	var want bytes.Buffer
	if err := Write(t.Context(), f, JSONL, &want); err != nil {
		t.Fatal(err)
	}
	for _, batch := range []uint64{1000, 9999} {
		var out bytes.Buffer
		x := &exporter{ctx: t.Context(), f: f, out: nil}
		x.out = append(x.out, bufio.NewWriter(&out))
		if err := errors.Join(x.jsonl(batch), x.out[0].Flush()); err != nil || !bytes.Equal(out.Bytes(), want.Bytes()) {
			t.Errorf("batches of %d: %v, %d bytes of %d", batch, err, out.Len(), want.Len())
		}
	}
}

// TestUnfit exports indexes that a format cannot hold: an error, and no file.
func TestUnfit(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		format  Format
		want    string
	}{
		"line in a name": {`{"id":"a\nb","text":"x"}`, PISA, `the name "a\nb" is no line`},
		"line in a term": {`{"id":"a","vector":{"x\ny":1}}`, PISA, `the term "x\ny" is no line`},
		"empty term":     {`{"id":"a","vector":{"":1}}`, CIFF, "its first term is empty"},
		"great number":   {`{"id":"a","vector":{"x":2147483648}}`, CIFF, `a frequency of "x" is 2147483648, above 2^31-1`},
	} {
		f := index(t, build.DefaultOptions(), "in.jsonl", c.content)
		dir := t.TempDir()
		if err := Files(t.Context(), f, c.format, filepath.Join(dir, "x"), false); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

// TestFiles replaces no file without force, and ends with its context.
func TestFiles(t *testing.T) {
	f := index(t, build.DefaultOptions(), "in.tsv", "a\tx\n")
	base := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(base+".terms", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Files(t.Context(), f, PISA, base, false); err == nil || !strings.Contains(err.Error(), "x.terms: file already exists") {
		t.Errorf("error %v", err)
	}
	if err := Files(t.Context(), f, PISA, base, true); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(base + ".terms"); err != nil || string(got) != "x\n" {
		t.Errorf("terms %q, %v", got, err)
	}
	if err := Files(t.Context(), f, CIFF, os.DevNull, true); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
	if err := Write(t.Context(), f, PISA, &bytes.Buffer{}); err == nil {
		t.Error("pisa in one output")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, format := range Formats() {
		if err := Files(ctx, f, format, filepath.Join(t.TempDir(), "x"), false); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", format, err)
		}
	}
}
