package cluster

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/split"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/order"
	"heddle/engine/plan/testneeds"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read/csv"
)

// written is a document with attributes, of which nil and "" are missing.
type written struct {
	name, text string
	year       *int // a multiple of 5, which files store in units
	site       string
	rate       *float64 // in quarters, so that positions between two of them are exact
}

// scored is a written document with its score.
type scored struct {
	written
	score float64
}

// attribute is the value of an attribute as a number and as a text; missing tells that there is none.
func (d *written) attribute(name string) (number float64, text string, missing bool) {
	switch {
	case name == "year" && d.year != nil:
		return float64(*d.year), "", false
	case name == "rate" && d.rate != nil:
		return *d.rate, "", false
	case name == "site" && d.site != "":
		return 0, d.site, false
	}
	return 0, "", true
}

// boosted adds a boost to a score in rational numbers.
func boosted(b *engine.Boost, d *written, score, unit float64) float64 {
	x, _, missing := d.attribute(b.Column)
	if missing {
		return score
	}
	number := func(text string) *big.Rat {
		r, _ := new(big.Rat).SetString(text)
		return r
	}
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	floor := func(r *big.Rat) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom())) }
	from := number(b.From)
	at := new(big.Rat).Sub(exact(x), from)
	at.Quo(at, new(big.Rat).Sub(number(b.To), from))
	if at.Sign() < 0 {
		at = new(big.Rat)
	} else if at.Cmp(exact(1)) > 0 {
		at = exact(1)
	}
	steps := floor(at.Mul(at, exact(1<<32)))
	sum := new(big.Rat).Mul(exact(math.Round(b.Weight/unit)), steps)
	sum = floor(sum.Add(sum.Quo(sum, exact(1<<32)), big.NewRat(1, 2)))
	sum.Add(sum, exact(math.Round(score/unit)))
	out, _ := sum.Mul(sum, exact(unit)).Float64()
	return out
}

// evaluate answers a query without pages in the plainest way, from all matching documents with their scores by relevance
// alone, in the order of the index. It returns the number of matches too.
func evaluate(q *engine.Query, all []scored, unit float64) (out []scored, total uint64) {
	for _, d := range all {
		if q.Boost != nil {
			d.score = boosted(q.Boost, &d.written, d.score, unit)
		}
		if d.score >= q.MinScore {
			out = append(out, d)
		}
	}
	total = uint64(len(out))
	keys := q.Sort
	if keys == nil {
		keys = []string{"score"}
	}
	slices.SortStableFunc(out, func(x, y scored) int {
		for _, key := range keys {
			name, direction, _ := strings.Cut(key, " ")
			if name == "score" {
				c := cmp.Compare(y.score, x.score)
				if direction == "asc" {
					c = -c
				}
				if c != 0 {
					return c
				}
				continue
			}
			a, s, none := x.attribute(name)
			b, t, neither := y.attribute(name)
			switch c := cmp.Or(cmp.Compare(a, b), strings.Compare(s, t)); {
			case none && neither:
			case none:
				return 1
			case neither:
				return -1
			case c != 0 && direction == "desc":
				return -c
			case c != 0:
				return c
			}
		}
		return 0
	})
	if q.Collapse == "" {
		return out, total
	}
	count := map[string]int{}
	return slices.DeleteFunc(out, func(d scored) bool {
		number, text, missing := d.attribute(q.Collapse)
		key := fmt.Sprint(number, text, missing)
		count[key]++
		return count[key] > max(q.CollapseLimit, 1)
	}), total
}

// forms are the same documents in a collection, in one file and in shards.
type forms struct {
	e          *engine.Engine
	collection *engine.Collection
	state      *engine.CollectionSnapshot // of the collection, for the pages of one query
	index      *engine.Index
	table      *engine.Table
	cluster    *Coordinator
}

