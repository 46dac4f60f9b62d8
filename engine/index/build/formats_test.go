package build

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/hdl"
)

// TestFieldFormats: documents with fields give the same index as JSON lines, as columns with a header and without, and
// as elements of TREC.
func TestFieldFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 3))
	words := strings.Fields("loom weft warp red 織物 ткань")
	var lines, header, plain, trec strings.Builder
	header.WriteString("Body\tyear\tkey\ttitle\n")
	for i := range 300 {
		var parts [2]string
		for f := range parts {
			var text []string
			for range r.IntN(6) {
				text = append(text, words[r.IntN(len(words))])
			}
			parts[f] = strings.Join(text, " ")
		}
		name := fmt.Sprint("d", i)
		line, err := json.Marshal(map[string]string{"id": name, "title": parts[0], "body": parts[1]})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
		fmt.Fprintf(&header, "%s\t1999\t%s\t%s\n", parts[1], name, parts[0])
		fmt.Fprintf(&plain, "%s\t%s\t%s\n", name, parts[0], parts[1])
		fmt.Fprintf(&trec, "<DOC>noise<DOCNO>%s</DOCNO><BODY>%s<Title><b>%s</b></TITLE></Body>red</DOC>\n", name, parts[1], parts[0])
	}
	var want string
	for _, input := range []struct{ name, id, text string }{
		{"a.jsonl", "", lines.String()}, {"header.tsv", "key", header.String()}, {"plain.tsv", "", plain.String()}, {"a.trec", "", trec.String()},
	} {
		opt := DefaultOptions()
		opt.Fields, opt.Positions, opt.ID = []string{"title", "body"}, true, input.id
		path, _, err := buildAt(t, opt, save(t, map[string][]byte{input.name: []byte(input.text)})...)
		if err != nil {
			t.Fatal(err)
		}
		got := describe(t, path)
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, "body:") {
			t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", input.name, got, want)
		}
	}
}

// describe is all documents, lengths, lists and positions of an index with fields.
func describe(t *testing.T, path string) string {
	t.Helper()
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := load(t, path).String() + fmt.Sprint(positionsOf(t, f))
	for _, field := range f.Source().Fields {
		all += fmt.Sprint("\n", field)
	}
	return all
}

// TestColumns reads columns: with a header, whose columns may be few, and without.
func TestColumns(t *testing.T) {
	for _, test := range []struct{ id, text, want string }{
		{"", "a\tred\tblue\tgreen\nb\tloom\nc\t\tweft", "a 1+2, b 1+0, c 0+1"},
		{"", "red loom\nblue", "1 2+0, 2 1+0"},
		{"", "\tred\tblue", "1 1+1"},
		{"", "\n\nid\tTitle\tbody \na\tred\tblue green\textra\nb", "a 1+2, b 0+0"},
		{"", "title\tid\tbody\nred\ta\tblue", "a 1+1"},
		{"", "body\ttitle\nred loom\tblue\n", "2 1+2"},
		{"n", "id\ttitle\tbody\tn\nx\tred\tblue\ta\nx\tred", "a 1+1, 3 1+0"},
		{"n", "a\tred\tblue", "a 1+1"},
		{"n", "id\ttitle\tbody\nx\tred\tblue", "no column n"},
		{"", "title\tTitle\tid\tbody\nred\tloom\ta\tblue", "column Title twice"},
		{"id", "id\ttitle\tbody\tid\na\tred\tblue\tb", "column id twice"},
		{"", "id\ttitle\tbody\t\t\na\tred\tblue\tb\tc", "a 1+1"},
		{"", "title\tbodi\nred\tblue", "title 1+0, red 1+0"},
	} {
		opt := DefaultOptions()
		opt.Fields, opt.ID, opt.MaxInvalid = []string{"title", "body"}, test.id, 1
		path, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.tsv": []byte(test.text)})...)
		got := lengthsOf(t, path, err)
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}

// lengthsOf is the names of documents with their lengths in title and body, or an error.
func lengthsOf(t *testing.T, path string, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []string
	fields := f.Source().Fields
	slices.Reverse(fields) // title, body
	for d := range f.Docs() {
		name, err := f.DocName(d)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d+%d", name, fields[0].Lengths[d], fields[1].Lengths[d]))
	}
	return strings.Join(all, ", ")
}

// TestElements reads elements that are not closed, inside one another and repeated.
func TestElements(t *testing.T) {
	for text, want := range map[string]string{
		"<TITLE>a b</TITLE> c <BODY>d</BODY> e":                             "1 2+1",
		"<title>a<body>b<title>c</title>d</title>e</body>f<title>g</title>": "1 3+1",
		"<title>a<body>b</title>c":                                          "1 1+1",
		"<body>a<title>b</body>c<title>d":                                   "1 2+1",
		"<body>a<body>b</body>c":                                            "1 0+2",
		"<body>a<script>b<title></script>c</body>&amp; d":                   "1 0+2",
		"a <titel>b</titel>":                                                "none of the elements title, body; the texts are in titel: choose",
		"<!-- <title> -->a<body></body>":                                    "1 0+0",
	} {
		opt := DefaultOptions()
		opt.Format, opt.Fields = TREC, []string{"title", "body"}
		path, _, err := buildAt(t, opt, save(t, map[string][]byte{"a": []byte("<DOC><DOCNO>1</DOCNO>" + text + "</DOC>")})...)
		if got := lengthsOf(t, path, err); got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestEmptyFields: a field of TREC without text is a warning that names the elements with texts, and elements that are
// left out are counted, once per document and by the outermost one.
func TestEmptyFields(t *testing.T) {
	const text = "<DOC><DOCNO>1</DOCNO><HEAD>a<b>b</b></HEAD><P>c</P><Text>d<P>e</P></TEXT><P> </P>f<script>g</script></DOC>\n" +
		"<DOC><DOCNO>2</DOCNO><DOCID>h</DOCID><Text>i</TEXT><HEAD>j</HEAD><HEAD>k</HEAD></DOC>\n"
	for fields, want := range map[string]string{
		"text":                 "head (2) docid (1) p (1)",
		"text head p docid":    "",
		"text docno":           "field docno is empty in all documents; the elements with texts are text, head, docid, p: head (2) docid (1) p (1)",
		"head script Doc text": "field Doc is empty in all documents; the elements with texts are head, text, docid, p: field script is empty in all documents; the elements with texts are head, text, docid, p: docid (1) p (1)",
	} {
		opt := DefaultOptions()
		opt.Format, opt.Fields = TREC, strings.Fields(fields)
		_, sum, err := buildAt(t, opt, save(t, map[string][]byte{"a": []byte(text)})...)
		if err != nil {
			t.Fatal(err)
		}
		got := sum.Warnings
		var left []string
		for _, l := range sum.LeftOut {
			left = append(left, fmt.Sprintf("%s (%d)", l.Member, l.Documents))
		}
		if len(left) > 0 {
			got = append(got, strings.Join(left, " "))
		}
		if text := strings.Join(got, ": "); text != want {
			t.Errorf("%s: %s, want %s", fields, text, want)
		}
	}
}
