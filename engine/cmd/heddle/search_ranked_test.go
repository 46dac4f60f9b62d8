package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/index/trec"
	"heddle/engine/plan/testneeds"
)

// hit is a document and its score.
type hit struct {
	doc   int
	score float64
}

// withTerms is the number of documents with at least one word: N of BM25, as in Lucene.
func (c *corpus) withTerms() (n float64) {
	for _, words := range c.words {
		if len(words) > 0 {
			n++
		}
	}
	return n
}

// rank scores every document with BM25, variant lucene, in float64.
func (c *corpus) rank(weights map[string]float64, every bool, k1, b float64) (hits []hit) {
	tokens := 0
	for _, words := range c.words {
		tokens += len(words)
	}
	average := float64(tokens) / c.withTerms()
	for d := range c.names {
		score, missing := 0.0, false
		for word, weight := range weights {
			df := 0
			for other := range c.names {
				if c.freq(other, word) > 0 {
					df++
				}
			}
			tf := float64(c.freq(d, word))
			missing = missing || tf == 0
			idf := math.Log(1 + (c.withTerms()-float64(df)+0.5)/(float64(df)+0.5))
			score += weight * idf * tf / (tf + k1*(1-b+b*float64(len(c.words[d]))/average))
		}
		if score > 0 && !(every && missing) {
			hits = append(hits, hit{d, score})
		}
	}
	slices.SortFunc(hits, func(x, y hit) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.doc, y.doc)) })
	return hits
}

// readTSV reads the ranked answers of one query in format tsv.
func (c *corpus) readTSV(t *testing.T, out string) (hits []hit) {
	t.Helper()
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 || f[1] != strconv.Itoa(len(hits)+1) {
			t.Fatalf("line %q, rank %d", line, len(hits)+1)
		}
		score, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, hit{slices.Index(c.names, f[2]), score})
	}
	return hits
}

// sameRanking compares scores up to the rounding of weights, and the order of documents
// whose scores differ by more. Equal scores are in document order.
func sameRanking(got, want []hit) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d documents, want %d", len(got), len(want))
	}
	for i, h := range got {
		if at := slices.IndexFunc(want, func(w hit) bool { return w.doc == h.doc && math.Abs(w.score-h.score) < 1e-5 }); at < 0 ||
			math.Abs(want[i].score-h.score) > 1e-5 {
			return fmt.Errorf("rank %d: %+v, want %+v", i+1, h, want[i])
		}
		if i > 0 && (h.score > got[i-1].score || h.score == got[i-1].score && h.doc < got[i-1].doc) {
			return fmt.Errorf("rank %d: %+v behind %+v", i+1, h, got[i-1])
		}
	}
	return nil
}

