package query

import (
	"context"
	"math/bits"
	"slices"

	"heddle/engine/plan"
)

// set is a set of documents: of an expression, or all documents but these. Backends know expressions of lists
// alone; pure Go takes the rest (Batch.complete).
type set struct {
	plan.Expr
	not bool
}

func emptySet() set { return set{Expr: plan.Expr{Op: plan.OpOr}} }

func everySet() set { return set{emptySet().Expr, true} }

// and returns the documents of all sets, or of the sets without the documents of the second ones: by De Morgan,
// the documents in all plain sets without the documents of the complements, or all documents without
// the documents of the complements.
func and(all, without []set) set {
	var in, out []plan.Expr
	for _, s := range all {
		if s.not {
			out = append(out, s.Expr)
		} else {
			in = append(in, s.Expr)
		}
	}
	for _, s := range without {
		if s.not {
			in = append(in, s.Expr)
		} else {
			out = append(out, s.Expr)
		}
	}
	switch {
	case len(in) == 0:
		return set{plan.Expr{Op: plan.OpOr, Args: out}, true}
	case len(out) == 0:
		return set{plan.Expr{Op: plan.OpAnd, Args: in}, false}
	}
	return set{plan.Expr{Op: plan.OpAndNot, Args: append([]plan.Expr{{Op: plan.OpAnd, Args: in}}, out...)}, false}
}

// or is all documents without the documents in none of the sets.
func or(all []set) set {
	if !slices.ContainsFunc(all, func(s set) bool { return s.not }) {
		e := plan.Expr{Op: plan.OpOr}
		for _, s := range all {
			e.Args = append(e.Args, s.Expr)
		}
		return set{e, false}
	}
	none := and(nil, all)
	none.not = !none.not
	return none
}

// complete replaces the documents of a query by all other documents that its filter permits: docs ascend.
func complete(docs []uint32, universe uint32, permitted []uint64) []uint32 {
	n := int(universe) - len(docs)
	if permitted != nil {
		n = ones(permitted) - len(docs)
	}
	rest := make([]uint32, 0, max(n, 0))
	take := func(d uint32) bool {
		for len(docs) > 0 && docs[0] < d {
			docs = docs[1:]
		}
		if len(docs) == 0 || docs[0] != d {
			rest = append(rest, d)
		}
		return len(rest) < n
	}
	if n <= 0 {
		return rest
	}
	if permitted == nil {
		for d := uint32(0); d < universe && take(d); d++ {
		}
		return rest
	}
	for i, word := range permitted {
		for ; word != 0; word &= word - 1 {
			if !take(uint32(64*i + bits.TrailingZeros64(word))) {
				return rest
			}
		}
	}
	return rest
}

func ones(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// rest is the answer of a query that is a complement, or has phrases.
type rest struct {
	of    int // query of the batch
	count uint64
	docs  []uint32
}

// markComplement notes that the last query of the batch is a complement.
func (b *Batch) markComplement(x *Index) {
	b.universe = x.Source.Docs
	b.rests = append(b.rests, rest{of: b.Queries() - 1})
}

// complements answers the queries of a batch that is not ranked that are complements.
func (b *Batch) complements(ctx context.Context) error {
	for i := range b.rests {
		r := &b.rests[i]
		permitted, err := b.permitted(ctx, r.of)
		if err != nil {
			return err
		}
		if b.kind.CountOnly {
			r.count = b.outside(b.results.Count(r.of), permitted)
		} else {
			r.docs = complete(b.results.Query(r.of), b.universe, permitted)
			r.count = uint64(len(r.docs))
		}
		b.results.Stats.Matches += r.count - b.results.Count(r.of)
	}
	return nil
}

// outside is the number of permitted documents besides n of them; nil permits all.
func (b *Batch) outside(n uint64, permitted []uint64) uint64 {
	if permitted == nil {
		return uint64(b.universe) - n
	}
	return uint64(ones(permitted)) - n
}

// permitted are the documents that the filter of query i permits; nil: all.
func (b *Batch) permitted(ctx context.Context, i int) ([]uint64, error) {
	if i >= len(b.filters) || b.filters[i] == nil {
		return nil, nil
	}
	return b.filters[i].Bits(ctx)
}

// complement finds query i among the complements.
func (b *Batch) complement(i int) (*rest, bool) { return find(b.rests, i) }

// answered finds query i among the queries that the batch answers itself: complements, and queries with phrases.
func (b *Batch) answered(i int) (*rest, bool) {
	if r, found := b.complement(i); found {
		return r, true
	}
	return find(b.matched, i)
}

// find finds query i among answers in the order of their queries.
func find(all []rest, i int) (*rest, bool) {
	if len(all) == 0 {
		return nil, false
	}
	at, found := slices.BinarySearchFunc(all, i, func(r rest, i int) int { return r.of - i })
	if !found {
		return nil, false
	}
	return &all[at], true
}
