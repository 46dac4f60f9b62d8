package hdl

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
)

var update = flag.Bool("update", false, "rewrite the example in FORMAT.md")

// hexdump prints data like hexdump -C: repeated lines as one asterisk.
func hexdump(data []byte) string {
	var out strings.Builder
	before := ""
	starred := false
	for line := range strings.Lines(hex.Dump(data)) {
		content := line[8:]
		switch {
		case content != before:
			out.WriteString(line)
			starred = false
		case !starred:
			out.WriteString("*\n")
			starred = true
		}
		before = content
	}
	fmt.Fprintf(&out, "%08x\n", len(data))
	return out.String()
}

// TestFormatExample compares the example at the end of FORMAT.md with the file
// that the Writer makes.
func TestFormatExample(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- what follows is checked by TestFormatExample -->\n"
	before, got, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatal("FORMAT.md has lost its example")
	}
	want := "```\n" + hexdump(tiny().image(t)) + "```\n"
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile("FORMAT.md", []byte(before+mark+want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the example in FORMAT.md is not what the Writer makes; if the change is meant, raise Version and run go test -update. Made:\n%s", want)
}

// TestFormatTable compares the sections of FORMAT.md with those of the code.
func TestFormatTable(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, tiny().withTexts().build(t))
	for i, s := range f.Sections() {
		if row := fmt.Sprintf("\n| %d | %s | ", i, s.Name); !strings.Contains(string(text), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
		if s.Offset%PageSize != 0 || s.Length == 0 || s.Offset+s.Length > f.Size() {
			t.Errorf("section %+v in a file of %d bytes", s, f.Size())
		}
	}
}

// TestFormatCodecs sees that the codecs have their rows and that the example shows
// what its text says.
func TestFormatCodecs(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for id := codec.Raw; id <= codec.HSLRC256; id++ {
		if row := fmt.Sprintf("\n| %d | %s | ", id, id); !strings.Contains(string(text), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
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