func TestSearchRanked(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	few := testneeds.OnDevice() && !testneeds.Full() // each command opens the device, which takes a second
	for i, test := range []struct {
		query   string
		weights map[string]float64
		mode    string
		args    string
		k1, b   float64
	}{
		{"w3 w9", map[string]float64{"w3": 1, "w9": 1}, "and", "", 0.9, 0.4},
		{"W3, w9! w3", map[string]float64{"w3": 2, "w9": 1}, "or", "", 0.9, 0.4},
		{"w3^2.5 nosuch^7 w9^0.5", map[string]float64{"w3": 2.5, "w9": 0.5}, "or", "", 0.9, 0.4},
		{"w2 w5 w7", map[string]float64{"w2": 1, "w5": 1, "w7": 1}, "or", "--k1 1.2 --b 0.75", 1.2, 0.75},
		{"w2", map[string]float64{"w2": 1}, "and-or", "--k1 0 --b 0", 0, 0},
	} {
		want := c.rank(test.weights, test.mode == "and", test.k1, test.b)
		args := append([]string{"search", "c.hdl", "--query", test.query, "--mode", test.mode, "--no-header"}, strings.Fields(test.args)...)
		got := c.readTSV(t, must(t, append(args, "--format", "tsv", "-k", "10000")...))
		if err := sameRanking(got, want); err != nil || len(want) < 10 {
			t.Errorf("%q, %s %s: %v", test.query, test.mode, test.args, err)
		}
		if few {
			return
		}
		if i > 0 {
			continue
		}
		// Every format prints the first ten of these documents.
		var text, run strings.Builder
		var object answer.Object
		for i, h := range got[:10] {
			fmt.Fprintf(&text, "%3d  %9.4f  %s\n", i+1, h.score, c.names[h.doc])
			fmt.Fprintf(&run, "1 Q0 %s %d %v heddle-%s-10-lucene-%v-%v\n", c.names[h.doc], i+1, h.score, test.mode, test.k1, test.b)
			object.Docs, object.Scores = append(object.Docs, c.names[h.doc]), append(object.Scores, h.score)
		}
		if out := must(t, args...); out != text.String() {
			t.Errorf("%q: %s, want %s", test.query, out, &text)
		}
		if out := must(t, append(args, "--format", "trec")...); out != run.String() {
			t.Errorf("%q: %s, want %s", test.query, out, &run)
		}
		var o answer.Object
		if err := json.Unmarshal([]byte(must(t, append(args, "--format", "jsonl")...)), &o); err != nil || o.Query != "1" || o.Text != test.query || o.Count != nil ||
			!slices.Equal(o.Docs, object.Docs) || !slices.Equal(o.Scores, object.Scores) {
			t.Errorf("%q: %+v, %v", test.query, o, err)
		}
	}
	// Mode and-or is and if this finds k documents, else or.
	if n := len(c.want("w20 w24")); n < 1 || n >= 10 {
		t.Fatalf("%d documents have both", n)
	}
	for k, mode := range map[string]string{"1": "and", "10": "or"} {
		args := []string{"search", "c.hdl", "--query", "w20 w24", "--no-header", "-k", k, "--mode"}
		if got, want := must(t, append(args, "and-or")...), must(t, append(args, mode)...); got != want {
			t.Errorf("and-or for %s documents: %s, want those of %s: %s", k, got, mode, want)
		}
	}
	for _, q := range []string{"", "?!", "nosuch", "nosuch w1"} {
		if got := must(t, "search", "c.hdl", "--mode", "and", "--query", q, "--no-header"); got != "" {
			t.Errorf("%q: %q", q, got)
		}
	}
}

// TestSearchRankedNothing checks that queries without matches have an answer, the first
// query included.
func TestSearchRankedNothing(t *testing.T) {
	buildCollection(t)
	for format, want := range map[string]string{
		"text":  "query 1: nosuch\nquery 2: w28 nosuch\n",
		"tsv":   "",
		"jsonl": `{"query":"1","text":"nosuch","docs":[],"scores":[]}` + "\n" + `{"query":"2","text":"w28 nosuch","docs":[],"scores":[]}` + "\n",
	} {
		got := heddleWith(t, "nosuch\nw28 nosuch\n", backendEnv(), "search", "c.hdl", "--mode", "and", "--queries", "-", "--no-header", "--format", format)
		if got.code != 0 || got.stdout != want {
			t.Errorf("%s: %v, want %s", format, got, want)
		}
	}
}

func TestSearchAny(t *testing.T) {
	c := buildCollection(t)
	for _, q := range []string{"w20 w25", "w20^3 nosuch w25", "nosuch", ""} {
		var want []string
		for d, name := range c.names {
			if c.freq(d, "w20")+c.freq(d, "w25") > 0 && strings.Contains(q, "w20") {
				want = append(want, name)
			}
		}
		if got := must(t, "search", "c.hdl", "--mode", "or", "--query", q, "--all"); got != lines(want, "") {
			t.Errorf("%q: %q, want %q", q, got, want)
		}
		if got := must(t, "search", "c.hdl", "--mode", "or", "--query", q, "--count"); got != fmt.Sprintf("1\t%d\n", len(want)) {
			t.Errorf("%q: %q, want %d", q, got, len(want))
		}
	}
	want := c.want("w3 w9")
	if got := must(t, "search", "c.hdl", "--mode", "and", "--query", "w3^2 w9", "--all"); got != lines(want, "") {
		t.Errorf("weights change the matches: %q, want %q", got, want)
	}
	var run strings.Builder
	for i, name := range want {
		fmt.Fprintf(&run, "1 Q0 %s %d 1 _\n", name, i+1)
	}
	if got := must(t, "search", "c.hdl", "--mode", "and", "--query", "w3 w9", "--all", "--format", "trec"); got != run.String() {
		t.Errorf("%s, want %s", got, &run)
	}
}

