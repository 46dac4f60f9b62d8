package build

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
	"heddle/engine/plan/testneeds"
)

// inputError checks that err is an *input.Error with a reason, and gives it.
func inputError(t *testing.T, what string, err error, reason string) *input.Error {
	t.Helper()
	var e *input.Error
	if !errors.As(err, &e) || !errors.Is(err, input.ErrCorrupt) {
		t.Errorf("%s: error %v, want an input.Error", what, err)
		return &input.Error{}
	}
	if !strings.Contains(e.Reason, reason) {
		t.Errorf("%s: %q, want %q", what, e.Reason, reason)
	}
	if e.Path == "" || e.Offset < 0 || strings.Contains(e.Error(), "\n") {
		t.Errorf("%s: %#v", what, e)
	}
	return e
}

func TestMalformedTexts(t *testing.T) {
	small := DefaultOptions()
	small.maxDocument = 1000
	long := strings.Repeat("x", 2000)
	for _, c := range []struct {
		name, file, content string
		line                int
		offset              int64
		reason              string
	}{
		{"long line", "a.tsv", "a\tb\n" + long + "\n", 2, 4, "a line of more than 1000 bytes"},
		{"long JSON line", "a.jsonl", "{\"text\":\"" + long + "\"}\n", 1, 0, "a line of more than 1000 bytes"},
		{"binary", "a", "abc\x00def", 0, 0, "binary data"},
		{"not JSON", "a.jsonl", "{\"text\":\"x\"}\n\n{\"text\":x}\n", 3, 14, "byte 9 is 'x': a value is expected"},
		{"JSON cut off", "a.jsonl", "{\"text\":\"x\"}\n{\"text\":\"", 2, 13, "cut off"},
		{"JSON array", "a.jsonl", "[1]\n", 0, 0, "a JSON array: write one object per line"},
		{"JSON array by content", "a", "\ufeff[\n  {\"id\": 1}\n]", 0, 0, "a JSON array"},
		{"JSON array in text", "a.txt", "[{}, {}]\n", 0, 0, "a JSON array"},
		{"second array", "a.jsonl", "{\"text\":\"\"}\n[1]\n", 2, 12, "an array, want an object"},
		{"JSON of several lines", "a.json", "{\n\"text\":\"\"}\n", 1, 0, "cut off"},
		{"HTML", "a.html", "\n<!DOCTYPE html>\n<title>x</title>", 0, 0, "HTML: extract its text first"},
		{"HTML by its name", "a.HTM", "<p>x", 0, 0, "HTML"},
		{"HTML without a type", "a.txt", "<HTML lang=en><body>", 0, 0, "HTML"},
		{"XML", "a", "<?xml version=\"1.0\"?>\n<mediawiki>", 0, 0, "XML: extract its text"},
		{"JSON string", "a.jsonl", "\"abc\"\n", 1, 0, "a string, want an object"},
		{"text of a wrong type", "a.jsonl", "{\"text\":5}\n", 1, 0, "text"},
		{"name of a wrong type", "a.jsonl", "{\"id\":[5],\"text\":\"\"}\n", 1, 0, "neither string nor number"},
		{"two objects", "a.jsonl", "{\"text\":\"\"}{\"text\":\"\"}\n", 1, 0, "byte 12 is '{': one JSON value"},
		{"no text member", "a.jsonl", "{\"id\":\"a\",\"blurb\":\"b\"}\n", 1, 0, "the texts are in blurb: choose them with --text or --fields"},
		{"DOC not closed", "a", "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC><DOCNO>2</DOCNO>", 0, 28, "a <DOC> without </DOC>"},
		{"DOC not closed, text behind", "a", " <DOC><DOCNO>2</DOCNO> abc", 0, 1, "a <DOC> without </DOC>"},
		{"no DOCNO", "a", "<DOC>abc</DOC>", 0, 0, "without a <DOCNO>"},
		{"empty DOCNO", "a", "<DOC><DOCNO> </DOCNO>abc</DOC>", 0, 0, "without a <DOCNO>"},
		{"DOCNO not closed", "a", "<DOC><DOCNO>5<TEXT>abc</DOC>", 0, 0, "a <DOCNO> without </DOCNO>"},
		{"DOCHDR not closed", "a", "<DOC><DOCNO>5</DOCNO><DOCHDR>abc</DOC>", 0, 0, "a <DOCHDR> without </DOCHDR>"},
		{"two DOCNO", "a", "<DOC><DOCNO>1</DOCNO><DOC><DOCNO>2</DOCNO></DOC>", 0, 0, "a second <DOCNO>"},
		{"long DOC", "a", "<DOC><DOCNO>1</DOCNO>" + strings.Repeat("<p>", 400) + "</DOC>", 0, 0, "a document of more than 1000 bytes"},
		{"long DOC without tags", "a", "<DOC>" + long + "</DOC>", 0, 0, "a document of more than 1000 bytes"},
	} {
		_, err := buildBytes(t, small, c.file, []byte(c.content))
		e := inputError(t, c.name, err, c.reason)
		if e.Line != c.line || e.Offset != c.offset {
			t.Errorf("%s: line %d, byte %d; want %d, %d", c.name, e.Line, e.Offset, c.line, c.offset)
		}
		if where := fmt.Sprintf("%s:%d: ", c.file, c.line); c.line > 0 && !strings.Contains(err.Error(), where) {
			t.Errorf("%s: %q does not name %q", c.name, err, where)
		}
		if c.line == 0 && !strings.Contains(err.Error(), fmt.Sprintf("byte %d: ", c.offset)) {
			t.Errorf("%s: %q names no byte", c.name, err)
		}
	}
	_, err := buildBytes(t, DefaultOptions(), "a.tsv", []byte(strings.Repeat("n", hdl.MaxNameLen+1)+"\ttext\n"))
	inputError(t, "long name", err, "a document name of 65537 bytes")
	trec := DefaultOptions()
	trec.Format = TREC
	_, err = buildBytes(t, trec, "a", []byte("no tags at all"))
	inputError(t, "no DOC", err, "no <DOC>")
	if _, err = buildBytes(t, trec, "a", nil); err != nil {
		t.Errorf("an empty file of TREC: %v", err)
	}
}

