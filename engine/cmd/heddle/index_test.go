package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/index/inventory"
	"heddle/engine/plan/testneeds"
)

const threeDocuments = "a\tThe red loom, the red warp\nb\tthe blue loom\nc\tThe looms of others\n"

func TestIndexBuild(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	if got := must(t, "index", "build", "-o", "d.hdl", "d.tsv"); !strings.HasPrefix(got, "d.hdl: 3 documents, 8 terms, 11 postings, ") {
		t.Errorf("build prints %q", got)
	}
	const terms = "blue\t1\traw\t4\nloom\t2\traw\t8\nlooms\t1\traw\t4\nof\t1\traw\t4\nothers\t1\traw\t4\nred\t1\traw\t4\nthe\t3\traw\t12\nwarp\t1\traw\t4\n"
	if got := must(t, "index", "dump", "d.hdl"); got != terms {
		t.Errorf("terms\n%s\nwant\n%s", got, terms)
	}
	for term, want := range map[string]string{"the": "0\t2\n1\t1\n2\t1\n", "loom": "0\t1\n1\t1\n", "red": "0\t2\n"} {
		if got := must(t, "index", "dump", "d.hdl", "--term", term); got != want {
			t.Errorf("list of %s is %q, want %q", term, got, want)
		}
	}
	wantFailure(t, heddle(t, "index", "dump", "d.hdl", "--term", "The"), exitFailure, `d.hdl has no term "The"`)
	if got := must(t, "index", "verify", "d.hdl"); !strings.HasPrefix(got, "d.hdl is valid: 3 documents, 8 terms, 11 postings, checksum ") {
		t.Errorf("verify prints %q", got)
	}
	if f := files(t); f != "d.hdl d.tsv" {
		t.Errorf("left behind: %s", f)
	}
}

// TestIndexBuildFormats builds the same three documents from every text format, plain,
// gzipped and from standard input.
func TestIndexBuildFormats(t *testing.T) {
	testneeds.Sequential(t)
	inTempDir(t)
	inputs := map[string]string{
		"text":  threeDocuments,
		"jsonl": `{"id":"a","text":"The red loom, the red warp"}` + "\n" + `{"id":"b","text":"the blue loom"}` + "\n" + `{"id":"c","text":"The looms of others"}` + "\n",
		"trec": "<DOC><DOCNO>a</DOCNO><TEXT>The red loom, the red warp</TEXT></DOC>\n<DOC><DOCNO>b</DOCNO>the blue loom</DOC>\n" +
			"<DOC>\n<DOCNO> c </DOCNO>\nThe looms of others\n</DOC>\n",
	}
	want := ""
	check := func(input string) {
		t.Helper()
		got := must(t, "index", "dump", "x.hdl") + must(t, "index", "dump", "x.hdl", "--term", "the") + must(t, "search", "x.hdl", "--query", "loom", "--all")
		if want == "" {
			want = got
		}
		if got != want || !strings.HasSuffix(got, "a\nb\n") {
			t.Errorf("%s:\n%s\nwant\n%s", input, got, want)
		}
	}
	for _, format := range []string{"text", "jsonl", "trec"} {
		writeFile(t, "in", inputs[format])
		must(t, "index", "build", "-o", "x.hdl", "in")
		check(format + " by its content")
		must(t, "index", "build", "-o", "x.hdl", "--format", format, "in")
		check(format + " by name")

		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write([]byte(inputs[format])); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, "in.gz", zipped.String())
		must(t, "index", "build", "-o", "x.hdl", "in.gz")
		check(format + " zipped")
		if r := heddleWith(t, inputs[format], nil, "index", "build", "-o", "x.hdl", "--format", format, "-"); r.code != 0 {
			t.Errorf("%s from standard input: %+v", format, r)
		}
		check(format + " from standard input")
	}

	// Two inputs form one collection.
	lines := strings.SplitAfter(threeDocuments, "\n")
	writeFile(t, "1.txt", lines[0])
	writeFile(t, "2.txt", lines[1]+lines[2])
	must(t, "index", "build", "-o", "x.hdl", "1.txt", "2.txt")
	check("two files")
}

