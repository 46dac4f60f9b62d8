package phrases

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/bench/peers/lucene"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/cputime"
)

var stops = []string{"and", "in", "of", "that", "the", "to"}

// open indexes the file as Lucene does.
func open(t testing.TB, input string, stops []string) *engine.Index {
	t.Helper()
	opt := build.DefaultOptions()
	opt.Positions, opt.StopWords, opt.Lengths, opt.Format = true, stops, hdl.LengthsLucene, build.Text
	return lucene.Open(t, input, opt)
}

// query is a query in both languages.
type query struct{ lucene, heddle string }

// random draws a query from words of verses: phrases as they stand or with changes, with slop, prefixes and marks.
func random(r *rand.Rand, words [][]string, prefixes bool) (q query) {
	clauses := 1
	if r.IntN(3) == 0 {
		clauses += r.IntN(3)
	}
	for i := range clauses {
		verse := words[r.IntN(len(words))]
		n := min(2+r.IntN(4), len(verse))
		at := r.IntN(len(verse) - n + 1)
		phrase := append([]string(nil), verse[at:at+n]...)
		slop := 0
		if r.IntN(2) == 0 {
			slop = r.IntN(8)
		}
		switch r.IntN(5) {
		case 0:
			r.Shuffle(len(phrase), func(i, j int) { phrase[i], phrase[j] = phrase[j], phrase[i] })
		case 1:
			phrase[r.IntN(len(phrase))] = phrase[r.IntN(len(phrase))]
		case 2:
			phrase = append(phrase[:1], phrase[len(phrase)-1])
		}
		if prefixes && r.IntN(3) == 0 {
			if j := r.IntN(len(phrase)); len(phrase[j]) > 2 {
				phrase[j] = phrase[j][:2+r.IntN(len(phrase[j])-2)] + "*"
			}
		}
		mark := "="
		if clauses > 1 {
			mark = string("=+-"[r.IntN(3)])
		}
		if i == 0 && mark == "-" {
			mark = "="
		}
		text := strings.Join(phrase, " ")
		q.lucene += fmt.Sprintf("%s %d %s\t", mark, slop, text)
		q.heddle += fmt.Sprintf(`%s"%s"~%d `, strings.TrimPrefix(mark, "="), text, slop)
	}
	q.lucene = strings.TrimSuffix(q.lucene, "\t")
	return q
}

// TestLucene compares documents, their order and their scores.
func TestLucene(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two indexes and starts Java")
	}
	classes := lucene.Compile(t, "Phrases.java")
	input, words := lucene.Verses(t)
	n := 500
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		n = 10000
	}
	for name, stops := range map[string][]string{"all words": nil, "stop words": stops} {
		t.Run(name, func(t *testing.T) {
			x := open(t, input, stops)
			r := rand.New(rand.NewPCG(8, 7))
			var queries []query
			var lines []string
			for range n {
				q := random(r, words, stops == nil)
				queries, lines = append(queries, q), append(lines, q.lucene)
			}
			found := 0
			for i, want := range lucene.Answers(t, classes, lines, "Phrases", input, strings.Join(stops, ","), strconv.Itoa(lucene.Most)) {
				q := queries[i]
				hits, err := x.Search(t.Context(), engine.Query{Text: q.heddle, K: lucene.Most})
				if err != nil {
					t.Fatalf("%s: %v", q.heddle, err)
				}
				if err := lucene.Compare(&hits, want); err != nil {
					t.Errorf("%s (%s): %v", q.heddle, q.lucene, err)
				}
				if len(hits.Docs) > 0 {
					found++
				}
				n := min(10, len(hits.Docs))
				if few, err := x.Search(t.Context(), engine.Query{Text: q.heddle, K: 10}); err != nil || !slices.Equal(few.Docs, hits.Docs[:n]) || !slices.Equal(few.Scores, hits.Scores[:n]) {
					t.Errorf("%s: the best 10 are %v, %v; want %v", q.heddle, few.Docs, err, hits.Docs[:n])
				}
			}
			if found < n/2 {
				t.Errorf("%d of %d queries have documents", found, n)
			}
		})
	}
}

// BenchmarkPhrases measures the CPU time of phrases of 2 to 5 words, and of each number of words, beside that of Lucene after six
// rounds. heddle parses the queries, too. HEDDLE_BENCH_LINES is another file, of which each line is a name, a TAB and a text.
func BenchmarkPhrases(b *testing.B) {
	classes := lucene.Compile(b, "Phrases.java")
	input, words := lucene.Verses(b)
	if other := os.Getenv("HEDDLE_BENCH_LINES"); other != "" {
		text, err := os.ReadFile(other)
		if err != nil {
			b.Fatal(err)
		}
		input, words = other, lucene.Words(text)
	}
	x := open(b, input, nil)
	for _, c := range []struct {
		name        string
		least, most int
	}{{"2to5", 2, 5}, {"2", 2, 2}, {"3", 3, 3}, {"4", 4, 4}, {"5", 5, 5}} {
		b.Run(c.name, func(b *testing.B) { measure(b, x, classes, input, words, c.least, c.most) })
	}
}

func measure(b *testing.B, x *engine.Index, classes, input string, words [][]string, least, most int) {
	r := rand.New(rand.NewPCG(8, 7))
	var all []engine.Query
	var lines strings.Builder
	for len(all) < 2000 {
		verse := words[r.IntN(len(words))]
		n := min(least+r.IntN(most-least+1), len(verse))
		at := r.IntN(len(verse) - n + 1)
		text := strings.Join(verse[at:at+n], " ")
		all = append(all, engine.Query{Text: `"` + text + `"`, K: 10})
		lines.WriteString("= 0 " + text + "\n")
	}
	cmd := exec.Command("java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", classes, "Phrases", input, "", "10", "15")
	cmd.Stdin = strings.NewReader(lines.String())
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var theirs, own []float64
	for _, f := range strings.Fields(string(out))[6:] { // the compiler of Java has done its work
		ns, err := strconv.ParseFloat(f, 64)
		if err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, ns)
	}
	for b.Loop() {
		start := cputime.Total()
		for _, q := range all {
			if _, err := x.Search(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}
		own = append(own, float64(cputime.Total()-start))
	}
	for name, rounds := range map[string][]float64{"heddle": own, "lucene": theirs} {
		slices.Sort(rounds)
		rate := func(ns float64) float64 { return float64(len(all)) / ns * 1e9 }
		b.ReportMetric(rate(rounds[len(rounds)/2]), name+"/s")
		b.ReportMetric(100*(rounds[len(rounds)-1]-rounds[0])/rounds[len(rounds)/2], name+"-spread-%")
	}
}
