package build

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
)

// lines makes n documents of text; every bad-th is replaced by other.
func lines(n, bad int, other string) string {
	var b strings.Builder
	for i := range n {
		if i%bad == bad-1 {
			b.WriteString(other)
		} else {
			fmt.Fprintf(&b, "d%d\tsome text\n", i)
		}
	}
	return b.String()
}

// asUTF16 encodes ASCII as UTF-16; control characters except LF and TAB become halves of
// surrogate pairs.
func asUTF16(text string) string {
	b := []byte("\xfe\xff")
	for _, c := range []byte(text) {
		high := byte(0)
		if c < ' ' && c != '\n' && c != '\t' {
			high = 0xd8
		}
		b = append(b, high, c)
	}
	return string(b)
}

// TestInvalid treats invalid documents in each way and counts them.
func TestInvalid(t *testing.T) {
	latin1 := "x\tcaf\xe9 au\n"
	records := strings.Repeat(`{"id":"a","text":"some text"}`+"\n", 199) + `{"id":"b","text":` + "\n"
	for _, c := range []struct {
		name, file, content string
		mode                input.Invalid
		want                InvalidDocuments
		docs                int
		first               string // reason
		place               string
	}{
		{"UTF-8", "a.tsv", lines(400, 200, latin1), input.Replace, InvalidDocuments{Encoding: 2}, 400, "byte 5 of the document is 0xe9", "a.tsv:200: "},
		{"UTF-8", "a.tsv", lines(400, 200, latin1), input.Skip, InvalidDocuments{Encoding: 2, Skipped: 2}, 398, "0xe9", "a.tsv:200: "},
		{"surrogate", "a.tsv", asUTF16(lines(200, 200, "x\tn\x01\n")), input.Replace, InvalidDocuments{Encoding: 1}, 200, "invalid UTF-16: byte 3 of the document is half of a surrogate pair, U+D801", "a.tsv:200: "},
		{"odd end", "a.tsv", asUTF16(lines(200, 200, "x\tn")) + "\x00", input.Skip, InvalidDocuments{Encoding: 1, Skipped: 1}, 199, "ends within a character", "a.tsv:200: "},
		{"no TAB", "a.tsv", lines(400, 200, "no name\n"), input.Replace, InvalidDocuments{Tabs: 2}, 400, "no TAB", "a.tsv:200: "},
		{"no TAB", "a.tsv", lines(400, 200, "no name\n"), input.Skip, InvalidDocuments{Tabs: 2, Skipped: 2}, 398, "no TAB", "a.tsv:200: "},
		{"a TAB", "a.txt", strings.Repeat("plain text\n", 200) + "a\tb\n", input.Replace, InvalidDocuments{Tabs: 1}, 201, "a TAB in", "a.txt:201: "},
		{"JSON", "a.jsonl", records, input.Skip, InvalidDocuments{Records: 1, Skipped: 1}, 199, "cut off", "a.jsonl:200: "},
		{"JSON in Latin-1", "a.jsonl", strings.Repeat(`{"id":"a","text":"some text"}`+"\n", 199) + "{\"text\":\"caf\xe9\"}\n", input.Replace, InvalidDocuments{Encoding: 1}, 200, "0xe9", "a.jsonl:200: "},
		{"surrogate in JSON", "a.jsonl", strings.Repeat(`{"id":"a","text":"some text"}`+"\n", 199) + `{"text":"\ud800 x"}` + "\n", input.Replace, InvalidDocuments{Encoding: 1}, 200, `byte 9 of the document is \ud800`, "a.jsonl:200: "},
		{"surrogate in JSON", "a.jsonl", strings.Repeat(`{"id":"a","text":"\ud834\udd1e"}`+"\n", 199) + `{"text":"\udd1e\ud834"}` + "\n", input.Skip, InvalidDocuments{Encoding: 1, Skipped: 1}, 199, "surrogate pair", "a.jsonl:200: "},
		{"TREC", "a.trec", strings.Repeat("<DOC><DOCNO>1</DOCNO>x</DOC>", 200) + "<DOC>no number</DOC>", input.Skip, InvalidDocuments{Records: 1, Skipped: 1}, 200, "without a <DOCNO>", "a.trec: byte 5600: "},
		{"vector", "a.jsonl", strings.Repeat(`{"vector":{"a":1}}`+"\n", 150) + `{"vector":{"b":1,"c":-1}}` + "\n" + strings.Repeat(`{"vector":{"b":2}}`+"\n", 50), input.Skip, InvalidDocuments{Records: 1, Skipped: 1}, 200, "weights are positive", "a.jsonl:151: "},
	} {
		name := fmt.Sprintf("%s, %s", c.name, c.mode)
		opt := DefaultOptions()
		opt.Invalid, opt.MemoryLimit = c.mode, 1 // several chunks
		got, sum := mustBuild(t, opt, save(t, map[string][]byte{c.file: []byte(c.content)})...)
		first := sum.Invalid.First
		sum.Invalid.First = nil
		if sum.Invalid != c.want || len(got.names) != c.docs {
			t.Errorf("%s: %+v, %d documents; want %+v, %d", name, sum.Invalid, len(got.names), c.want, c.docs)
		}
		if first == nil || !strings.Contains(first.Reason, c.first) || !strings.Contains(first.Error(), c.place) {
			t.Errorf("%s: first %v, want %s %s", name, first, c.place, c.first)
		}
		for term, l := range got.lists {
			if len(l) == 0 {
				t.Errorf("%s: the list of %q is empty", name, term)
			}
		}
		opt.Invalid = input.Fail
		_, err := buildBytes(t, opt, c.file, []byte(c.content))
		if inputError(t, name, err, c.first); !strings.Contains(err.Error(), c.place) {
			t.Errorf("%s: error %v, want %s", name, err, c.place)
		}
		opt.Invalid, opt.MaxInvalid = c.mode, 1e-4
		_, err = buildBytes(t, opt, c.file, []byte(c.content))
		inputError(t, name, err, "the limit is 0.01 %")
	}
	if _, err := buildBytes(t, Options{Invalid: "ignore"}, "a.tsv", nil); err == nil || !strings.Contains(err.Error(), "unknown treatment") {
		t.Errorf("error %v", err)
	}
}