// build makes a file and shards of documents.
func (f *forms) build(t *rapid.T, dir string, docs []written, cuts []uint64) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	lines, rows := "", "year,site,rate\n"
	for _, d := range docs {
		lines += d.name + "\t" + d.text + "\n"
		if d.year != nil {
			rows += fmt.Sprint(*d.year)
		}
		rows += "," + d.site + ","
		if d.rate != nil {
			rows += fmt.Sprint(*d.rate)
		}
		rows += "\n"
	}
	index, table, texts := filepath.Join(dir, "x.hdl"), filepath.Join(dir, "x.hdb"), filepath.Join(dir, "x.tsv")
	must(os.WriteFile(texts, []byte(lines), 0o644))
	_, err := indexbuild.Build(t.Context(), index, []string{texts}, indexbuild.Options{Format: indexbuild.Text})
	must(err)
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(rows), Types: map[string]column.Declared{"year": {Type: column.Int}, "site": {Type: column.String}, "rate": {Type: column.Float}}})
	must(err)
	defer src.Close()
	_, err = tablebuild.Build(t.Context(), src, table, tablebuild.Options{})
	must(err)
	open := func(index, table string) (*engine.Index, *engine.Table) {
		x, err := f.e.OpenIndex(t.Context(), index, engine.IndexOptions{})
		must(err)
		y, err := f.e.OpenTable(t.Context(), table, engine.TableOptions{})
		must(err)
		t.Cleanup(func() { x.Close(); y.Close() })
		return x, y
	}
	f.index, f.table = open(index, table)
	parts := filepath.Join(dir, "parts")
	l, err := split.File(t.Context(), index, parts, split.Options{Cuts: cuts, Attributes: table})
	must(err)
	m := newMachines()
	m.layout, l.Epoch = l, 1
	for i := range l.Shards {
		s := &l.Shards[i]
		x, y := open(filepath.Join(parts, s.File), filepath.Join(parts, s.Attributes.File))
		s.Replicas = []string{fmt.Sprint("n", i)}
		m.node(s.Replicas[0]).AddIndex("x", 1, i, x)
		m.node(s.Replicas[0]).AddAttributes("x", 1, i, y)
	}
	f.cluster = New(m, m, Options{})
}

// change changes the collection and the model of it.
func (f *forms) change(t *rapid.T, docs []written) []written {
	var err error
	name := func(label string) string { return fmt.Sprint("n", rapid.IntRange(0, 40).Draw(t, label)) }
	without := func(gone string) {
		docs = slices.DeleteFunc(docs, func(d written) bool { return d.name == gone })
	}
	switch rapid.IntRange(0, 6).Draw(t, "change") {
	case 0:
		gone := name("gone")
		_, err = f.collection.Delete(t.Context(), gone)
		without(gone)
	case 1:
		_, err = f.collection.Merge(t.Context())
	case 2:
		if len(docs) == 0 {
			break
		}
		d := docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")]
		d.site = rapid.SampledFrom([]string{"a", "b", "new"}).Draw(t, "site")
		_, err = f.collection.Update(t.Context(), slices.Values([]engine.Document{{Name: d.name, Members: map[string]any{"site": d.site}}}))
		without(d.name)
		docs = append(docs, d)
	default:
		var added []engine.Document
		for range rapid.IntRange(1, 12).Draw(t, "documents") {
			d := written{name: name("name"), text: strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"w0", "w0", "w1", "w2", "w3", "w4"}), 1, 6).Draw(t, "words"), " "),
				site: rapid.SampledFrom([]string{"", "a", "b", "c d", "é"}).Draw(t, "site")}
			members := map[string]any{}
			if d.site != "" {
				members["site"] = d.site
			}
			if year := 5 * rapid.IntRange(-1, 6).Draw(t, "year"); year >= 0 {
				d.year, members["year"] = &year, year
			}
			if rate := float64(rapid.IntRange(-9, 20).Draw(t, "rate")) / 4; rate != 0 {
				d.rate, members["rate"] = &rate, rate
			}
			without(d.name)
			added = slices.DeleteFunc(added, func(o engine.Document) bool { return o.Name == d.name })
			docs, added = append(docs, d), append(added, engine.Document{Name: d.name, Text: d.text, Members: members})
		}
		_, err = f.collection.Add(t.Context(), slices.Values(added))
	}
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// drawQuery draws a ranked query.
func drawQuery(t *rapid.T) engine.Query {
	q := engine.Query{Text: rapid.SampledFrom([]string{"w0 w3", "w2*", "w1 AND w4 NOT w0", "w0 w1 w2 w3 w4", "none", "*"}).Draw(t, "text"), K: rapid.SampledFrom([]int{1, 2, 5, 100}).Draw(t, "k"), Names: true,
		Match: rapid.SampledFrom([]engine.Match{engine.Or, engine.And}).Draw(t, "match"), Total: rapid.SampledFrom([]uint64{0, 5, engine.TotalExact}).Draw(t, "total"),
		Sort:     rapid.SampledFrom([][]string{nil, nil, {"year desc", "score"}, {"site"}, {"rate desc", "year"}, {"score asc"}, {"year", "site desc", "score desc"}}).Draw(t, "sort"),
		Collapse: rapid.SampledFrom([]string{"", "site", "site", "year", "rate"}).Draw(t, "collapse"),
		Boost:    rapid.SampledFrom([]*engine.Boost{nil, nil, {Column: "year", From: "0", To: "30", Weight: 1.7}, {Column: "year", From: "25", To: "7", Weight: 0.3}, {Column: "rate", From: "-2", To: "2.0", Weight: 3}, {Column: "rate", From: "4", To: "0", Weight: 1e-9}}).Draw(t, "boost")}
	if q.Collapse != "" {
		q.CollapseLimit = rapid.IntRange(0, 3).Draw(t, "collapse_limit")
	}
	if rapid.Bool().Draw(t, "filtered") {
		q.Filter = &engine.Filter{Where: rapid.SampledFrom([]string{"year >= 10", "site IS NULL", "TRUE", "rate < 1"}).Draw(t, "where")}
	}
	if rapid.Bool().Draw(t, "least") {
		q.MinScore = rapid.Float64Range(0, 2).Draw(t, "min_score")
	}
	return q
}

