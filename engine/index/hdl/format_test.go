package hdl

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/file/container/containertest"
	"heddle/engine/index/analyze"
)

var update = flag.Bool("update", false, "rewrite the examples in FORMAT.md")

// second is the second index of FORMAT.md: with impacts and stored texts.
func second() *sample {
	s := &sample{
		meta: Meta{
			Docs: 2, Creator: "heddle", Format: "jsonl", Codec: "auto", ExceptionRatio: 0.1, Store: StoreText,
			Analysis: analyze.Settings{Tokens: analyze.TokensSpaces, Stemmer: analyze.StemNone},
			Impacts:  Impacts{Bits: 8, Origin: ImpactsWeights, Scale: 0.015625},
		},
		names: []string{"a", "b"}, lens: []uint32{2, 1}, texts: []string{"warp & weft", "reed"},
	}
	s.terms = []string{"##ft", "we"}
	s.docs, s.freqs = [][]uint32{{0}, {0, 1}}, [][]uint32{{255}, {64, 1}}
	return s
}

// TestFormatExample compares the examples at the end of FORMAT.md with the files
// that the Writer makes.
func TestFormatExample(t *testing.T) {
	containertest.Examples(t, *update, tiny().image(t), second().image(t))
}

// TestFormatTable compares the sections of FORMAT.md with the sections of the code.
func TestFormatTable(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, tiny().withTexts().build(t))
	sections := f.Sections()
	if len(sections) != int(numSections)-5 { // without section 5 and positions
		t.Errorf("%d sections", len(sections))
	}
	for _, s := range sections {
		i := slices.Index(sectionNames[:], s.Name)
		if row := fmt.Sprintf("\n| %d | %s | ", i, s.Name); !strings.Contains(string(text), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
		if s.Offset%PageSize != 0 || s.Length == 0 || s.Offset+s.Length > f.Size() {
			t.Errorf("section %+v in a file of %d bytes", s, f.Size())
		}
	}
}

// TestFormatCodecs compares the table of codecs in FORMAT.md with package codec, and
// the codecs of the example with its text.
func TestFormatCodecs(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- codecs -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(text), begin)
	written, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("FORMAT.md has lost its table of codecs")
	}
	made := "| no. | codec | contents | source |\n|---|---|---|---|\n"
	for _, id := range codec.IDs() {
		d := id.Describe()
		made += fmt.Sprintf("| %d | %s | %s | %s |\n", id, d.Name, d.Stores, d.Source)
	}
	switch {
	case *update:
		if err := os.WriteFile("FORMAT.md", []byte(before+begin+made+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	case written != made:
		t.Errorf("the table of codecs in FORMAT.md differs from package codec; run go test -run FormatCodecs -update. Made:\n%s", made)
	}
	f := mustOpen(t, tiny().build(t))
	var got []codec.ID
	for _, l := range f.Source().Lists {
		got = append(got, l.Codec)
	}
	if want := []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}; !slices.Equal(got, want) {
		t.Errorf("the lists of the example are %v, want %v", got, want)
	}
}