// TestFirstErrorWins has errors in several chunks and inputs: the first in the
// order of the inputs is reported, however the work is spread.
func TestFirstErrorWins(t *testing.T) {
	lines := bytes.Repeat([]byte("{\"text\":\"abc def\"}\n"), 3000)
	bad := slices.Concat(lines, []byte("oops\n"), lines, []byte("again\n"), lines)
	inputs := save(t, map[string][]byte{"a.jsonl": lines, "b.jsonl": bad, "c.jsonl": []byte("{}")})
	for range 10 {
		opt := DefaultOptions()
		opt.MemoryLimit, opt.Workers = 1, 4
		_, _, err := buildAt(t, opt, append(inputs, "missing")...)
		if e := inputError(t, "b", err, "is 'o': "); e.Line != 3001 || filepath.Base(e.Path) != "b.jsonl" {
			t.Fatalf("error %v", err)
		}
	}
}

func smallCollection() collection {
	return collection{
		names:   []string{"a", "bb", "", "d"},
		lengths: []uint32{3, 1, 0, 300},
		lists: map[string][]posting{
			"empty": {}, "one": {{0, 3}}, "two": {{0, 1}, {3, 200}}, "weft": {{1, 1}, {3, 100}},
		},
	}
}

// TestTruncatedCIFF cuts a file at every byte. The header counts all that
// follows, so every cut shows.
func TestTruncatedCIFF(t *testing.T) {
	testneeds.Long(t)
	c := smallCollection()
	whole := asCIFF(c, slices.Sorted(maps.Keys(c.lists)))
	opt := DefaultOptions()
	opt.Format = CIFF
	for n := range whole {
		_, err := buildBytes(t, opt, "x", whole[:n])
		if e := inputError(t, fmt.Sprintf("%d bytes", n), err, "truncated"); e.Offset > int64(n) {
			t.Errorf("%d bytes: offset %d", n, e.Offset)
		}
	}
	if got, err := buildBytes(t, opt, "x", whole); err != nil || got.String() != c.String() {
		t.Errorf("the whole file: %v, %s", err, got)
	}
	_, err := buildBytes(t, opt, "x", append(slices.Clone(whole), 0))
	inputError(t, "a byte more", err, "more data")
}

