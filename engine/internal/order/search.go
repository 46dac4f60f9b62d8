package order

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
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
	Total  uint64        // the answer counts the documents with the least score up to this number; 0: it does not
	// Seen asks for Answer.Seen in place of documents. Default: nil.
	Seen []Value
}

// Answer is the first documents in the order.
type Answer struct {
	Places []Place // Doc is a number in the whole
	Unit   float64
	Count  uint64   // documents with the least score, in all of the part, if Ask.Total is not 0; above it any number
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
	r := run{a, ctx, g, in, &asked, 0}
	for depth := r.depth(); ; depth *= deeper {
		m, err := r.match(depth)
		if err != nil {
			return out, err
		}
		if out, ok, err := r.answer(m); ok || err != nil {
			return out, err
		}
	}
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

// matches are matching documents: all of them, or the first ones of the order, from the processor that found them.
type matches struct {
	docs   []uint32  // ascending
	scores []float64 // without a boost; nil: they are not known
	count  uint64    // of all matching documents; if it is not known, the greatest number
	first  bool      // others may match
	most   float64   // with scores: the others have at most this score
}

// depth is the number of first documents in which the answer probably is: all that decides comes from one processor. Groups,
// documents of earlier pages, and documents below the least score take places.
func (r *run) depth() int {
	if r.After == nil && r.Collapse == "" && r.MinScore == 0 && len(r.columnsInFront()) > 0 {
		return r.query.K
	}
	return min(FirstDepth(r.query.K), plan.MaxK)
}

// FirstDepth is the depth of a search for k documents that some documents may be left out of. Tests set it.
var FirstDepth = func(k int) int { return 8*k + 64 }

// deeper is the factor between depths. Beyond plan.MaxK all documents are needed.
const deeper = 16

// match returns the first documents of the order, about depth or all of them.
func (r *run) match(depth int) (m matches, err error) {
	q, call := query.Get(), r.Call
	q.Text, q.Literal, q.Terms, q.Expr = r.query.Text, r.query.Literal, r.query.Terms, r.query.Expr
	q.Options = r.query.Documents(r.query.Match)
	ranked := depth <= plan.MaxK && r.scoreInFront()
	if ranked {
		q.Weights, q.Options = r.query.Weights, r.query.Options
		q.K, q.Total = depth, r.Total
	} else if s := r.sorter(depth); s != nil {
		q.Sorter, call.Fresh = s, true
	}
	found, err := r.in.Search(r.ctx, r.g, q, r.Filter, &call)
	if err != nil || !ranked {
		return matches{docs: slices.Clone(found.Docs), count: found.Count, first: found.First}, err
	}
	n := 0 // others may have the least score
	if len(found.Docs) == depth {
		m = matches{first: true, count: found.Total.Value, most: found.Scores[depth-1]}
		n, _ = slices.BinarySearchFunc(found.Scores, m.most, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	if n == 0 { // few documents, or all scores are equal
		return r.match(plan.MaxK + 1)
	}
	if !found.Total.Exact { // not even a part of them, if Total is 0
		m.count = math.MaxUint64
	}
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int { return cmp.Compare(found.Docs[i], found.Docs[j]) })
	for _, i := range at {
		m.docs, m.scores = append(m.docs, found.Docs[i]), append(m.scores, found.Scores[i])
	}
	r.unit = found.Unit
	return m, nil
}

// answer puts matching documents in order. ok is false if others may belong to the answer.
func (r *run) answer(m matches) (out Answer, ok bool, err error) {
	release, err := limit.Memory(r.ctx, r.memory()*int64(len(m.docs)))
	if err != nil {
		return out, false, err
	}
	defer release()
	x := sorter{Spec: r.Spec, docs: m.docs, scores: m.scores, first: r.First}
	switch {
	case m.scores != nil:
		m.most, err = r.boost(x.docs, x.scores, m.most)
	case r.needsScores():
		x.scores, err = r.scores(x.docs)
	}
	if err != nil {
		return out, false, err
	}
	if r.MinScore > 0 {
		x.least(r.MinScore)
		if m.first = m.first && (m.scores == nil || m.most >= r.MinScore); !m.first {
			m.count = uint64(len(x.docs))
		}
	}
	out.Count = m.count
	if x.columns, err = r.read("sort", r.Columns(), x.docs); err != nil {
		return out, false, err
	}
	if r.Collapse != "" {
		of, err := r.read("collapse", []string{r.Collapse}, x.docs)
		if err != nil {
			return out, false, err
		}
		x.group = &of[0]
	}
	if r.Seen != nil {
		out.Seen, err = x.seen(r.ctx, r.Seen)
		return out, true, err
	}
	best, err := x.best(r.ctx, r.query.K)
	if err != nil {
		return out, false, err
	}
	if m.first && uint64(len(m.docs)) < m.count && (len(best) < r.query.K || m.scores != nil && x.scores[best[len(best)-1]] <= m.most) {
		return out, false, nil
	}
	out.Places = make([]Place, len(best))
	for i, at := range best {
		x.place(at, &out.Places[i])
	}
	if x.scores == nil { // the scores of the answer alone
		err = r.complete(out.Places)
	}
	out.Unit = r.unit
	if e := r.Call.Explain; e != nil {
		e.Order = fmt.Sprintf("%s: pure Go, %d documents", r.signature(), len(m.docs))
		if m.first {
			e.Order = fmt.Sprintf("%s: the processor of the matches, then pure Go, %d documents", r.signature(), len(m.docs))
		}
	}
	return out, true, err
}

// counted reports whether all documents with the least score must be counted, or earlier ones in groups.
func (r *run) counted() bool { return r.MinScore > 0 && r.Total > 0 || r.Seen != nil }

// scoreInFront reports whether the descending score decides first.
func (r *run) scoreInFront() bool {
	return r.keys()[0] == Key{Descending: true} && !r.counted() && (r.query.Expr == nil || r.query.Expr.Op != querylang.All)
}

// columnsInFront are the keys in front that are attributes.
func (s *Spec) columnsInFront() (keys []tables.SortKey) {
	for _, key := range s.Keys {
		if key.Column == "" {
			break
		}
		keys = append(keys, tables.SortKey(key))
	}
	return keys
}

// sorter finds the first documents on the processor that matches the query, as far as attributes decide which ones these are;
// nil if pure Go needs all documents.
func (r *run) sorter(depth int) query.Sorter {
	keys := r.columnsInFront()
	if len(keys) == 0 || depth > plan.MaxK || r.Table == nil || r.counted() {
		return nil
	}
	t, err := r.in.Open(r.Table)
	if err != nil || filter.CheckRows(r.g, t) != nil {
		return nil // read reports it
	}
	if s, ok := t.NewSorter(keys, depth, len(keys) < len(r.Keys)); ok {
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

// scores returns the scores of matching documents, which ascend.
func (r *run) scores(docs []uint32) (scores []float64, err error) {
	if scores, r.unit, err = r.g.Scores(r.ctx, r.query, &r.Call, docs); err == nil {
		_, err = r.boost(docs, scores, 0)
	}
	return scores, err
}

// boost adds the boost to the scores of documents. It returns the greatest score of a document whose score without it is at
// most the given one.
func (r *run) boost(docs []uint32, scores []float64, most float64) (float64, error) {
	if r.Boost == nil {
		return most, nil
	}
	of, err := r.read("boost", []string{r.Boost.Column}, docs)
	if err != nil {
		return 0, err
	}
	return r.Boost.add(scores, r.unit, &of[0], most)
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