// TestRunHeader checks that a run starts with the settings that reproduce it.
func TestRunHeader(t *testing.T) {
	buildCollection(t)
	var info report.Index
	if err := json.Unmarshal([]byte(must(t, "index", "info", "c.hdl", "--json")), &info); err != nil {
		t.Fatal(err)
	}
	search := []string{"search", "c.hdl", "--query", "w3 w9", "--k1", "1.5", "--variant", "atire", "-k", "2", "--format"}
	plain := must(t, append(search, "tsv", "--no-header")...)
	for _, format := range []string{"text", "tsv"} {
		out := must(t, append(search, format)...)
		header, rest, _ := strings.Cut(out, "\n")
		for _, part := range []string{"# heddle version=", " mode=or k=2 variant=atire k1=1.5 b=0.4 ", " index=c.hdl checksum=" + info.Checksum + " ", " backend=", " device="} {
			if !strings.Contains(header, part) {
				t.Errorf("%s: no %q in %q", format, part, header)
			}
		}
		if strings.Count(rest, "\n") != 2 || format == "tsv" && rest != plain {
			t.Errorf("%s: %q, want %q", format, rest, plain)
		}
	}
	d := json.NewDecoder(strings.NewReader(must(t, append(search, "jsonl")...)))
	var first struct {
		Run struct {
			Mode, Variant, Checksum, Backend, Device, Index, Version string
			K                                                        int
			K1, B                                                    float64
		}
	}
	if err := d.Decode(&first); err != nil || first.Run.Mode != "or" || first.Run.K != 2 || first.Run.K1 != 1.5 || first.Run.Checksum != info.Checksum ||
		first.Run.Device == "" || first.Run.Version == "" || !d.More() {
		t.Errorf("%+v, %v", first, err)
	}
	r := heddle(t, append(search, "trec")...)
	if r.code != 0 || !strings.HasPrefix(r.stderr, "# heddle version=") || strings.Count(r.stderr, "\n") != 1 || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("trec: %+v", r)
	}
}

// TestStatistics checks that the statistics of the index itself change nothing, and that
// other statistics change scores.
func TestStatistics(t *testing.T) {
	c := buildCollection(t)
	tokens := uint64(0)
	for _, words := range c.words {
		tokens += uint64(len(words))
	}
	write := func(name string, st engine.Statistics) {
		b, err := json.Marshal(map[string]any{"docs": st.Docs, "length": st.Length, "df": st.DF})
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, string(b))
	}
	own := engine.Statistics{Docs: uint64(c.withTerms()), Length: tokens,
		DF: map[string]uint64{"w3": uint64(len(c.want("w3"))), "w9": uint64(len(c.want("w9")))}}
	write("own.json", own)
	own.Add(engine.Statistics{Docs: 1000, Length: 5000, DF: map[string]uint64{"w9": 500}})
	write("all.json", own)
	search := []string{"search", "c.hdl", "--query", "w3 w9", "--mode", "or", "--format", "tsv", "-k", "1000", "--no-header"}
	plain := must(t, search...)
	if got := must(t, append(search, "--statistics", "own.json")...); got != plain {
		t.Error("the index's own statistics change the ranking")
	}
	if got := must(t, append(search, "--statistics", "all.json")...); got == plain || strings.Count(got, "\n") != strings.Count(plain, "\n") {
		t.Error("other statistics change nothing, or the matches")
	}
	if got := must(t, "search", "c.hdl", "--query", "w3", "--statistics", "all.json"); !strings.Contains(got, " statistics=all.json ") {
		t.Errorf("no statistics in the header of %s", got)
	}
	writeFile(t, "bad.json", `{"docs": 1, "tokens": 5}`)
	wantFailure(t, heddle(t, append(search, "--statistics", "bad.json")...), exitCorrupt, "bad.json", `unknown member "tokens"`)
	wantFailure(t, heddle(t, append(search, "--statistics", "none.json")...), exitFailure, "none.json")
	wantFailure(t, heddle(t, append(search, "--statistics", "own.json", "--query", "w3 w5")...), exitUsage, `"w5"`)
	wantFailure(t, heddle(t, append(search, "--statistics", "own.json", "--all")...), exitUsage, "--statistics is for ranked results")
}