// TestIndexBuildPISA builds from a PISA collection without names: terms and documents
// have numbers.
func TestIndexBuildPISA(t *testing.T) {
	inTempDir(t)
	sequence := func(values ...uint32) (s []byte) {
		s = binary.LittleEndian.AppendUint32(s, uint32(len(values)))
		for _, v := range values {
			s = binary.LittleEndian.AppendUint32(s, v)
		}
		return s
	}
	docs := slices.Concat(sequence(4), sequence(0, 2, 3), sequence(1, 2))
	writeFile(t, "p.docs", string(docs))
	writeFile(t, "p.freqs", string(slices.Concat(sequence(1, 5, 2), sequence(7, 1))))
	writeFile(t, "p.sizes", string(sequence(1, 7, 6, 2)))
	must(t, "index", "build", "-o", "p.hdl", "p.docs")
	if got := must(t, "index", "dump", "p.hdl", "--term", "0"); got != "0\t1\n2\t5\n3\t2\n" {
		t.Errorf("list 0 is %q", got)
	}
	if got := must(t, "search", "p.hdl", "--query", "0 AND 1", "--all"); got != "2\n" {
		t.Errorf("0 and 1 give %q, want document 2", got)
	}
	writeFile(t, "p.docs", string(docs[:len(docs)-2]))
	wantFailure(t, heddle(t, "index", "build", "-o", "q.hdl", "p.docs"), exitCorrupt, "p.docs: byte ")
}

func TestIndexBuildSettings(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	writeFile(t, "stop.txt", "the\nof\n")
	writeFile(t, "h.toml", "[index]\nstem = \"english\"\nstopwords = \"stop.txt\"\ncodec = \"parapfor\"\ndense = \"never\"\nexception_ratio = 0.25\nbuild_memory = \"500MiB\"\n")
	must(t, "index", "build", "-o", "d.hdl", "--config", "h.toml", "d.tsv")
	const terms = "blue\t1\nloom\t3\nother\t1\nred\t1\nwarp\t1\n"
	got := ""
	for line := range strings.Lines(must(t, "index", "dump", "d.hdl")) {
		f := strings.Split(line, "\t")
		got += f[0] + "\t" + f[1] + "\n"
		if f[2] != "raw" { // parapfor does not make lists of three documents smaller
			t.Errorf("codec of %s is %s", f[0], f[2])
		}
	}
	if got != terms {
		t.Errorf("terms\n%s\nwant\n%s", got, terms)
	}
	if got := must(t, "search", "d.hdl", "--query", "LOOMING", "--all"); got != "a\nb\nc\n" {
		t.Errorf("a query is not analysed as the documents were: %q", got)
	}
	var info report.Index
	if err := json.Unmarshal([]byte(must(t, "index", "info", "--json", "d.hdl")), &info); err != nil {
		t.Fatal(err)
	}
	if info.Stemmer != "english" || info.StopWords != 2 || info.Codec != "parapfor" || info.Dense != "never" || info.ExceptionRatio != 0.25 || info.Format != "text" {
		t.Errorf("%+v", info)
	}
	// A flag overrides the file.
	must(t, "index", "build", "-o", "d.hdl", "--config", "h.toml", "--stem", "none", "--stopwords", "none", "d.tsv")
	if got := strings.Count(must(t, "index", "dump", "d.hdl"), "\n"); got != 8 {
		t.Errorf("%d terms, want 8", got)
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "e.hdl", "--codec", "bitset", "--dense", "never", "d.tsv"), exitFailure, "bitset")
}

