package orders

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/bench/peers/lucene"
	"heddle/engine/index"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/table"
	tablebuild "heddle/engine/table/build"
)

// columns are attributes of a verse: its book, the number of the book from -33, its chapter, and its place in the chapter in eighths.
var columns = []table.Column{{Name: "book", Type: "string"}, {Name: "number", Type: "int"}, {Name: "chapter", Type: "int"}, {Name: "part", Type: "float"}}

// verse is a document with a value for each column, of which nil is missing.
type verse struct {
	text   string
	values []any
}

var place = regexp.MustCompile(`^(\d?[A-Za-z]+)(\d+):(\d+)$`)

// bible returns the verses of the Bible, and leaves out a fifth of the values.
func bible(t *testing.T, r *rand.Rand) (verses []verse) {
	t.Helper()
	text := lucene.Bible(t)
	number, last := int64(-34), ""
	for line := range strings.Lines(string(text)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		m := place.FindStringSubmatch(name)
		if m == nil {
			t.Fatalf("verse %q", name)
		}
		if m[1] != last {
			number, last = number+1, m[1]
		}
		chapter, _ := strconv.ParseInt(m[2], 10, 64)
		part, _ := strconv.ParseFloat(m[3], 64)
		v := verse{text, []any{m[1], number, chapter, part/8 - 2}}
		for i := range v.values {
			if r.IntN(5) == 0 {
				v.values[i] = nil
			}
		}
		verses = append(verses, v)
	}
	return verses
}

// letters splits texts at all but the letters a to z, which Lucene and heddle split alike.
func letters(c rune) bool { return c < 'a' || c > 'z' }

// commits returns the commit messages in a file, REPOSITORY:HASH TAB TEXT a line, whose attributes are the repository, its number,
// the number of words modulo 50 and the place in eighths; a fifth of the values is left out.
func commits(t *testing.T, path string, r *rand.Rand) (verses []verse) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		repository, _, _ := strings.Cut(name, ":")
		if _, ok := numbers[repository]; !ok {
			numbers[repository] = int64(len(numbers)) - 3
		}
		words := strings.FieldsFunc(strings.ToLower(text), letters)
		if len(words) == 0 {
			continue
		}
		v := verse{strings.Join(words, " "), []any{repository, numbers[repository], int64(len(words) % 50), float64(len(verses)%1000)/8 - 2}}
		for i := range v.values {
			if r.IntN(5) == 0 {
				v.values[i] = nil
			}
		}
		verses = append(verses, v)
	}
	return verses
}

