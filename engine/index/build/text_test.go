package build

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/build/source"
)

// TestTexts tests the corner cases of each text format by the resulting documents.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		want                []text
	}{
		{"empty text", "a.tsv", "", nil},
		{"blank lines", "a.tsv", "\n\r\n  \n", nil},
		{"no last line end", "a.tsv", "a\tx\nb\ty", []text{{"a", "x"}, {"b", "y"}}},
		{"CR LF", "a.tsv", "a\tx\r\n\r\nb\ty\r\n", []text{{"a", "x"}, {"b", "y"}}},
		{"lone CR", "a.tsv", "a\tx\ry\n", []text{{"a", "x y"}}},
		{"CR alone", "a.tsv", "a\tx\rb\ty\r\rc\tz", []text{{"a", "x"}, {"b", "y"}, {"c", "z"}}},
		{"CR alone in JSON lines", "a.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\r{\"id\":\"b\",\"text\":\"y\"}", []text{{"a", "x"}, {"b", "y"}}},
		{"byte order mark", "a.tsv", "\ufeffa\tx\n", []text{{"a", "x"}}},
		{"no TAB", "a.txt", "x y\n\nz\n", []text{{"1", "x y"}, {"3", "z"}}},
		{"more TABs", "a.tsv", "a\tx\ty\tz\n", []text{{"a", "x y z"}}},
		{"empty document", "a.tsv", "a\t\nb\t \n", []text{{"a", ""}, {"b", ""}}},
		{"empty name", "a.tsv", "\tx\n", []text{{"1", "x"}}},
		{"names twice", "a.tsv", "a\tx\na\ty\n", []text{{"a", "x"}, {"a", "y"}}},
		{"no terms", "a.tsv", "a\t... !\n", []text{{"a", ""}}},
		{"Unicode", "a.tsv", "é\tÖL 漢字 \u2028 x\n", []text{{"é", "öl 漢字 x"}}},
		{"invalid UTF-8", "a.tsv", "\xff\tx\xffy\n", []text{{"\ufffd", "x y"}}},
		{"NUL further on", "a.tsv", "a\tx\x00y\n", []text{{"a", "x y"}}},

		{"empty JSON", "a.jsonl", "", nil},
		{"JSON corners", "a.jsonl", "\ufeff{\"id\":\"a\",\"text\":\"x\"}\r\n\r\n{\"id\":7,\"TEXT\":\"y\"}\n{\"id\":null,\"_id\":\"c\",\"text\":null,\"body\":\"z\"}",
			[]text{{"a", "x"}, {"7", "y"}, {"c", "z"}}},
		{"JSON names in order", "a.jsonl", `{"name":"e","_id":"d","docid":"c","docno":"b","id":"a","text":""}` + "\n" + `{"name":"e","_id":"d","docid":"c","docno":"b","text":""}` + "\n" + `{"name":"e","_id":"d","text":""}`,
			[]text{{"a", ""}, {"b", ""}, {"d", ""}}},
		{"JSON without a name", "a.jsonl", "\n{\"text\":\"x\"}\n", []text{{"2", "x"}}},
		{"JSON with empty names", "a.jsonl", `{"id":"","text":"x"}` + "\n" + `{"id":"","docid":"b","text":"y"}`, []text{{"1", "x"}, {"b", "y"}}},
		{"JSON texts in order", "a.jsonl", `{"body":"e","content":"d","contents":"c","text":"b","title":"a","id":-1.5e3}`, []text{{"-1.5e3", "a b c d e"}}},
		{"JSON escapes", "a.jsonl", `{"id":"\u00e9\"","text":"a\u0000b\ud800c\nd"}`, []text{{"é\"", "a b c d"}}},
		{"JSON by content", "a", " \n{\"text\":\"x\"}\n", []text{{"2", "x"}}},

		{"empty TREC", "a.trec", "", nil},
		{"tags within a line", "a", "<x><DOC>y<DOCNO>1</DOCNO>a<b>c</b>d</DOC>z<DOC><DOCNO>2</DOCNO></DOC>", []text{{"1", "y a c d"}, {"2", ""}}},
		{"lower case, attributes", "a", "<doc id=1>\r\n<docno \n>1</docno >x</doc  >", []text{{"1", "x"}}},
		{"unclosed tags", "a", "<DOC><DOCNO>1</DOCNO><P>a<P>b<UNKNOWN>c</P></DOC>", []text{{"1", "a b c"}}},
		{"less-than signs", "a", "<DOC><DOCNO>1</DOCNO>a < b <3 <<c> d<e </DOC>", []text{{"1", "a b 3 d e"}}},
		{"a tag that another cuts", "a", "<DOC><DOCNO>1</DOCNO>a<b <c>d</DOC>", []text{{"1", "a b d"}}},
		{"comments", "a", "<DOC><DOCNO>1</DOCNO>a<!-- b <c> -->d<!-- e</DOC>", []text{{"1", "a d"}}},
		{"script not closed", "a", "<DOC><DOCNO>1</DOCNO>a<script>b<p>c</DOC>", []text{{"1", "a"}}},
		{"references", "a", "<DOC><DOCNO>1</DOCNO>AT&amp;T &#65;B &#x43; &hyph; x&hyph;y &lt;b&gt; &; &amp &#xzz; R&D</DOC>", []text{{"1", "at t ab c x y b amp r d"}}},
		{"text before the DOCNO", "a", "<DOC>a<DOCNO>1</DOCNO>b</DOC>", []text{{"1", "a b"}}},
		{"names like DOC", "a", "<DOC><DOCNO>1</DOCNO><DOCTYPE>a</DOCTYPE><DOCS>b</DOC>", []text{{"1", "a b"}}},
		{"text behind the last", "a", "<DOC><DOCNO>1</DOCNO>a</DOC> and so on", []text{{"1", "a"}}},
		{"TREC called .txt", "a.txt", "<DOC><DOCNO>1</DOCNO>a</DOC>\n", []text{{"1", "a"}}},
	} {
		opt := DefaultOptions()
		opt.MaxInvalid = 1
		got, err := buildBytes(t, opt, c.file, []byte(c.content))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if want := invert(t, c.want, analyze.Settings{}); got.String() != want.String() {
			t.Errorf("%s: the index is\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// TestLimitOfALine accepts the longest document there may be, and not a byte
// more.
func TestLimitOfALine(t *testing.T) {
	opt := DefaultOptions()
	opt.maxDocument = 3 * source.Buffer
	for _, n := range []int{source.Buffer - 1, source.Buffer, source.Buffer + 1, opt.maxDocument - 1, opt.maxDocument} {
		line := "a\t" + strings.Repeat("xy ", n/3+1)[:n-2]
		got, err := buildBytes(t, opt, "a.tsv", []byte(line+"\nb\tz\n"))
		if n == opt.maxDocument { // the line end counts
			inputError(t, fmt.Sprint(n), err, "a line of more than")
			continue
		}
		if err != nil || len(got.names) != 2 || got.names[1] != "b" || len(got.lists["z"]) != 1 {
			t.Errorf("%d bytes: %v, %s", n, err, got)
		}
	}
}

func TestDetect(t *testing.T) {
	ciff := string(asCIFF(smallCollection(), []string{"one", "two", "weft", "empty"}))
	for _, c := range []struct {
		path, head string
		want       Format
	}{
		{"a", "", Text},
		{"a", "plain text", Text},
		{"-", "name\ttext", Text},
		{"a.TSV.gz", "{\"a\tb", Text},
		{"a.txt", "<DOC>", TREC},
		{"a.txt", "<htm>", Text},
		{"a.txt", "[{x}]", Text},
		{"a", "[1] {x}", Text},
		{"a.tsv", "name\t<html>", Text},
		{"a.html.gz", "<HTML><DOC>", TREC},
		{"a.jsonl", "", JSONL},
		{"a.ndjson.gz", "x", JSONL},
		{"a.ciff.gz", "x", CIFF},
		{"a", ciff, CIFF},
		{"-", ciff, CIFF},
		{"a", ciff[:len(ciff)-1], CIFF},
		{"a", "\ufeff \n{\"id\"", JSONL},
		{"a", "\ufeff\n<?xml?>\n<root>\n<Doc>", TREC},
		{"a", "<html><DOC>", TREC},
		{"a", "<!--x-->", Text},
		{"a", "see <DOC>", Text},
		{"a", "<DOC\tid=5>", TREC},
		{"a", "<DOCS><doctype>", Text},
		{"a", "\x02\x08\x01rest", CIFF},
		{"a", "\x02\x08\x02rest", Text},
	} {
		if got, err := detect(c.path, []byte(c.head)); got != c.want || err != nil {
			t.Errorf("detect(%q, %.20q) = %q, %v; want %q", c.path, c.head, got, err, c.want)
		}
	}
	if _, err := detect("a", []byte("x\x00")); err == nil {
		t.Error("binary data has a format")
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(strings.ToUpper(string(f))); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("csv"); err == nil || !strings.Contains(err.Error(), "jsonl") {
		t.Errorf("ParseFormat(csv): %v", err)
	}
}

// TestSeveralInputs mixes formats; docIDs go on from one input to the next.
func TestSeveralInputs(t *testing.T) {
	docs := manyTexts(200)
	set := analyze.Settings{}
	files := map[string][]byte{
		"1.tsv": asText(docs[:50]), "2.ciff": zip(asCIFF(invert(t, docs[50:90], set), nil)), "4": asTREC(docs[120:121]),
		"5.jsonl": asJSONL(docs[121:150]), "6.tsv": nil, "7": asTREC(docs[150:151]), "8.tsv": asText(docs[151:]),
	}
	c := invert(t, docs[50:90], set)
	var terms []string
	for term := range c.lists {
		terms = append(terms, term)
	}
	files["2.ciff"] = zip(asCIFF(c, terms))
	for suffix, b := range asPISA(invert(t, docs[90:120], set)) {
		files["3"+suffix] = b
	}
	dir := filepath.Dir(save(t, files)[0])
	for _, limit := range []uint64{0, 1} {
		var inputs []string
		for _, name := range []string{"1.tsv", "2.ciff", "3", "4", "5.jsonl", "6.tsv", "7", "8.tsv"} {
			inputs = append(inputs, filepath.Join(dir, name))
		}
		opt := DefaultOptions()
		opt.MemoryLimit = limit
		got, _ := mustBuild(t, opt, inputs...)
		if want := invert(t, docs, set); got.String() != want.String() {
			t.Errorf("limit %d: the index is\n%s\nwant\n%s", limit, got, want)
		}
	}
}