// TestIndexBuildCodecs checks that indexes of all codecs have the same lists.
func TestIndexBuildCodecs(t *testing.T) {
	testneeds.Sequential(t)
	buildCollection(t)
	want := must(t, "index", "dump", "c.hdl", "--term", "w1")
	for _, id := range codec.IDs() {
		args := []string{"index", "build", "-o", "x.hdl", "--codec", id.String(), "c.tsv"}
		if id != codec.Bitset {
			args = append(args, "--dense", "never")
		}
		must(t, args...)
		must(t, "index", "verify", "x.hdl")
		if got := must(t, "index", "dump", "x.hdl", "--term", "w1"); got != want {
			t.Errorf("%v: w1 is\n%s\nwant\n%s", id, got, want)
		}
		if line := must(t, "index", "dump", "x.hdl"); !strings.Contains(line, "\t"+id.String()+"\t") {
			t.Errorf("no list is %v:\n%s", id, line)
		}
	}
}

// TestIndexBuildFails checks that a failed build leaves nothing, and leaves an earlier
// index as it was.
func TestIndexBuildFails(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	before, err := os.ReadFile("d.hdl")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "bad.jsonl", `{"id":"a","text":"fine"}`+"\n"+`{"id":"b","text":`+"\n")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "d.tsv", "bad.jsonl"), exitCorrupt, "bad.jsonl") // mixed formats, or line 2
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "bad.jsonl"), exitCorrupt, "bad.jsonl:2: ")
	wantFailure(t, heddle(t, "index", "build", "-o", "new.hdl", "bad.jsonl"), exitCorrupt, "bad.jsonl:2: ")
	writeFile(t, "cut.gz", "\x1f\x8b\x08\x00\x00")
	wantFailure(t, heddle(t, "index", "build", "-o", "new.hdl", "cut.gz"), exitCorrupt, "cut.gz: ", "gzip")
	after, err := os.ReadFile("d.hdl")
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a failed build changed the index (%v)", err)
	}
	if f := files(t); f != "bad.jsonl cut.gz d.hdl d.tsv" {
		t.Errorf("left behind: %s", f)
	}
}