// TestTopicFiles checks that query files of all formats give the same answers.
func TestTopicFiles(t *testing.T) {
	buildCollection(t)
	var want strings.Builder
	for i, q := range []string{"w3 w9", "w20"} {
		for line := range strings.Lines(must(t, "search", "c.hdl", "--query", q, "--mode", "or", "--format", "tsv", "--no-header")) {
			want.WriteString(strconv.Itoa(i+7) + strings.TrimPrefix(line, "1"))
		}
	}
	for name, file := range map[string]string{
		"tsv":   "7\tw3 w9\n8\tw20\n",
		"colon": "7:w3 w9\n8:1:w20\n",
		"top":   "<top>\n<num> Number: 007\n<title> w3\nw9\n<desc> w1\n</top>\n<top>\n<num> 8\n<title> w20\n</top>\n",
		"jsonl": `{"id":7,"text":"w3 w9"}` + "\n" + `{"id":"8","vector":{"w20":1}}` + "\n",
	} {
		writeFile(t, "q.txt", file)
		search := []string{"search", "c.hdl", "--queries", "q.txt", "--syntax", "query", "--mode", "or", "--no-header"}
		if got := must(t, append(search, "--format", "tsv")...); got != want.String() || got == "" {
			t.Errorf("%s: %s, want %s", name, got, &want)
		}
		if got := must(t, search...); !strings.HasPrefix(got, "query 7") || strings.Count(got, "\nquery 8") != 1 {
			t.Errorf("%s: %s", name, got)
		}
	}
	writeFile(t, "q.txt", "1:w3\n")
	if got := must(t, "search", "c.hdl", "--queries", "q.txt", "--queries-format", "plain", "--mode", "and", "--count"); got != "1\t0\n" {
		t.Errorf("a plain text 1:w3 matches %q", got)
	}
}

// TestQueryErrors checks that an error of a query has its position, and that the other
// queries of a file have their answers.
func TestQueryErrors(t *testing.T) {
	c := buildCollection(t)
	for query, want := range map[string]string{
		`w0 "w1`: "column 4: a quote without", "title:w1": "column 1: the index has no fields",
		"w1~3": "column 3: 3 edits", "/w(1/": "column 1: missing closing )", "w1 OR": "column 4: nothing behind this OR",
		"!w1 AND": "column 5: nothing behind this AND",
	} {
		for _, args := range []string{"", "--count", "--syntax boolean"} {
			r := heddle(t, append([]string{"search", "c.hdl", "--query", query}, strings.Fields(args)...)...)
			if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, want) || !strings.HasSuffix(r.stderr, "^\n") {
				t.Errorf("%s %s: %+v, want %q", query, args, r, want)
			}
		}
		if r := heddle(t, "search", "c.hdl", "--syntax", "literal", "--query", query, "--no-header"); r.code != 0 {
			t.Errorf("%s as text: %+v", query, r)
		}
	}
	three := fmt.Sprintf("a\t%d\nc\t%d\n", len(c.want("w3")), len(c.want("w9")))
	for _, test := range []struct{ file, want, errors string }{
		{"a\tw3\nb\t\"w1\nc\tw9\n", three, "q.txt:2: column 1: a quote without"},
		{"a\tw3\nb\t-w1 AND\nc\tw9\n", three, "q.txt:2: column 5: nothing behind this AND"},
		{"a\tw3\n?!*\tw1*\nb\t?!*\nc\tw9\n", "", "q.txt:3: column 1: the analysis of the index makes 0 words"},
		{`{"id":"a","text":"w3"}` + "\n" + `{"vector":{"w0":-1}}` + "\n" + `{"id":"c","vector":{"w9":1}}`, three, "q.txt:2: weight -1"},
		{`{"id":"a","text":"w3"}` + "\n" + `{"vec` + "\n" + `{"id":"c","vector":{"w9":1}}`, three, "q.txt:2: "},
	} {
		writeFile(t, "q.txt", test.file)
		for _, explain := range []string{"--count", "--explain"} {
			r := heddle(t, "search", "c.hdl", "--queries", "q.txt", "--count", "--syntax", "query", explain)
			if r.code != exitFailure || !strings.Contains(r.stderr, test.errors) || !strings.Contains(r.stderr, "\nheddle search: q.txt: invalid lines without an answer: 1\n") {
				t.Errorf("%q: %+v, want %q", test.file, r, test.errors)
			}
			if test.want != "" && r.stdout != test.want {
				t.Errorf("%q: answers %q, want %q", test.file, r.stdout, test.want)
			}
		}
	}
	writeFile(t, "q.txt", "<top>\n")
	wantFailure(t, heddle(t, "search", "c.hdl", "--queries", "q.txt"), exitCorrupt, "q.txt:1: a <top> without </top>")
	// Ordinary text with a ^ is no error.
	writeFile(t, "q.txt", "10^-8 w3\nw9^x ^\n")
	if r := heddle(t, "search", "c.hdl", "--queries", "q.txt", "--count", "--mode", "or"); r.code != 0 || r.stdout != fmt.Sprintf("1\t%d\n2\t%d\n", len(c.want("w3")), len(c.want("w9"))) {
		t.Errorf("%+v", r)
	}
}