// TestTruncatedGzip cuts gzipped inputs at every byte.
func TestTruncatedGzip(t *testing.T) {
	for _, format := range []Format{Text, JSONL, TREC, CIFF} {
		docs := []text{{"a", "one two"}, {"b", "three"}}
		content := map[Format][]byte{
			Text: asText(docs), JSONL: asJSONL(docs), TREC: asTREC(docs),
			CIFF: asCIFF(invert(t, docs, analyze.Settings{}), []string{"one", "three", "two"}),
		}[format]
		whole := zip(content)
		for n := 2; n < len(whole); n++ { // one byte is no sign of gzip
			_, err := readOnly(t, fuzzOptions(whole[:n], format), "-")
			inputError(t, fmt.Sprintf("%s, %d bytes", format, n), err, "")
		}
		if _, err := readOnly(t, fuzzOptions(whole, format), "-"); err != nil {
			t.Errorf("%s: the whole file: %v", format, err)
		}
		whole[len(whole)-6] ^= 1 // damages the checksum
		_, err := readOnly(t, fuzzOptions(whole, format), "-")
		inputError(t, string(format)+", checksum", err, "damaged gzip data")
	}
}

func buildTriple(t *testing.T, files map[string][]byte) (collection, error) {
	t.Helper()
	named := map[string][]byte{}
	for suffix, b := range files {
		named["x"+suffix] = b
	}
	dir := filepath.Dir(save(t, named)[0])
	out, _, err := buildAt(t, DefaultOptions(), filepath.Join(dir, "x.docs"))
	if err != nil {
		return collection{}, err
	}
	return load(t, out), nil
}

// TestTruncatedPISA cuts each file of a collection at every byte. Lost bytes of
// the last line of .terms and .documents cannot be seen.
func TestTruncatedPISA(t *testing.T) {
	testneeds.Long(t)
	c := smallCollection()
	for _, terms := range [][]string{slices.Sorted(maps.Keys(c.lists)), descending(c)} {
		for suffix, whole := range asPISAOf(c, terms) {
			for n := range whole {
				files := asPISAOf(c, terms)
				files[suffix] = whole[:n]
				_, err := buildTriple(t, files)
				lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
				if (suffix == ".terms" || suffix == ".documents") && n > lastLine {
					if err != nil {
						t.Errorf("%s, %d bytes: %v", suffix, n, err)
					}
					continue
				}
				inputError(t, fmt.Sprintf("%s, %d bytes", suffix, n), err, "")
			}
			files := asPISAOf(c, terms)
			files[suffix] = append(slices.Clone(whole), "more"...)
			_, err := buildTriple(t, files)
			inputError(t, suffix+", more", err, "")
		}
	}
}