func TestIndexInfo(t *testing.T) {
	c := buildCollection(t)
	var info report.Index
	if err := json.Unmarshal([]byte(must(t, "index", "info", "--json", "c.hdl")), &info); err != nil {
		t.Fatal(err)
	}
	terms := map[string]bool{}
	var postings, tokens uint64
	for d := range c.names {
		seen := map[string]bool{}
		for _, w := range c.words[d] {
			tokens++
			seen[w], terms[w] = true, true
		}
		postings += uint64(len(seen))
	}
	st, err := os.Stat("c.hdl")
	if err != nil {
		t.Fatal(err)
	}
	if info.Documents != 700 || info.Terms != len(terms) || info.Postings != postings || info.Tokens != tokens || info.Bytes != st.Size() {
		t.Errorf("%+v, want 700 documents, %d terms, %d postings, %d tokens, %d bytes", info, len(terms), postings, tokens, st.Size())
	}
	if info.Stemmer != "none" || info.Codec != "auto" || info.Dense != "auto" || info.Creator != thisBuild().String() {
		t.Errorf("%+v", info)
	}
	// The table by codec agrees with the sums of the dump.
	lists, bytesOf := map[string]uint64{}, map[string]uint64{}
	for line := range strings.Lines(must(t, "index", "dump", "c.hdl")) {
		var term, name string
		var df, size uint64
		if _, err := fmt.Sscanf(line, "%s\t%d\t%s\t%d\n", &term, &df, &name, &size); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		lists[name]++
		bytesOf[name] += size
	}
	if len(info.Codecs) != len(lists) || len(lists) < 2 {
		t.Errorf("codecs %+v, want those of %v", info.Codecs, lists)
	}
	for _, k := range info.Codecs {
		if k.Lists != lists[k.Codec] || k.Bytes != bytesOf[k.Codec] || k.BytesPerPosting != float64(k.Bytes)/float64(k.Postings) {
			t.Errorf("%+v, want %d lists of %d bytes", k, lists[k.Codec], bytesOf[k.Codec])
		}
	}
	text := must(t, "index", "info", "c.hdl")
	for _, part := range []string{"documents          700\n", "bytes per posting", "bitset", info.Checksum, "list-blocks", codec.CostRule, "  least cost\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// TestIndexInfoWhy checks that every list has a reason, and recomputes the costs of lists
// whose reason is the lowest cost.
func TestIndexInfoWhy(t *testing.T) {
	buildCollection(t)
	var info report.Index
	decode := func(out string, v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), v); err != nil {
			t.Fatal(err)
		}
	}
	decode(must(t, "index", "info", "--json", "c.hdl"), &info)
	for _, c := range info.Codecs {
		var lists uint64
		for _, r := range c.Why {
			lists += r.Lists
		}
		if lists != c.Lists || math.Abs(c.BitsPerPosting-8*c.BytesPerPosting) > 1e-9 || c.TimeBits <= 0 {
			t.Errorf("%+v", c)
		}
	}
	for line := range strings.Lines(must(t, "index", "dump", "c.hdl")) {
		f := strings.Fields(line)
		var term report.Term
		decode(must(t, "index", "info", "c.hdl", "--term", f[0], "--json"), &term)
		var least, own inventory.Cost
		for _, c := range term.Codecs {
			if least.Codec == "" || c.Cost < least.Cost {
				least = c
			}
			if c.Codec == term.Codec {
				own = c
			}
		}
		if term.Term != f[0] || term.Codec != f[2] || fmt.Sprint(own.Bytes) != f[3] || len(term.Codecs) != len(codec.Candidates()) {
			t.Errorf("%+v, the dump says %v", term, f)
		}
		if dense := term.Codec == "bitset" && 32*term.Len > info.Documents; dense && term.Why != codec.Dense.String() ||
			!dense && (term.Why != codec.LeastCost.String() || own.Cost > least.Cost+1e-9) {
			t.Errorf("%+v: the least cost is that of %v", term, least)
		}
	}
	if text := must(t, "index", "info", "c.hdl", "--term", "w0"); !strings.Contains(text, codec.CostRule) || !strings.Contains(text, "parapfor") {
		t.Errorf("w0:\n%s", text)
	}
	wantFailure(t, heddle(t, "index", "info", "c.hdl", "--term", "none"), exitFailure, `has no term "none"`)
	must(t, "index", "build", "-o", "r.hdl", "--codec", "parapfor", "--dense", "never", "c.tsv")
	decode(must(t, "index", "info", "--json", "r.hdl"), &info)
	for _, c := range info.Codecs {
		want := map[string]codec.Reason{"parapfor": codec.Asked, "raw": codec.NotSmaller}[c.Codec]
		if len(c.Why) != 1 || c.Why[0].Reason != want.String() {
			t.Errorf("%+v, want %v", c, want)
		}
	}
}

// TestDumpList compares every list with the documents.
func TestDumpList(t *testing.T) {
	c := buildCollection(t)
	for n := range 30 {
		word := fmt.Sprintf("w%d", n)
		want := ""
		for d := range c.names {
			if f := c.freq(d, word); f > 0 {
				want += fmt.Sprintf("%d\t%d\n", d, f)
			}
		}
		if want == "" {
			t.Fatalf("the collection has no %s", word)
		}
		if got := must(t, "index", "dump", "c.hdl", "--term", word); got != want {
			t.Errorf("list of %s differs from the documents'", word)
		}
	}
}

// TestEmptyIndex builds an index without documents.
func TestEmptyIndex(t *testing.T) {
	inTempDir(t)
	writeFile(t, "empty.txt", "")
	must(t, "index", "build", "-o", "e.hdl", "--format", "text", "empty.txt")
	if got := must(t, "index", "dump", "e.hdl"); got != "" {
		t.Errorf("terms %q", got)
	}
	if got := must(t, "search", "e.hdl", "--query", "a", "--count"); got != "1\t0\n" {
		t.Errorf("count %q", got)
	}
	must(t, "index", "verify", "e.hdl")
	must(t, "index", "info", "e.hdl")
}