// export writes the verses for Lucene.
func export(t *testing.T, verses []verse) (path string) {
	t.Helper()
	var b strings.Builder
	for _, v := range verses {
		for _, x := range v.values {
			if x != nil {
				fmt.Fprint(&b, x)
			}
			b.WriteByte('\t')
		}
		b.WriteString(v.text + "\n")
	}
	path = filepath.Join(t.TempDir(), "verses.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// open builds an index of the verses, whose lengths are as coarse as Lucene's, and their attribute table.
func open(t *testing.T, verses []verse) (*engine.Index, *engine.Table) {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	opt := indexbuild.DefaultOptions()
	opt.Lengths = hdl.LengthsLucene
	docs, err := index.NewWriter(ctx, filepath.Join(dir, "verses.hdl"), opt)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.NewWriter(ctx, filepath.Join(dir, "verses.hdb"), columns, tablebuild.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verses {
		if err := docs.Add(index.Document{Name: strconv.Itoa(i), Text: v.text}); err != nil {
			t.Fatal(err)
		}
		if err := rows.Write(v.values...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := docs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	x, err := e.OpenIndex(ctx, filepath.Join(dir, "verses.hdl"), engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	a, err := e.OpenTable(ctx, filepath.Join(dir, "verses.hdb"), engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return x, a
}

// random draws a query and writes it for Lucene. A query without text is for all documents.
func random(r *rand.Rand, verses []verse, attributes *engine.Table) (q engine.Query, line string) {
	q.Table, q.K, q.Total = attributes, []int{1, 10, 100, 1000}[r.IntN(4)], engine.TotalExact
	if r.IntN(2) == 0 {
		q.Offset = r.IntN(200)
	}
	if r.IntN(2) == 0 {
		q.Total = uint64(1 + r.IntN(2000))
	}
	var words []string
	if r.IntN(8) > 0 {
		for i := range 1 + r.IntN(4) {
			all := strings.FieldsFunc(strings.ToLower(verses[r.IntN(len(verses))].text), letters)
			word := []string{"", "", "+", "-"}[r.IntN(4)] + all[r.IntN(len(all))]
			if i == 0 {
				word = strings.TrimPrefix(word, "-")
			}
			if r.IntN(4) == 0 && word[0] != '-' {
				word += "^" + strconv.Itoa(2+r.IntN(3))
			}
			words = append(words, word)
		}
	}
	q.Text = strings.Join(words, " ")
	var chapter string
	if r.IntN(4) == 0 {
		chapter = strconv.Itoa(1 + r.IntN(40))
		q.Filter = &engine.Filter{Where: "chapter <= " + chapter, Table: attributes}
	}
	if q.Text == "" || r.IntN(4) > 0 {
		names := []string{"book", "number", "chapter", "part", "score"}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:1+r.IntN(3)] {
			q.Sort = append(q.Sort, name+[]string{" asc", " desc"}[r.IntN(2)])
		}
	}
	if r.IntN(2) == 0 {
		q.Collapse, q.CollapseLimit = columns[r.IntN(len(columns))].Name, 1+r.IntN(3)
	}
	order := strings.Join(q.Sort, ",")
	if order == "" {
		order = "score desc"
	}
	return q, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\n", q.Text, chapter, order, q.Collapse, q.CollapseLimit, q.Offset+q.K)
}

// TestLucene compares totals, documents, their order and their scores, on the Bible or the commit messages in the file that the
// environment variable HEDDLE_COMMITS names.
func TestLucene(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two indexes and starts Java")
	}
	classes := lucene.Compile(t, "Orders.java")
	r := rand.New(rand.NewPCG(8, 8))
	var verses []verse
	if path := os.Getenv("HEDDLE_COMMITS"); path != "" {
		verses = commits(t, path, r)
	} else {
		verses = bible(t, r)
	}
	x, attributes := open(t, verses)
	n := 500
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		n = 10000
	}
	var queries []engine.Query
	var lines strings.Builder
	for range n {
		q, line := random(r, verses, attributes)
		queries = append(queries, q)
		lines.WriteString(line)
	}
	cmd := exec.Command("java", "-Xmx1g", "-cp", classes, "Orders", export(t, verses))
	cmd.Stdin = strings.NewReader(lines.String())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	answers := bufio.NewScanner(bytes.NewReader(out))
	answers.Buffer(nil, 1<<24)
	places, swapped, answered := 0, 0, 0
	for _, q := range queries {
		if !answers.Scan() {
			t.Fatalf("%d answers: %s", answered, &errs)
		}
		answered++
		hits, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		s, err := compare(&q, &hits, verses, strings.Fields(answers.Text()))
		if err != nil {
			t.Errorf("%q, filter %v, sort %q, collapse %s to %d, %d from %d: %v", q.Text, q.Filter != nil, q.Sort, q.Collapse, q.CollapseLimit, q.K, q.Offset, err)
		}
		places += len(hits.Docs)
		swapped += s
	}
	t.Logf("%d queries, %d places, %d swapped", n, places, swapped)
	if places < 50*n || swapped > places/10000 {
		t.Errorf("%d queries have %d documents, of which %d changed places", n, places, swapped)
	}
}

// near reports whether two scores differ by less than the error of a float.
func near(x, y float64) bool { return math.Abs(x-y) <= 1e-5*math.Abs(y) }

// compare compares an answer with the total and the document:score of Lucene, and returns the number of documents that changed places:
// the keys of their orders before the score are equal, and the scores are near.
func compare(q *engine.Query, hits *engine.Hits, verses []verse, answer []string) (swapped int, err error) {
	total, err := strconv.ParseUint(answer[0], 10, 64)
	if err != nil {
		return 0, err
	}
	if want := (engine.Total{Value: min(total, q.Total), Exact: total <= q.Total}); hits.Total != want {
		return 0, fmt.Errorf("total %+v, want %+v", hits.Total, want)
	}
	answer = answer[1:]
	answer = answer[min(q.Offset, len(answer)):]
	if len(hits.Docs) != len(answer) {
		return 0, fmt.Errorf("%d documents, want %d", len(hits.Docs), len(answer))
	}
	for i, a := range answer {
		doc, text, _ := strings.Cut(a, ":")
		d, err := strconv.ParseUint(doc, 10, 32)
		if err != nil {
			return 0, err
		}
		score, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		if got := uint64(hits.Docs[i]); got != d {
			if !exchangeable(q.Sort, verses[got].values, verses[d].values) || !near(hits.Scores[i], score) {
				return 0, fmt.Errorf("place %d: document %d %v of score %v, want %d %v of %v", i, got, verses[got].values, hits.Scores[i], d, verses[d].values, score)
			}
			swapped++
		} else if q.Text != "" && !near(hits.Scores[i], score) {
			return 0, fmt.Errorf("document %d has the score %v, want %v", d, hits.Scores[i], score)
		}
	}
	return swapped, nil
}

// exchangeable reports whether the score decides between documents with these values.
func exchangeable(order []string, x, y []any) bool {
	for _, key := range order {
		name, _, _ := strings.Cut(key, " ")
		if name == "score" {
			return true
		}
		i := slices.IndexFunc(columns, func(c table.Column) bool { return c.Name == name })
		if x[i] != y[i] {
			return false
		}
	}
	return order == nil
}