func TestMalformedPISA(t *testing.T) {
	word := func(v ...uint32) (b []byte) {
		for _, v := range v {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		return b
	}
	for _, c := range []struct {
		name               string
		docs, freqs, sizes []byte
		file               string
		offset             int64
		reason             string
	}{
		{"no singleton", word(2, 3, 4), nil, word(3, 1, 1, 1), "x.docs", 0, "the first sequence has 2 values"},
		{"sizes of others", word(1, 3), nil, word(2, 1, 1), "x.sizes", 0, "2 document lengths; "},
		{"equal docIDs", word(1, 3, 2, 1, 1), word(2, 1, 1), word(3, 1, 1, 1), "x.docs", 16, "docID 1 comes behind 1"},
		{"descending docIDs", word(1, 3, 2, 1, 0), word(2, 1, 1), word(3, 1, 1, 1), "x.docs", 16, "docID 0 comes behind 1"},
		{"docID out of range", word(1, 3, 1, 3), word(1, 1), word(3, 1, 1, 1), "x.docs", 12, "docID 3; there are 3 documents"},
		{"frequency 0", word(1, 3, 1, 2), word(1, 0), word(3, 1, 1, 1), "x.freqs", 4, "docID 2 has frequency 0"},
		{"fewer frequencies", word(1, 3, 1, 2), word(0), word(3, 1, 1, 1), "x.docs", 8, "list 0 has 1 docIDs, and 0 frequencies"},
		{"longer than the collection", word(1, 3, 4, 0, 1, 2, 3), word(4, 1, 1, 1, 1), word(3, 1, 1, 1), "x.docs", 8, "list 0 has 4 docIDs; there are 3"},
		{"giant length", word(1, 1<<32-1, 1<<32-1), word(1<<32 - 1), word(1<<32-1, 1), "x.sizes", 8, "truncated"},
	} {
		_, err := buildTriple(t, map[string][]byte{".docs": c.docs, ".freqs": c.freqs, ".sizes": c.sizes})
		if e := inputError(t, c.name, err, c.reason); filepath.Base(e.Path) != c.file || e.Offset != c.offset {
			t.Errorf("%s: %s, byte %d; want %s, %d", c.name, e.Path, e.Offset, c.file, c.offset)
		}
		_, err = buildTriple(t, map[string][]byte{".docs": c.docs, ".freqs": c.freqs, ".sizes": c.sizes, ".terms": []byte("a\n")})
		if e := inputError(t, c.name, err, c.reason); filepath.Base(e.Path) != c.file || e.Offset != c.offset {
			t.Errorf("%s with terms: %s, byte %d; want %s, %d", c.name, e.Path, e.Offset, c.file, c.offset)
		}
	}
	files := asPISA(smallCollection())
	for _, suffix := range []string{".documents", ".terms", ".sizes", ".freqs"} {
		whole := files[suffix]
		files[suffix] = append(slices.Clone(whole), "more\n"...)
		_, err := buildTriple(t, files)
		inputError(t, suffix+", more", err, "more data than the collection has use for")
		if suffix == ".sizes" || suffix == ".freqs" {
			delete(files, suffix)
			if _, err := buildTriple(t, files); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("without %s: %v", suffix, err)
			}
		}
		files[suffix] = whole
	}
	files[".terms"] = []byte("a\nb\nb\nc\n")
	_, err := buildTriple(t, files)
	inputError(t, "a term twice", err, "list 2: its term has another list")
	files[".terms"] = []byte("a\nb\na\nc\n") // the first list is empty, so the docIDs ascend
	if got, err := buildTriple(t, files); err != nil || len(got.lists["a"]) != 2 {
		t.Errorf("two lists with ascending docIDs: %v, %s", err, got)
	}
	files[".terms"] = []byte("a\n\nb\nc\n")
	_, err = buildTriple(t, files)
	if e := inputError(t, "an empty term", err, "a term of 0 bytes"); e.Line != 2 {
		t.Errorf("an empty term in line %d", e.Line)
	}
}

func TestPISAWithoutNames(t *testing.T) {
	c := smallCollection()
	files := asPISA(c)
	delete(files, ".terms")
	delete(files, ".documents")
	got, err := buildTriple(t, files)
	if err != nil {
		t.Fatal(err)
	}
	want := collection{names: []string{"0", "1", "2", "3"}, lengths: c.lengths, lists: map[string][]posting{
		"0": c.lists["empty"], "1": c.lists["one"], "2": c.lists["two"], "3": c.lists["weft"],
	}}
	if got.String() != want.String() {
		t.Errorf("the index is\n%s\nwant\n%s", got, want)
	}
}