// TestCorruptIndex damages an index in many places. A command that reads the damage exits with
// code 3, reports the position and prints nothing else. Other commands answer as before, because
// a block is verified when it is first read; verify always finds the damage.
func TestCorruptIndex(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	good, err := os.ReadFile("d.hdl")
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"index", "info", "x.hdl"}, {"index", "verify", "x.hdl"}, {"index", "dump", "x.hdl"},
		{"index", "dump", "x.hdl", "--term", "the"}, {"search", "x.hdl", "--query", "the"},
	}
	writeFile(t, "x.hdl", string(good))
	var want []string
	for _, args := range commands {
		want = append(want, must(t, args...))
	}
	silent := 0
	damaged := func(input string, data []byte) {
		writeFile(t, "x.hdl", string(data))
		for i, args := range commands {
			t.Run(input+"/"+strings.Join(args[:len(args)-1], " "), func(t *testing.T) {
				got := heddle(t, args...)
				if got.code == 0 && args[1] != "verify" && len(data) == len(good) {
					silent++
					if got.stdout != want[i] {
						t.Errorf("printed %q without an error, the intact file gives %q", got.stdout, want[i])
					}
					return
				}
				wantFailure(t, got, exitCorrupt, "x.hdl: corrupt ", " at byte ")
			})
		}
	}
	for at := 16; at < len(good); at += len(good)/9 + 1 {
		data := bytes.Clone(good)
		data[at] ^= 0x20
		damaged(fmt.Sprintf("byte %d", at), data)
	}
	damaged("cut", good[:len(good)/2])
	damaged("empty", nil)
	damaged("text", []byte(threeDocuments))
	if most := 20; silent > most {
		t.Errorf("%d commands did not read the damage, want at most %d", silent, most)
	}
	if left, _ := filepath.Glob("x.hdl?*"); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// TestIndexBuildTexts stores texts and prints them.
func TestIndexBuildTexts(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	must(t, "index", "build", "-o", "d.hdl", "--store", "text", "d.tsv")
	must(t, "index", "verify", "d.hdl")
	if got := must(t, "index", "dump", "d.hdl", "--doc", "1"); got != "b\t3\nthe blue loom\n" {
		t.Errorf("document 1 is %q", got)
	}
	if got := must(t, "index", "info", "d.hdl"); !strings.Contains(got, "\nstored documents   text\n") || !strings.Contains(got, "document-offsets") {
		t.Errorf("info prints\n%s", got)
	}
	writeFile(t, "d.jsonl", `{"id": "a", "title": "A loom", "year": 1801, "text": "the red weft"}`+"\n"+`{"id":"b","text":"blue"}`)
	must(t, "index", "build", "-o", "s.hdl", "--store", "source", "d.jsonl")
	if got := must(t, "index", "dump", "s.hdl", "--doc", "0"); got != "a\t5\n"+`{"id": "a", "title": "A loom", "year": 1801, "text": "the red weft"}`+"\n" {
		t.Errorf("source 0 is %q", got)
	}
	if got := must(t, "index", "info", "s.hdl"); !strings.Contains(got, "\nstored documents   source\n") {
		t.Errorf("info prints\n%s", got)
	}
	if got := must(t, "search", "s.hdl", "--query", "weft"); !strings.Contains(got, "A loom") || !strings.Contains(got, "*weft*") {
		t.Errorf("search prints %q", got)
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "t.hdl", "--store", "source", "d.tsv"), exitFailure, "d.tsv: text, which has no JSON objects that could be stored")
	wantFailure(t, heddle(t, "collection", "create", "c", "--text", "body"), exitUsage, "--store source")
	must(t, "index", "build", "-o", "e.hdl", "d.tsv")
	if got := must(t, "index", "dump", "e.hdl", "--doc", "2"); got != "c\t4\n" {
		t.Errorf("document 2 is %q", got)
	}
	for _, doc := range []string{"3", "-1"} {
		wantFailure(t, heddle(t, "index", "dump", "d.hdl", "--doc", doc), exitFailure, "d.hdl has no document "+doc+": it has 3 documents")
	}
	wantFailure(t, heddle(t, "index", "dump", "d.hdl", "--doc", "1", "--term", "loom"), exitUsage, "exclude each other")
}

