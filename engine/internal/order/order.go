// Package order answers ranked queries whose documents have another order than the descending score, or begin behind a
// cursor, in pure Go: from all matching documents, their exact scores and the values of attributes. So all backends give
// equal answers.
package order

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/values"
)

// Score is the name of the score among the keys of an order.
const Score = "score"

// Key is a part of an order.
type Key struct {
	Column     string // empty: the score
	Descending bool
}

// String is the key as Parse reads it.
func (k Key) String() string {
	name := cmp.Or(k.Column, Score)
	if k.Descending {
		return name + " desc"
	}
	return name + " asc"
}

// Spec is an order of the documents of a query, and the part of them that an answer has. It must not change.
type Spec struct {
	// Keys are the order; ties are in the order of the documents. A document without a value comes last. Empty: the
	// descending score.
	Keys []Key
	// MinScore is the least score of a document.
	MinScore float64
	// After is the place behind which the answer begins. Default: nil, the first document.
	After *Place
}

// Place is the place of a document in an order.
type Place struct {
	Values []Value // by key; the score has none
	Score  float64
	Doc    uint64 // number in the whole
}

// Value is the value of an attribute, in an order that all parts of an index share.
type Value struct {
	Missing bool   `json:"m,omitempty"`
	Number  uint64 `json:"n,omitempty"` // of a type without a dictionary
	Text    []byte `json:"t,omitempty"` // of a type with one
}