// found is a page of an answer.
type found struct {
	names  []string
	scores []float64
	total  engine.Total
	after  string
}

// ask answers a query in the form of a name.
func (f *forms) ask(t *rapid.T, form string, q engine.Query, batch bool) found {
	if q.Text == "*" && (len(q.Sort) > 0 || q.Collapse != "" || q.Boost != nil) && rapid.Bool().Draw(t, "without words") {
		q.Text = ""
	}
	qs := []engine.Query{q}
	if batch {
		qs = []engine.Query{{Text: "w1", K: 3, Names: true}, q}
	}
	var out found
	if form == "cluster" {
		all, _, err := f.cluster.SearchAll(t.Context(), "x", qs, api.Ask{Names: true})
		if err == nil {
			err = all[len(qs)-1].Err
		}
		if err != nil {
			t.Fatal(form, err)
		}
		h := all[len(qs)-1]
		return found{h.Names, h.Scores, h.Total, h.After}
	}
	all := f.state.SearchAll
	if form == "file" {
		all = f.index.SearchAll
		if qs[len(qs)-1].Table = f.table; q.Filter != nil {
			qs[len(qs)-1].Filter = on(q.Filter, f.table)
		}
	}
	if err := all(t.Context(), qs, func(first int, hits []engine.Hits) error {
		if at := len(qs) - 1 - first; at >= 0 && at < len(hits) {
			h := &hits[at]
			out = found{slices.Clone(h.Names), slices.Clone(h.Scores), h.Total, h.After}
		}
		return nil
	}); err != nil {
		t.Fatal(form, err)
	}
	return out
}