// TestExplainRanked checks the weights in an explanation, and that an explanation changes
// no answer.
func TestExplainRanked(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	search := []string{"search", "c.hdl", "--query", "w9^2 w0 nosuch", "--mode", "or", "--no-header"}
	plain := must(t, search...)
	r := heddle(t, append(search, "--explain")...)
	df := float64(len(c.want("w9")))
	idf := math.Log(1 + (c.withTerms()-df+0.5)/(df+0.5))
	for _, part := range []string{
		"query 1: w9^2 w0 nosuch\n", fmt.Sprintf("list     w9: %v documents, ", df), fmt.Sprintf(", weight %.4f\n", 2*idf),
		"unknown  nosuch: in no document\n", "mode     or\n", "best     10 documents in ",
	} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("no %q in\n%s", part, r.stderr)
		}
	}
	if r.code != 0 || r.stdout != plain {
		t.Errorf("--explain changes the answer: %+v, want %s", r, plain)
	}
	writeFile(t, "q.jsonl", `{"id":"v","vector":{"w9":2,"w0":1}}`+"\n")
	var o answer.Object
	if err := json.Unmarshal([]byte(must(t, "search", "c.hdl", "--queries", "q.jsonl", "--format", "jsonl", "--no-header", "--explain")), &o); err != nil {
		t.Fatal(err)
	}
	if o.Explain == nil || o.Explain.Mode != "or" || len(o.Explain.Lists) != 2 || o.Explain.Lists[0].Method != fmt.Sprintf("weight %.4f", 2*idf) || o.Explain.Matches != 10 {
		t.Errorf("%+v with %+v", o, o.Explain)
	}
}