// TestIndexBuildImpacts stores impacts of BM25.
func TestIndexBuildImpacts(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	must(t, "index", "build", "-o", "d.hdl", "--impacts", "8", "--variant", "atire", "--k1", "0", "--b", "0.5", "d.tsv")
	must(t, "index", "verify", "d.hdl")
	// With k1 = 0 the score is the weight: ln(3/df) of at most ln 3.
	for term, want := range map[string]string{"the": "0\t1\n1\t1\n2\t1\n", "loom": "0\t94\n1\t94\n", "red": "0\t255\n"} {
		if got := must(t, "index", "dump", "d.hdl", "--term", term); got != want {
			t.Errorf("list of %s is %q, want %q", term, got, want)
		}
	}
	if got := must(t, "index", "info", "d.hdl"); !strings.Contains(got, "\nimpacts            8 bits, from bm25, atire k1=0 b=0.5, scale 0.00430828\n") || !strings.Contains(got, "\nsum of impacts     ") {
		t.Errorf("info prints\n%s", got)
	}
	var info report.Index
	if err := json.Unmarshal([]byte(must(t, "index", "info", "--json", "d.hdl")), &info); err != nil {
		t.Fatal(err)
	}
	if m := info.Impacts; m == nil || m.Bits != 8 || m.Variant != "atire" || m.K1 != 0 || m.B != 0.5 || info.Store != "" || info.Tokenizer != "words" {
		t.Errorf("%+v", info)
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "e.hdl", "--impacts", "9", "d.tsv"), exitUsage, "impacts")
	wantFailure(t, heddle(t, "index", "build", "-o", "e.hdl", "--renumber", "name", "d.tsv"), exitUsage, `flag --renumber: "name" is not one of none, random (nearest: "none")`)
	wantFailure(t, heddle(t, "index", "build", "-o", "e", "--renumber", "random", "--shards", "2", "d.tsv"), exitUsage, "heddle cluster split")
}

// TestIndexBuildVectors builds from vectors of weighted terms, and searches them.
func TestIndexBuildVectors(t *testing.T) {
	inTempDir(t)
	writeFile(t, "v.jsonl", `{"id":"a","vector":{"weav":1.5,"##ing":3}}`+"\n"+`{"id":"b","vector":{"Weav":0.01,"##ing":0.5}}`+"\n")
	must(t, "index", "build", "-o", "v.hdl", "--impacts", "16", "v.jsonl")
	must(t, "index", "verify", "v.hdl")
	if got := must(t, "index", "dump", "v.hdl", "--term", "##ing"); got != "0\t65535\n1\t10923\n" {
		t.Errorf("impacts %q", got)
	}
	if got := must(t, "search", "v.hdl", "--query", "##ing AND weav", "--count"); got != "1\t1\n" {
		t.Errorf("search finds %q", got)
	}
	if got := must(t, "index", "info", "v.hdl"); !strings.Contains(got, "16 bits, from weights, scale ") || !strings.Contains(got, "whitespace, stemmer none") {
		t.Errorf("info prints\n%s", got)
	}
	r := heddle(t, "index", "build", "-o", "w.hdl", "v.jsonl")
	wantFailure(t, r, exitCorrupt, `v.jsonl:1: document "a": the weight of "weav" is 1.5: without impacts, weights are whole numbers`)
	writeFile(t, "t.tsv", "a\tThe ##ing\n")
	must(t, "index", "build", "-o", "t.hdl", "--tokenizer", "whitespace", "t.tsv")
	if got := must(t, "index", "dump", "t.hdl"); got != "##ing\t1\traw\t4\nThe\t1\traw\t4\n" {
		t.Errorf("terms %q", got)
	}
}
