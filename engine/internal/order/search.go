package order

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// Ask asks for the documents of a part in an order.
type Ask struct {
	*Spec
	Query  *query.Query // K is the number of documents; the match must not be querylang.AllElseAny
	Filter *filter.Filter
	Call   lists.Call
	Table  *tables.Table // attribute table; nil: none
	First  uint64        // number of the first document of the part in the whole
	// Seen asks for Answer.Seen in place of documents. Default: nil.
	Seen []Value
}

// Answer is the first documents in the order.
type Answer struct {
	Places []Place // Doc is a number in the whole
	Unit   float64
	Count  uint64   // documents with the least score, in all of the part
	Seen   []uint32 // by value of Ask.Seen: documents up to Spec.After, at most Spec.Most
}

// Memory of a matching document while they are put in order, in bytes: its number and its score, the value of a
// column, and its place in a group.
const (
	docBytes    = 12
	columnBytes = 9
	groupBytes  = 64
)

// memory is the memory of a matching document.
func (s *Spec) memory() int64 {
	n := docBytes + columnBytes*int64(len(s.Attributes()))
	if s.Collapse != "" {
		n += groupBytes
	}
	return n
}

// Search answers a query.
func (a *Ask) Search(ctx context.Context, g *lists.Generation, in *filter.Compiler) (out Answer, err error) {
	ctx, stop := g.Bounded(ctx, &a.Call.Call)
	defer stop()
	asked := *a.Query // Search gives its query back
	match := query.Get()
	match.Text, match.Literal, match.Terms, match.Weights, match.Expr = asked.Text, asked.Literal, asked.Terms, nil, asked.Expr
	match.Options = asked.Documents(asked.Match)
	call := a.Call
	if s := a.sorter(g, in, asked.K); s != nil {
		match.Sorter, call.Fresh = s, true
	}
	found, err := in.Search(ctx, g, match, a.Filter, &call)
	if err != nil {
		return out, err
	}
	release, err := limit.Memory(ctx, a.memory()*int64(len(found.Docs)))
	if err != nil {
		return out, err
	}
	defer release()
	r := run{a, ctx, g, in, &asked, 0}
	x := sorter{Spec: a.Spec, docs: slices.Clone(found.Docs), first: a.First}
	if a.needsScores() {
		if x.scores, err = r.scores(x.docs); err != nil {
			return out, err
		}
		x.least(a.MinScore)
	}
	if out.Count = uint64(len(x.docs)); found.First {
		out.Count = found.Count
	}
	if x.columns, err = r.read("sort", a.Columns(), x.docs); err != nil {
		return out, err
	}
	if a.Collapse != "" {
		of, err := r.read("collapse", []string{a.Collapse}, x.docs)
		if err != nil {
			return out, err
		}
		x.group = &of[0]
	}
	if a.Seen != nil {
		out.Seen, err = x.seen(ctx, a.Seen)
		return out, err
	}
	best, err := x.best(ctx, asked.K)
	if err != nil {
		return out, err
	}
	out.Places = make([]Place, len(best))
	for i, at := range best {
		x.place(at, &out.Places[i])
	}
	if x.scores == nil { // the scores of the answer alone
		err = r.complete(out.Places)
	}
	out.Unit = r.unit
	if e := a.Call.Explain; e != nil {
		e.Order = fmt.Sprintf("%s: pure Go, %d documents", a.signature(), out.Count)
		if found.First {
			e.Order = fmt.Sprintf("%s: the processor of the matches, %d documents; pure Go, %d of them", a.signature(), out.Count, len(x.docs))
		}
	}
	return out, err
}

// sorter finds the first k documents on the processor that matches the query, if no more than attributes decide which ones
// these are; nil if pure Go needs all documents.
func (a *Ask) sorter(g *lists.Generation, in *filter.Compiler, k int) query.Sorter {
	if a.Table == nil || a.Collapse != "" || a.MinScore > 0 || a.After != nil || a.Seen != nil {
		return nil
	}
	var keys []tables.SortKey
	for _, key := range a.Keys {
		if key.Column == "" {
			break
		}
		keys = append(keys, tables.SortKey(key))
	}
	if len(keys) == 0 {
		return nil
	}
	t, err := in.Open(a.Table)
	if err != nil || filter.CheckRows(g, t) != nil {
		return nil // read reports it
	}
	if s, ok := t.NewSorter(keys, k, len(keys) < len(a.Keys)); ok {
		return s
	}
	return nil
}

// least keeps the documents with a least score.
func (x *sorter) least(score float64) {
	n := 0
	for i, s := range x.scores {
		if s >= score {
			x.docs[n], x.scores[n] = x.docs[i], s
			n++
		}
	}
	x.docs, x.scores = x.docs[:n], x.scores[:n]
}

// run is a Search.
type run struct {
	*Ask
	ctx   context.Context
	g     *lists.Generation
	in    *filter.Compiler
	query *query.Query
	unit  float64 // value of 1 in the sums behind the scores
}

// scores returns the scores of matching documents, which ascend.
func (r *run) scores(docs []uint32) (scores []float64, err error) {
	if scores, r.unit, err = r.g.Scores(r.ctx, r.query, &r.Call, docs); err != nil || r.Boost == nil {
		return scores, err
	}
	of, err := r.read("boost", []string{r.Boost.Column}, docs)
	if err != nil {
		return nil, err
	}
	return scores, r.Boost.add(scores, r.unit, &of[0])
}

// complete sets the scores of places.
func (r *run) complete(places []Place) error {
	docs := make([]uint32, len(places))
	for i, p := range places {
		docs[i] = uint32(p.Doc - r.First)
	}
	slices.Sort(docs)
	scores, err := r.scores(docs)
	if err != nil {
		return err
	}
	for i := range places {
		n, _ := slices.BinarySearch(docs, uint32(places[i].Doc-r.First))
		places[i].Score = scores[n]
	}
	return nil
}

// read returns the values of columns in documents, for a member of the query.
func (r *run) read(member string, names []string, docs []uint32) (all []values, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	if r.Table == nil {
		return nil, query.Option(fmt.Errorf("%s: the documents have no attributes: build the index or collection with an attribute table", member))
	}
	t, err := r.in.Open(r.Table)
	if err != nil {
		return nil, err
	}
	if err := filter.CheckRows(r.g, t); err != nil {
		return nil, err
	}
	for _, name := range names {
		if at, err := column.Named(t.Columns, name); err != nil {
			return nil, query.Option(fmt.Errorf("%s: %w", member, err))
		} else if t.Columns[at].Values != nil {
			return nil, query.Option(fmt.Errorf("%s: column %s has several values: documents have one place and one group", member, syntax.Quote(name)))
		}
	}
	until := r.g.Until(r.ctx, &r.Call.Call)
	b, err := t.Rows(&until, names, docs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", member, err)
	}
	for i := range b {
		all = append(all, values{&b[i]})
	}
	return all, nil
}
