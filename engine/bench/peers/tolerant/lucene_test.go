package tolerant

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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

// open indexes the file as Lucene does.
func open(t testing.TB, input string) *engine.Index {
	t.Helper()
	opt := build.DefaultOptions()
	opt.Lengths, opt.Format = hdl.LengthsLucene, build.Text
	return lucene.Open(t, input, opt)
}

var forms = [...]string{"similar", "wildcard", "regexp", "range"}

// leaf draws a word of a form in both languages.
func leaf(r *rand.Rand, form string, words []string) (own, theirs string) {
	word := words[r.IntN(len(words))]
	for len(word) < 3 {
		word = words[r.IntN(len(words))]
	}
	at, letter := r.IntN(len(word)), string(rune('a'+r.IntN(26)))
	switch form {
	case "similar":
		switch r.IntN(4) {
		case 0:
			word = word[:at] + letter + word[at:]
		case 1:
			word = word[:at] + letter + word[at+1:]
		}
		edits, fixed := 1+r.IntN(2), 0
		own = fmt.Sprintf("%s~%d", word, edits)
		if r.IntN(3) == 0 {
			fixed = r.IntN(4)
			own += fmt.Sprintf(",%d", fixed)
		}
		return own, fmt.Sprintf("similar %s %d %d", word, edits, fixed)
	case "wildcard":
		for {
			pattern := []string(nil)
			for _, c := range word {
				switch r.IntN(6) {
				case 0:
					pattern = append(pattern, "?")
				case 1:
					pattern = append(pattern, "*")
				default:
					pattern = append(pattern, string(c))
				}
			}
			text := strings.Join(pattern, "")
			// A * alone at the end is a prefix, a ? there is text.
			if rest := strings.TrimRight(text, "*?"); len(strings.ReplaceAll(strings.ReplaceAll(text, "*", ""), "?", "")) >= 2 && strings.ContainsAny(rest, "*?") {
				return text, "wildcard " + text
			}
		}
	case "regexp":
		text := ""
		for i := 0; i < len(word); i++ {
			c := word[i : i+1]
			switch r.IntN(12) {
			case 0:
				c = "."
			case 1:
				c = "[" + string(min(c[0], letter[0])) + "-" + string(max(c[0], letter[0])) + "]"
			case 2:
				c += "?"
			case 3:
				c += "*"
			case 4:
				c += "+"
			case 5:
				c = "(" + c + "|" + letter + letter + ")"
			case 6:
				c = ".{0,2}"
			case 7:
				c = "(" + c + ")*"
			}
			text += c
		}
		return "/" + text + "/", "regexp " + text
	case "range":
		ends := []string{word, word + letter}
		if r.IntN(2) == 0 {
			ends[1] = word[:at+1] + letter
		}
		slices.Sort(ends)
		open := [2]bool{r.IntN(2) == 0, r.IntN(2) == 0}
		low, high := "[", "]"
		if open[0] {
			low = "{"
		}
		if open[1] {
			high = "}"
		}
		if word > "y" && r.IntN(2) == 0 {
			ends[1] = "*"
		}
		return low + ends[0] + " TO " + ends[1] + high, fmt.Sprintf("range %s %s %s %s", ends[0], ends[1], low, high)
	}
	return word, "word " + word
}

// random draws a query: one or two words, of which the first one is of a form.
func random(r *rand.Rand, form string, words []string) (q engine.Query, line string) {
	q.K = lucene.Most
	for i := range 1 + r.IntN(2) {
		if i > 0 && r.IntN(2) == 0 {
			form = "word"
		}
		own, theirs := leaf(r, form, words)
		mark, weight := "=", "1"
		if i > 0 {
			mark = string("+-"[r.IntN(2)]) // Lucene joins equal terms of two optional clauses, and takes the document frequency of one
		}
		q.Text += strings.TrimPrefix(mark, "=") + "(" + own + ")"
		if r.IntN(3) == 0 {
			weight = []string{"0.25", "2", "7.5"}[r.IntN(3)]
			q.Text += "^" + weight
		}
		q.Text += " "
		line += strings.Join([]string{mark, weight, theirs}, " ") + "\t"
	}
	return q, strings.TrimSuffix(line, "\t")
}