// check compares pages of a query in all forms with the plain evaluator.
func (f *forms) check(t *rapid.T, docs []written) {
	q := drawQuery(t)
	plain := engine.Query{Text: q.Text, Match: q.Match, K: 100, Names: true}
	if q.Filter != nil {
		plain.Filter = on(q.Filter, f.table)
	}
	h, err := f.index.Search(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	var matches []scored
	for _, d := range docs {
		if i := slices.Index(h.Names, d.name); i >= 0 {
			matches = append(matches, scored{d, h.Scores[i]})
		}
	}
	want, total := evaluate(&q, matches, h.Unit)
	compare := func(q *engine.Query, form string, got found, from int) {
		expected := want[min(from, len(want)):min(from+q.K, len(want))]
		if len(got.names) != len(expected) || len(got.scores) != len(expected) {
			t.Fatalf("%s: %+v, boost %+v: %d documents from %d on, want %d", form, q, q.Boost, len(got.names), from, len(expected))
		}
		for i, w := range expected {
			if got.names[i] != w.name || got.scores[i] != w.score {
				t.Fatalf("%s: %+v, boost %+v: place %d is %s of score %v, want %s of %v: unit %v, matches %+v", form, q, q.Boost, from+i, got.names[i], got.scores[i], w.name, w.score, h.Unit, matches)
			}
		}
		if n := min(total, q.Total); got.total.Value != n || q.Total > 0 && got.total.Exact != (total <= q.Total) {
			t.Fatalf("%s: %+v: total %+v, want %d of %d", form, q, got.total, n, total)
		}
		if (got.after != "") != (q.After != "" && len(expected) == q.K) {
			t.Fatalf("%s: %+v: cursor %q behind %d documents", form, q, got.after, len(expected))
		}
	}
	// A cursor is of one state, and merges in the background make others.
	f.state, err = f.collection.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer f.state.Close()
	batch := rapid.Bool().Draw(t, "batch")
	offset := rapid.IntRange(0, 12).Draw(t, "offset")
	for _, form := range []string{"file", "collection", "cluster"} {
		page := q
		page.Offset = offset
		compare(&page, form, f.ask(t, form, page, batch), offset)
		if q.MinScore > 0 && q.Total > 0 {
			count := q
			count.K, count.CountOnly, count.Sort, count.Collapse, count.CollapseLimit = 0, true, nil, "", 0
			compare(&count, form, f.ask(t, form, count, batch), 0)
		}
		page.Offset, page.After = 0, engine.FirstPage
		for from := 0; page.After != ""; from += q.K {
			got := f.ask(t, form, page, batch)
			compare(&page, form, got, from)
			page.After = got.after
		}
	}
}

// TestModel: after each of many changes a collection, a file and shards of its documents give the pages that a plain
// evaluator gives.
func TestModel(t *testing.T) {
	backend, device := testneeds.Backend()
	e, err := engine.New(t.Context(), engine.Options{Backend: backend, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	checks := 12
	if testneeds.Full() {
		checks = 300
	}
	depth := order.FirstDepth
	defer func() { order.FirstDepth = depth }()
	checking(t, checks, func(t *rapid.T) {
		more := rapid.SampledFrom([]int{0, 1, 5, 64}).Draw(t, "depth")
		order.FirstDepth = func(k int) int { return k + more }
		dir, err := os.MkdirTemp("", "model")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		f := &forms{e: e}
		f.collection, err = e.OpenCollection(t.Context(), filepath.Join(dir, "c"), engine.CollectionOptions{Create: &engine.CollectionSettings{Store: "source",
			Attributes: []engine.Attribute{{Name: "year", Type: "int"}, {Name: "site", Type: "string"}, {Name: "rate", Type: "float"}}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.collection.Close() })
		var docs []written
		for range rapid.IntRange(2, 6).Draw(t, "changes") {
			docs = f.change(t, docs)
		}
		if len(docs) == 0 {
			t.Skip("no documents")
		}
		cuts := rapid.SliceOfN(rapid.Uint64Range(0, uint64(len(docs))), 1, 3).Draw(t, "cuts")
		slices.Sort(cuts)
		f.build(t, dir, docs, cuts)
		for range rapid.IntRange(4, 8).Draw(t, "queries") {
			f.check(t, docs)
		}
	})
}

// checking is rapid.Check with some cases, unless the flag rapid.checks says another number.
func checking(t *testing.T, cases int, property func(*rapid.T)) {
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set(strconv.Itoa(cases)); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(checks.DefValue)
	}
	rapid.Check(t, property)
}