// TestSkippedWeights: a skipped vector has no influence on the scale of impacts.
func TestSkippedWeights(t *testing.T) {
	opt := DefaultOptions()
	opt.Impacts, opt.Invalid, opt.MaxInvalid = 8, input.Skip, 1
	good, bad := `{"vector":{"a":2}}`+"\n", `{"vector":{"a":0.5,"b":-1}}`+"\n"
	got, err := buildBytes(t, opt, "a.jsonl", []byte(good+bad+good))
	if want := "document 0 \"1\" length 1\ndocument 1 \"3\" length 1\nlist \"a\" 0:2 1:2\n"; err != nil || got.String() != want {
		t.Errorf("%v, index\n%s\nwant\n%s", err, got, want)
	}
}

// TestEncodings builds the same index from every encoding and compression of a
// collection, and refuses Latin-1.
func TestEncodings(t *testing.T) {
	content := asText([]text{{"a", "café 漢字"}, {"b", "naïve café"}, {"c", "été"}})
	want := invert(t, []text{{"a", "café 漢字"}, {"b", "naïve café"}, {"c", "été"}}, analyze.Settings{}).String()
	for _, program := range [][]string{
		{"cat"}, {"gzip"}, {"bzip2"}, {"zstd", "-q"}, {"iconv", "-f", "UTF-8", "-t", "UTF-16"},
		{"sh", "-c", `printf '\377\376'; iconv -f UTF-8 -t UTF-16LE`}, {"sh", "-c", "iconv -f UTF-8 -t UTF-16 | zstd -q"},
	} {
		if _, err := exec.LookPath(program[0]); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(program[0], program[1:]...)
		run.Stdin = bytes.NewReader(content)
		encoded, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "a.tsv", "a.tsv.x"} {
			got, err := buildBytes(t, DefaultOptions(), name, encoded)
			if err != nil || got.String() != want {
				t.Errorf("%v, %s: %v, index\n%s\nwant\n%s", program, name, err, got, want)
			}
		}
	}
	latin1, err := charmap.ISO8859_1.NewEncoder().Bytes(asText([]text{{"a", "café"}, {"b", "naïve café"}, {"c", "été"}}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = buildBytes(t, DefaultOptions(), "a.tsv", latin1)
	inputError(t, "Latin-1", err, "3 of 3 documents are invalid (3 with an invalid encoding), the limit is 1 %; convert the input to UTF-8")
}

// TestForeign refuses inputs of other programs, and names their format.
func TestForeign(t *testing.T) {
	for name, c := range map[string]struct{ content, reason string }{
		"a.tsv":     {"%PDF-1.4\n", "a PDF document"},
		"a.jsonl":   {"PK\x03\x04", "a ZIP archive"},
		"a.csv":     {"id,text\n1,x\n", "CSV"},
		"b.csv.gz":  {"", "CSV"},
		"a":         {"id,text\n1,\"x, y\"\n2,z\n", "CSV"},
		"a.txt":     {"id,text\n1,\"x, y\"\n2,z\n", "CSV"},
		"a.parquet": {"PAR1\x15\x04", "a Parquet file"},
		"b.txt":     {"a\x00\n\x00", "UTF-16 without a byte order mark"},
	} {
		_, err := buildBytes(t, DefaultOptions(), name, []byte(c.content))
		inputError(t, name, err, c.reason)
	}
	opt := DefaultOptions()
	opt.Format = Text
	if _, err := buildBytes(t, opt, "a.csv", []byte("id,text\n1,x\n")); err != nil {
		t.Errorf("CSV as text: %v", err)
	}
	for _, content := range []string{"red, blue\ngreen, grey\nloom, warp\n", "Yes,no\nmaybe\nyes,no\n", "a,b\nc,d\n"} {
		if _, err := buildBytes(t, DefaultOptions(), "a.txt", []byte(content)); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestUnnamed counts the documents that have no name of their own.
func TestUnnamed(t *testing.T) {
	_, sum := mustBuild(t, DefaultOptions(), save(t, map[string][]byte{"a.txt": []byte("x\ny\n"), "b.tsv": []byte("a\tx\n\ty\n"), "c.jsonl": []byte(`{"text":"x"}` + "\n" + `{"id":"","text":"x"}`)})...)
	if sum.Unnamed != 5 || sum.Invalid.Count() != 0 {
		t.Errorf("%d unnamed, %+v", sum.Unnamed, sum.Invalid)
	}
}