// TestLucene compares documents, their order and their scores.
func TestLucene(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two indexes and starts Java")
	}
	classes := lucene.Compile(t, "Tolerant.java")
	input, verses := lucene.Verses(t)
	words := slices.Concat(verses...)
	x := open(t, input)
	n := 50
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		n = 2500
	}
	r := rand.New(rand.NewPCG(8, 9))
	var queries []engine.Query
	var lines []string
	for i := range n * len(forms) {
		q, line := random(r, forms[i%len(forms)], words)
		queries, lines = append(queries, q), append(lines, line)
	}
	for _, score := range []string{"sum", "best"} {
		t.Run(score, func(t *testing.T) {
			var found, places, large [len(forms)]int
			for i, want := range lucene.Answers(t, classes, lines, "Tolerant", input, strconv.Itoa(lucene.Most), score) {
				q, form := queries[i], i%len(forms)
				q.Expansion.Best = score == "best"
				hits, err := x.Search(t.Context(), q)
				if err != nil && strings.Contains(err.Error(), "limits.expansions") {
					large[form]++
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", q.Text, err)
				}
				if err := lucene.Compare(&hits, want); err != nil {
					t.Errorf("%s (%s): %v", q.Text, lines[i], err)
				}
				if places[form] += len(want); len(want) > 0 {
					found[form]++
				}
			}
			for i, form := range forms {
				if found[i] < n/2 || large[i] > n/20 {
					t.Errorf("%s: %d of %d queries have documents, %d too many terms", form, found[i], n, large[i])
				}
				t.Logf("%s: %d queries, %d with documents, %d places, %d with too many terms", form, n, found[i], places[i], large[i])
			}
		})
	}
}

// rounds is the number of rounds of a benchmark, of each side in turn, behind a first one of Java.
const rounds, first = 9, 6

// BenchmarkTolerant measures the CPU time of one word of each form, in turns with Lucene. Both parse the queries, too.
func BenchmarkTolerant(b *testing.B) {
	classes := lucene.Compile(b, "Tolerant.java")
	input, verses := lucene.Verses(b)
	words := slices.Concat(verses...)
	x := open(b, input)
	for _, form := range forms {
		b.Run(form, func(b *testing.B) { measure(b, x, classes, input, words, form) })
	}
}

func measure(b *testing.B, x *engine.Index, classes, input string, words []string, form string) {
	r := rand.New(rand.NewPCG(8, 10))
	var all []engine.Query
	var lines strings.Builder
	for len(all) < 500 {
		own, theirs := leaf(r, form, words)
		q := engine.Query{Text: own, K: 10}
		if _, err := x.Search(b.Context(), q); err == nil {
			all = append(all, q)
			lines.WriteString("= 1 " + theirs + "\n")
		}
	}
	cmd := exec.Command("java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", classes, "Tolerant", input, "10", "sum")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	answers := bufio.NewReaderSize(out, 1<<20)
	line := func() string {
		text, err := answers.ReadString('\n')
		if err != nil {
			b.Fatalf("%v: %s", err, &errs)
		}
		return strings.TrimSpace(text)
	}
	if _, err := io.WriteString(in, lines.String()+"\n"); err != nil {
		b.Fatal(err)
	}
	for range all {
		line()
	}
	var theirs, own []float64
	for b.Loop() {
		for i := range first + rounds {
			if _, err := io.WriteString(in, "\n"); err != nil {
				b.Fatal(err)
			}
			ns, err := strconv.ParseFloat(line(), 64)
			if err != nil {
				b.Fatal(err)
			}
			start := cputime.Total()
			for _, q := range all {
				if _, err := x.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			if i >= first { // the compiler of Java has done its work
				theirs, own = append(theirs, ns), append(own, float64(cputime.Total()-start))
			}
		}
	}
	for name, rounds := range map[string][]float64{"heddle": own, "lucene": theirs} {
		slices.Sort(rounds)
		rate := func(ns float64) float64 { return float64(len(all)) / ns * 1e9 }
		b.ReportMetric(rate(rounds[len(rounds)/2]), name+"/s")
		b.ReportMetric(100*(rounds[len(rounds)-1]-rounds[0])/rounds[len(rounds)/2], name+"-spread-%")
	}
}
