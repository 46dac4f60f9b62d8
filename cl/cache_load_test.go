package cl

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// mixedLoad is a source with frequencies, and queries of every kind with their answers.
type mixedLoad struct {
	src         *plan.Source
	lists       [][]uint32
	batch       plan.MatchBatch
	expressions plan.MatchBatch
	ranks       plan.RankBatch
	matches     [][]uint32
	any         [][]uint32
	best        [][]uint64
}

// newLoad draws so many lists of very different lengths, and queries over one to three of
// them, of which the first ones are asked for most.
func newLoad(t testing.TB, postings, queries int) *mixedLoad {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(postings), uint64(queries)))
	l := &mixedLoad{src: &plan.Source{Docs: 30_000}, ranks: plan.RankBatch{K: 10, Norm: plan.NewNorm(0.9, 0.4, 500)}}
	var freqs [][]uint32
	for i := range postings {
		var docs []uint32
		for every, d := uint32(16)<<r.IntN(6), uint32(0); d < l.src.Docs; d++ {
			if r.Uint32N(every) == 0 {
				docs = append(docs, d)
			}
		}
		h, err := l.src.Append(lists.CoreCodecs[i%len(lists.CoreCodecs)], docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		f := make([]uint32, len(docs))
		for i := range f {
			f[i] = 1 + uint32(r.ExpFloat64()*2)
		}
		if err := l.src.AppendFreqs(h, f, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		l.lists, freqs = append(l.lists, docs), append(freqs, f)
	}
	for range l.src.Docs {
		l.src.Lengths = append(l.src.Lengths, r.Uint32N(900))
	}
	l.batch.Reset()
	l.expressions.Reset()
	l.ranks.Reset()
	for range queries {
		var q []plan.Handle
		var terms []plan.Term
		either := plan.Expr{Op: plan.OpOr}
		for range 1 + r.IntN(3) {
			h := plan.Handle(min(r.ExpFloat64()*float64(postings)/5, float64(postings-1)))
			q = append(q, h)
			terms = append(terms, plan.Term{List: h, Weight: 1 + r.Uint32N(1<<28)})
			either.Args = append(either.Args, plan.Expr{List: h})
		}
		l.batch.Add(l.src, q...)
		l.ranks.Add(l.src, terms...)
		if err := l.expressions.AddExpr(l.src, either); err != nil {
			t.Fatal(err)
		}
		i := l.batch.Queries() - 1
		l.matches = append(l.matches, reference.Conjunction(l.lists, l.batch.Query(i)...))
		l.any = append(l.any, reference.Tree(l.lists, either))
	}
	plain := reference.Lists{Docs: l.lists, Freqs: freqs, Lengths: l.src.Lengths}
	for _, hits := range plain.Rank(&l.ranks) {
		l.best = append(l.best, rank.KeysOfHits(hits, l.ranks.K))
	}
	return l
}

// ask puts one kind of the queries to a store; a wrong answer fails the test.
func (l *mixedLoad) ask(ctx context.Context, t *testing.T, s plan.Store, kind int) error {
	t.Helper()
	var out plan.Results
	var top plan.TopK
	var err error
	switch kind % 3 {
	case 0:
		err = s.Match(ctx, &l.batch, &out)
	case 1:
		err = s.Match(ctx, &l.expressions, &out)
	case 2:
		err = s.Rank(ctx, &l.ranks, &top)
	}
	if err != nil {
		return err
	}
	for i := range l.matches {
		if kind%3 == 0 && !slices.Equal(out.Query(i), l.matches[i]) || kind%3 == 1 && !slices.Equal(out.Query(i), l.any[i]) ||
			kind%3 == 2 && !slices.Equal(rank.KeysOf(&top, i), l.best[i]) {
			t.Errorf("kind %d: query %d over lists %v has another answer", kind%3, i, l.batch.Query(i))
			break
		}
	}
	return nil
}