// Parse reads keys such as "year desc", "year" and "score". An attribute ascends, and the score descends, unless the key
// says more. The error names the key.
func Parse(all []string) (keys []Key, err error) {
	for i, text := range all {
		name, direction := strings.TrimSpace(text), ""
		if at := strings.LastIndexByte(name, ' '); at >= 0 {
			if d := strings.ToLower(name[at+1:]); d == "asc" || d == "desc" {
				name, direction = strings.TrimSpace(name[:at]), d
			}
		}
		k := Key{Column: name, Descending: direction == "desc"}
		if name == Score {
			k = Key{Descending: direction != "asc"}
		} else if name == "" {
			return nil, query.Option(fmt.Errorf("sort[%d] is %s: want a column or score, and asc or desc", i, syntax.Quote(text)))
		}
		if slices.ContainsFunc(keys, func(o Key) bool { return o.Column == k.Column }) {
			return nil, query.Option(fmt.Errorf("sort[%d]: %s comes twice", i, syntax.Quote(name)))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// keys are the keys of the order.
func (s *Spec) keys() []Key {
	if len(s.Keys) == 0 {
		return []Key{{Descending: true}}
	}
	return s.Keys
}

// Columns are the attributes of the order.
func (s *Spec) Columns() (names []string) {
	for _, k := range s.Keys {
		if k.Column != "" {
			names = append(names, k.Column)
		}
	}
	return names
}

// compare compares two values; a missing one is last in both directions.
func (k Key) compare(a, b Value) int {
	if a.Missing || b.Missing {
		return cmp.Compare(number(a.Missing), number(b.Missing))
	}
	c := cmp.Or(cmp.Compare(a.Number, b.Number), slices.Compare(a.Text, b.Text))
	if k.Descending {
		return -c
	}
	return c
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Compare compares the places of two documents.
func (s *Spec) Compare(a, b *Place) int {
	for i, n := 0, 0; i < len(s.keys()); i++ {
		k, c := s.keys()[i], 0
		if k.Column == "" {
			if c = cmp.Compare(a.Score, b.Score); k.Descending {
				c = -c
			}
		} else {
			c = k.compare(a.Values[n], b.Values[n])
			n++
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// needsScores reports whether the order of documents depends on scores.
func (s *Spec) needsScores() bool {
	return s.MinScore > 0 || slices.ContainsFunc(s.keys(), func(k Key) bool { return k.Column == "" })
}

// Ask asks for the documents of a part in an order.
type Ask struct {
	*Spec
	Query  *query.Query // K is the number of documents; the match must not be querylang.AllElseAny
	Filter *filter.Filter
	Call   lists.Call
	Table  *tables.Table // attribute table; nil: none
	First  uint64        // number of the first document of the part in the whole
}

// Answer is the first documents in the order.
type Answer struct {
	Places []Place // Doc is a number in the whole
	Unit   float64
	Count  uint64 // documents with the least score, in all of the part
}

// ErrNoAttributes is the error of an order that reads attributes where there are none.
var ErrNoAttributes = errors.New("sort: the documents have no attributes: build the index or collection with an attribute table")

// Search answers a query.
func (a *Ask) Search(ctx context.Context, g *lists.Generation, in *filter.Compiler) (out Answer, err error) {
	ctx, stop := g.Bounded(ctx, &a.Call.Call)
	defer stop()
	asked := *a.Query // Search gives its query back
	match := query.Get()
	match.Text, match.Literal, match.Terms, match.Weights, match.Expr = asked.Text, asked.Literal, asked.Terms, nil, asked.Expr
	match.Options = query.Options{Match: asked.Match}
	call := a.Call
	found, err := in.Search(ctx, g, match, a.Filter, &call)
	if err != nil {
		return out, err
	}
	docs := slices.Clone(found.Docs)
	score := func(docs []uint32) (scores []float64, err error) {
		scores, out.Unit, err = g.Scores(ctx, &asked, &a.Call, docs)
		return scores, err
	}
	var scores []float64
	if a.needsScores() {
		if scores, err = score(docs); err != nil {
			return out, err
		}
		if least := a.MinScore; least > 0 {
			n := 0
			for i, s := range scores {
				if s >= least {
					docs[n], scores[n] = docs[i], s
					n++
				}
			}
			docs, scores = docs[:n], scores[:n]
		}
	}
	out.Count = uint64(len(docs))
	columns, err := a.read(ctx, g, in, docs)
	if err != nil {
		return out, err
	}
	x := sorter{Spec: a.Spec, docs: docs, scores: scores, columns: columns, first: a.First}
	best, err := x.best(ctx, asked.K)
	if err != nil {
		return out, err
	}
	out.Places = make([]Place, len(best))
	for i, at := range best {
		x.place(at, &out.Places[i])
	}
	if scores == nil { // the scores of the answer alone
		slices.Sort(best)
		some := make([]uint32, len(best))
		for i, at := range best {
			some[i] = docs[at]
		}
		if scores, err = score(some); err != nil {
			return out, err
		}
		for i := range out.Places {
			n, _ := slices.BinarySearch(some, uint32(out.Places[i].Doc-a.First))
			out.Places[i].Score = scores[n]
		}
	}
	return out, nil
}

// read returns the values of the columns of the order in documents.
func (a *Ask) read(ctx context.Context, g *lists.Generation, in *filter.Compiler, docs []uint32) (values.Batch, error) {
	names := a.Columns()
	if len(names) == 0 {
		return nil, nil
	}
	if a.Table == nil {
		return nil, query.Option(ErrNoAttributes)
	}
	t, err := in.Open(a.Table)
	if err != nil {
		return nil, err
	}
	if err := filter.CheckRows(g, t); err != nil {
		return nil, err
	}
	for i, name := range names {
		if at, err := column.Named(t.Columns, name); err != nil {
			return nil, query.Option(fmt.Errorf("sort: %w", err))
		} else if t.Columns[at].Values != nil {
			return nil, query.Option(fmt.Errorf("sort[%d]: column %s has several values: documents have no order by it", i, syntax.Quote(name)))
		}
	}
	until := g.Until(ctx, &a.Call.Call)
	b, err := t.Rows(&until, names, docs)
	if err != nil {
		return nil, fmt.Errorf("sort: %w", err)
	}
	return b, nil
}
