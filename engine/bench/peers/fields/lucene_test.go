package fields

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/bench/peers/lucene"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

var fields = []string{"book", "title", "body"}

// verse is the texts of the fields.
type verse [3]string

// bible returns the verses of the Bible: the letters of the book, the first one to six words as a title, and the rest. A third of
// the verses has no title, a tenth no book.
func bible(t *testing.T, r *rand.Rand) (verses []verse) {
	t.Helper()
	for line := range strings.Lines(string(lucene.Bible(t))) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var v verse
		if r.IntN(10) > 0 {
			v[0] = strings.Trim(name, "0123456789:")
		}
		words := strings.Split(text, " ")
		n := 0
		if r.IntN(3) > 0 {
			n = min(1+r.IntN(6), len(words))
		}
		v[1], v[2] = strings.Join(words[:n], " "), strings.Join(words[n:], " ")
		verses = append(verses, v)
	}
	return verses
}

// inputs writes the verses for heddle and for Lucene. Half of the fields without a text are members with an empty text.
func inputs(t *testing.T, r *rand.Rand, verses []verse) (own, theirs string) {
	t.Helper()
	var objects, lines strings.Builder
	for i, v := range verses {
		members := map[string]string{"id": strconv.Itoa(i)}
		for f, text := range v {
			if text != "" || r.IntN(2) == 0 {
				members[fields[f]] = text
			}
		}
		object, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		objects.Write(append(object, '\n'))
		lines.WriteString(strings.Join(v[:], "\t") + "\n")
	}
	dir := t.TempDir()
	own, theirs = filepath.Join(dir, "verses.jsonl"), filepath.Join(dir, "verses.tsv")
	for path, text := range map[string]string{own: objects.String(), theirs: lines.String()} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return own, theirs
}

// open indexes the file as Lucene does.
func open(t *testing.T, input string, stops []string) *engine.Index {
	t.Helper()
	opt := build.DefaultOptions()
	opt.Format, opt.Fields, opt.Positions, opt.StopWords, opt.Lengths = build.JSONL, fields, true, stops, hdl.LengthsLucene
	return lucene.Open(t, input, opt)
}

// random draws a query and writes it for Lucene: words, phrases and groups of words, in one field or in the fields of the query,
// with weights and marks.
func random(r *rand.Rand, verses []verse) (q engine.Query, line string) {
	q.K = lucene.Most
	inside := "book^1,title^1,body^1"
	switch r.IntN(4) {
	case 0:
		inside, q.QueryFields = "title^3,body^1", "title^3,body"
	case 1:
		inside, q.QueryFields = "body^0.5,book^2.25", "body^0.5,book^2.25"
	}
	mode := "OR"
	if r.IntN(2) == 0 {
		mode, q.Match = "AND", engine.And
	}
	verse := verses[r.IntN(len(verses))]
	for i := range 1 + r.IntN(4) {
		if r.IntN(3) == 0 {
			verse = verses[r.IntN(len(verses))]
		}
		from := r.IntN(len(fields))
		words := strings.FieldsFunc(strings.ToLower(verse[from]), func(c rune) bool { return c < 'a' || c > 'z' })
		if len(words) == 0 {
			words = []string{"lord", "god"}
		}
		mark, weight, in, slop := "=", "1", inside, "0"
		if r.IntN(3) == 0 {
			if mark = string("+-"[r.IntN(2)]); i == 0 {
				mark = "+"
			}
			q.Text += mark
		}
		if mark == "=" && mode == "AND" {
			mark = "+"
		}
		if r.IntN(2) == 0 { // in most cases the field that has the words
			if r.IntN(4) == 0 {
				from = r.IntN(len(fields))
			}
			in = fields[from] + "^1"
			q.Text += fields[from] + ":"
		}
		n := min(2+r.IntN(2), len(words))
		at := r.IntN(len(words) - n + 1)
		text := strings.Join(words[at:at+n], " ")
		switch r.IntN(4) {
		case 0:
			slop = strconv.Itoa(r.IntN(4))
			q.Text += fmt.Sprintf(`"%s"~%s`, text, slop)
		case 1:
			slop = mode
			var group string
			group, text = inGroup(r, in, words[at:at+n], mark != "=")
			q.Text += "(" + group + ")"
		default:
			text = words[at]
			q.Text += text
		}
		if r.IntN(3) == 0 {
			weight = []string{"0.25", "2", "7.5"}[r.IntN(3)]
			q.Text += "^" + weight
		}
		q.Text += " "
		line += strings.Join([]string{mark, weight, in, slop, text}, " ") + "\t"
	}
	return q, strings.TrimSuffix(line, "\t")
}

// inGroup gives some words a field of their own and excludes some, for heddle and for Lucene. Only groups that must match exclude
// words: the words of others add to scores in heddle even where the group does not match.
func inGroup(r *rand.Rand, in string, words []string, must bool) (own, theirs string) {
	for i, w := range words {
		mark, within := "=", in
		if i > 0 && must && r.IntN(5) == 0 {
			mark = "-"
			own += mark
		}
		if r.IntN(4) == 0 {
			f := fields[r.IntN(len(fields))]
			own, within = own+f+":", f+"^1"
		}
		own += w + " "
		theirs += mark + ":" + within + ":" + w + " "
	}
	return strings.TrimSpace(own), strings.TrimSpace(theirs)
}

// TestLucene compares documents, their order and their scores.
func TestLucene(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two indexes and starts Java")
	}
	classes := lucene.Compile(t, "Fields.java")
	n := 200
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		n = 10000
	}
	for _, c := range []struct {
		name  string
		stops []string
		tie   float64 // of a DisjunctionMaxQuery; -1: scores add up
	}{{"all words", nil, -1}, {"stop words", []string{"and", "in", "of", "that", "the", "to"}, -1}, {"best field", nil, 0}, {"tie", nil, 0.3}} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, 8))
			verses := bible(t, r)
			own, theirs := inputs(t, r, verses)
			x := open(t, own, c.stops)
			var queries []engine.Query
			var lines []string
			for range n {
				q, line := random(r, verses)
				if c.tie >= 0 {
					q.Tie = &c.tie
				}
				queries, lines = append(queries, q), append(lines, line)
			}
			found, places := 0, 0
			for i, want := range lucene.Answers(t, classes, lines, "Fields", theirs, strings.Join(c.stops, ","), strings.Join(fields, ","), strconv.Itoa(lucene.Most), fmt.Sprint(c.tie)) {
				q := queries[i]
				hits, err := x.Search(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", q.Text, err)
				}
				if err := lucene.Compare(&hits, want); err != nil {
					t.Errorf("%s in %q, %s (%s): %v", q.Text, q.QueryFields, q.Match, lines[i], err)
				}
				if places += len(want); len(want) > 0 {
					found++
				}
				q.K = 10
				first := min(q.K, len(hits.Docs))
				if few, err := x.Search(t.Context(), q); err != nil || !slices.Equal(few.Docs, hits.Docs[:first]) || !slices.Equal(few.Scores, hits.Scores[:first]) {
					t.Errorf("%s: the best 10 are %v, %v; want %v", q.Text, few.Docs, err, hits.Docs[:first])
				}
			}
			if found < n/2 {
				t.Errorf("%d of %d queries have documents", found, n)
			}
			t.Logf("%d queries, %d with documents, %d places", n, found, places)
		})
	}
}