func TestMalformedCIFF(t *testing.T) {
	header := func() message {
		return message{}.number(1, 1).number(2, 1).number(3, 2).number(4, 1).number(5, 2).number(6, 2)
	}
	list := func() message { return message{}.bytes(1, []byte("x")).number(2, 1).number(3, 1) }
	posting := func(gap, tf uint64) message { return message{}.number(1, gap).number(2, tf) }
	doc := func(id uint64) message { return message{}.number(1, id).bytes(2, []byte("d")).number(3, 1) }
	docs := slices.Concat(doc(0).delimited(), doc(1).delimited())
	good := list().bytes(4, posting(1, 1)).delimited()
	const minus = 1<<64 - 5 // as an int32 in a varint
	for _, c := range []struct {
		name   string
		parts  [][]byte
		reason string
	}{
		{"version", [][]byte{message{}.number(1, 2).delimited()}, "CIFF version 2"},
		{"negative counts", [][]byte{message{}.number(1, 1).number(2, minus).delimited()}, "malformed header"},
		{"header of wrong types", [][]byte{message{}.bytes(1, []byte("x")).delimited()}, "malformed header"},
		{"giant header", [][]byte{{0xff, 0xff, 0xff, 0xff, 0x7f}}, "a header of"},
		{"endless varint", [][]byte{bytes.Repeat([]byte{0xff}, 20)}, "malformed header"},
		{"list without a term", [][]byte{header().delimited(), message{}.number(2, 1).delimited()}, "without a term"},
		{"posting before its term", [][]byte{header().delimited(), message{}.bytes(4, posting(0, 1)).delimited()}, "a posting before the term"},
		{"two terms", [][]byte{header().delimited(), list().bytes(1, []byte("y")).delimited()}, "a second term"},
		{"giant term", [][]byte{header().delimited(), message{}.bytes(1, make([]byte, hdl.MaxTermLen+1)).delimited()}, "65537 bytes"},
		{"gap 0", [][]byte{header().delimited(), list().bytes(4, posting(0, 1)).bytes(4, posting(0, 1)).delimited()}, "docID 0 comes twice"},
		{"negative gap", [][]byte{header().delimited(), list().bytes(4, posting(minus, 1)).delimited()}, "malformed posting"},
		{"docID out of range", [][]byte{header().delimited(), list().bytes(4, posting(2, 1)).delimited()}, "docID 2; the file has 2 documents"},
		{"frequency 0", [][]byte{header().delimited(), list().bytes(4, posting(1, 0)).delimited()}, "docID 1 has frequency 0"},
		{"posting of wrong types", [][]byte{header().delimited(), list().bytes(4, message{}.bytes(1, nil)).delimited()}, "malformed posting"},
		{"posting longer than its list", [][]byte{header().delimited(), append(list(), 0x22, 9, 0).delimited()}, "malformed postings list"},
		{"field of a wrong type", [][]byte{header().delimited(), list().bytes(2, nil).delimited()}, "malformed postings list"},
		{"field 0", [][]byte{header().delimited(), append(list(), 0, 0).delimited()}, "malformed postings list"},
		{"group", [][]byte{header().delimited(), append(list(), 9<<3|3).delimited()}, "malformed postings list"},
		{"list of 2^63 bytes", [][]byte{header().delimited(), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}}, "a postings list of"},
		{"list of 2^62 bytes", [][]byte{header().delimited(), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f}, list()}, "truncated"},
		{"documents out of order", [][]byte{header().delimited(), good, doc(1).delimited(), doc(0).delimited()}, "they must come in order"},
		{"negative length", [][]byte{header().delimited(), good, message{}.number(3, minus).delimited()}, "malformed document record"},
		{"document of wrong types", [][]byte{header().delimited(), good, message{}.number(2, 1).delimited()}, "malformed document record"},
		{"length of 2^31", [][]byte{header().delimited(), good, message{}.number(3, 1<<31).delimited()}, "malformed document record"},
		{"postings as a number", [][]byte{header().delimited(), list().number(4, 1).delimited()}, "malformed postings list"},
		{"more data", [][]byte{header().delimited(), good, docs, {0}}, "more data than the collection has use for"},
		{"giant document", [][]byte{header().delimited(), good, {0xff, 0xff, 0xff, 0x7f}}, "a document record of"},
		{"giant name", [][]byte{header().delimited(), good, message{}.bytes(2, make([]byte, hdl.MaxNameLen+1)).delimited()}, "a document name of 65537 bytes"},
		{"term twice", [][]byte{message{}.number(1, 1).number(2, 2).number(3, 2).delimited(), good, good, docs}, `a second list of the term "x"`},
	} {
		_, err := buildBytes(t, ciffOptions(), "x", slices.Concat(c.parts...))
		inputError(t, c.name, err, c.reason)
	}
	long := list().bytes(9, make([]byte, 2*source.Buffer+10)).bytes(4, posting(1, 1)).delimited() // of unknown contents
	for name, file := range map[string][]byte{"the good file": good, "a long field": long} {
		if _, err := buildBytes(t, ciffOptions(), "x", slices.Concat(header().delimited(), file, docs)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	impacts := header().bytes(8, []byte(inverted.CIFFImpacts)).delimited() // their sum is not the sum of the lengths
	path := save(t, map[string][]byte{"x": slices.Concat(impacts, list().bytes(4, posting(1, 2)).delimited(), doc(0).number(3, 9).delimited(), doc(1).delimited())})[0]
	if _, sum := mustBuild(t, ciffOptions(), path); strings.Contains(strings.Join(sum.Warnings, "\n"), "the document lengths add up to") {
		t.Errorf("warnings %q", sum.Warnings)
	}
}

func ciffOptions() Options {
	opt := DefaultOptions()
	opt.Format = CIFF
	return opt
}

// TestTermTwiceAcrossRuns has the two lists in different runs: the merge sees it.
func TestTermTwiceAcrossRuns(t *testing.T) {
	c := collection{names: []string{"a", "b"}, lengths: []uint32{1, 1}, lists: map[string][]posting{"x": {{0, 1}}}}
	var terms []string
	for i := range 20000 {
		term := fmt.Sprint("filler", i)
		c.lists[term] = []posting{{1, 1}}
		terms = append(terms, term)
	}
	opt := ciffOptions()
	opt.MemoryLimit = 1
	content := asCIFF(c, slices.Concat([]string{"x"}, terms, []string{"x"}))
	content = bytes.Replace(content, ciffHeaderOf(c), message{}.number(1, 1).number(2, 20002).number(3, 2), 1)
	n := len(message{}.number(1, 1).number(2, 20002).number(3, 2))
	content[0] = byte(n)
	if _, err := buildBytes(t, opt, "x", content); !errors.Is(err, input.ErrCorrupt) || !strings.Contains(err.Error(), `two lists of the term "x"`) {
		t.Errorf("error %v", err)
	}
}

func TestCIFFDetails(t *testing.T) {
	unknown := message{}.number(9, 77).bytes(10, []byte("later")).double(11, 1)
	fixed32 := append(binary32(12), 1, 2, 3, 4)
	header := append(append(message{}.number(1, 1).number(2, 1).number(3, 2).number(4, 5).number(5, 2).number(6, 9), unknown...), fixed32...)
	list := append(append(message{}.bytes(1, []byte("x")), unknown...), fixed32...)
	list = list.number(2, 7).number(3, 2).bytes(4, append(message{}.number(2, 1), unknown...)).bytes(4, message{}.number(2, 1).number(1, 1))
	content := slices.Concat(header.delimited(), list.delimited(),
		message{}.bytes(2, []byte("a")).delimited(), append(message{}.number(1, 1).number(3, 4), fixed32...).delimited())
	path := save(t, map[string][]byte{"x": content})[0]
	got, sum := mustBuild(t, ciffOptions(), path)
	want := collection{names: []string{"a", ""}, lengths: []uint32{0, 4}, lists: map[string][]posting{"x": {{0, 1}, {1, 1}}}}
	if got.String() != want.String() {
		t.Errorf("the index is\n%s\nwant\n%s", got, want)
	}
	warnings := strings.Join(sum.Warnings, "\n")
	for _, w := range []string{"5 lists in all; the file has 1", "lengths add up to 4", "frequencies add up to 2", "df or cf of 1 list is"} {
		if !strings.Contains(warnings, w) {
			t.Errorf("no warning %q in %q", w, warnings)
		}
	}
	if len(sum.Warnings) != 4 {
		t.Errorf("warnings %q", sum.Warnings)
	}
}

func binary32(field int) []byte { return []byte{byte(field<<3 | 5)} }

// TestLengthsDoNotAllocate feeds lengths far beyond the input.
func TestLengthsDoNotAllocate(t *testing.T) {
	giant := []byte{0xff, 0xff, 0xff, 0xff, 0x3f} // 17 GiB
	header := message{}.number(1, 1).number(2, 1<<31-1).number(3, 1<<31-1).delimited()
	for _, content := range [][]byte{
		giant,
		slices.Concat(header, giant),
		slices.Concat(header, giant, []byte{0x0a}, giant),
		slices.Concat(header, giant, []byte{0x0a, 1, 'x', 0x22}, giant),
		slices.Concat(header, giant, []byte{0x0a, 1, 'x', 0x7a}, giant),
	} {
		path := save(t, map[string][]byte{"x": content})[0]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := buildAt(t, ciffOptions(), path)
		runtime.ReadMemStats(&after)
		inputError(t, fmt.Sprintf("% x", content), err, "")
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
			t.Errorf("% x: %d bytes allocated", content, n)
		}
	}
}