// TestExplainAndOr: an explanation tells whether a query of the mode and-or ran again for any word.
func TestExplainAndOr(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	both := len(c.want("w9 w0"))
	if both == 0 || both == len(c.want("w0")) {
		t.Fatalf("%d documents have both words", both)
	}
	explain := func(query string, k int, more ...string) string {
		return heddle(t, append([]string{"search", "c.hdl", "--query", query, "--mode", "and-or", "-k", fmt.Sprint(k), "--explain"}, more...)...).stderr
	}
	const again = "ran again for any word\n"
	for said, want := range map[string]string{
		explain("w9 w0", both):                       "and-or: enough documents have all words\n",
		explain("w9 w0", both+1):                     "and-or: too few documents have all words, so the query " + again,
		explain("w9 w0", both+1, "--backend", "all"): "  too few documents have all words: 1 of the queries " + again,
		explain("w9 OR w0", both+1):                  "  mode     and-or\n",
	} {
		if !strings.Contains(said, want) || strings.Count(said, again) > 1 {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// TestRunIsEvaluated checks that eval reads the output of search.
func TestRunIsEvaluated(t *testing.T) {
	c := buildCollection(t)
	writeFile(t, "q.txt", "a\tw3 w9\nb\tw20\n")
	r := heddle(t, "search", "c.hdl", "--mode", "and", "--queries", "q.txt", "--format", "trec", "-k", "50")
	run, err := trec.ReadRun("run", strings.NewReader(r.stdout))
	if err != nil || r.code != 0 {
		t.Fatal(err, r.stderr)
	}
	both := len(c.want("w3 w9"))
	if both < 1 || both > 50 || len(run.Queries["a"]) != both || len(run.Queries["b"]) != min(len(c.want("w20")), 50) {
		t.Fatalf("%d and %d documents", len(run.Queries["a"]), len(run.Queries["b"]))
	}
	if err := os.WriteFile("qrels.txt", []byte("a 0 "+run.Queries["a"][0].Doc+" 1\nb 0 "+run.Queries["b"][1].Doc+" 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := heddleWith(t, r.stdout, nil, "eval", "-", "qrels.txt")
	if e.code != 0 || !strings.Contains(e.stdout, "recip_rank            \tall\t0.7500\n") {
		t.Errorf("%+v", e)
	}
}

// TestSearchImpacts checks that an index with impacts ranks by them and rejects another
// scoring.
func TestSearchImpacts(t *testing.T) {
	inTempDir(t)
	writeFile(t, "v.jsonl", `{"id":"a","vector":{"loom":5,"warp":3}}`+"\n"+`{"id":"b","vector":{"loom":7}}`+"\n")
	must(t, "index", "build", "-o", "v.hdl", "--impacts", "8", "v.jsonl")
	writeFile(t, "q.jsonl", `{"id":"q","vector":{"loom":1,"warp":0.5}}`+"\n")
	search := []string{"search", "v.hdl", "--queries", "q.jsonl", "--mode", "or", "--format", "tsv"}
	out := must(t, search...)
	header, rest, _ := strings.Cut(out, "\n")
	if !strings.Contains(header, " impacts=8 scale=") || !strings.Contains(header, " variant=weights index=") {
		t.Errorf("header %q", header)
	}
	var first, second float64
	// Scores are in units of the weights: b has 7, a has 5 + 3/2.
	if _, err := fmt.Sscanf(rest, "q\t1\tb\t%g\nq\t2\ta\t%g\n", &first, &second); err != nil || math.Abs(first-7) > 0.001 || math.Abs(second-6.5) > 0.03 {
		t.Errorf("%q, %v", rest, err)
	}
	wantFailure(t, heddle(t, append(search, "--k1", "1")...), exitUsage, "the index holds impacts")
}

// TestSearchTotal prints the number of documents that match a ranked query, of an index and of a collection.
func TestSearchTotal(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tred loom\nb\tblue loom\nc\tred sheep\n")
	must(t, "index", "build", "-o", "d.hdl", "--format", "text", "d.tsv")
	must(t, "collection", "create", "d")
	must(t, "collection", "add", "d", "--format", "text", "d.tsv")
	writeFile(t, "q.tsv", "q\tred loom\n")
	for _, path := range []string{"d.hdl", "d"} {
		for args, want := range map[string]string{
			"--query loom -k 1 --total":                                 "  1     0.2474  a\ntotal\t2\n",
			"--query loom --total=1 -k 0":                               "total\t1+\n",
			"--query loom --total=2 -k 0 --format tsv":                  "1\ttotal\t2\n",
			"--query * -k 1 --total --format jsonl":                     `{"query":"1","text":"*","total":{"value":3,"exact":true},"docs":["a"],"scores":[0]}` + "\n",
			"--queries q.tsv --mode and --total -k 0":                   "q\ttotal\t1\n",
			"--queries q.tsv --mode and-or --total -k 1 --format tsv":   "q\t1\ta\t0.49474066868424416\nq\ttotal\t1\n",
			"--queries q.tsv --mode and-or --total -k 3 --format jsonl": `"total":{"value":3,"exact":true}`,
		} {
			got := must(t, append([]string{"search", path, "--no-header"}, strings.Fields(args)...)...)
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %q, want %q", path, args, got, want)
			}
		}
		for _, args := range []string{"--total=0", "--total=many", "--total --all", "--total --count", "--total --exclude-self", "--total --syntax boolean", "--total --format trec"} {
			if r := heddle(t, append([]string{"search", path, "--query", "loom"}, strings.Fields(args)...)...); r.code != exitUsage {
				t.Errorf("%s: %+v", args, r)
			}
		}
	}
}
