package smallcases

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// rankMemory leaves so few candidates to each of rankCopies times the queries that
// they are cut to the best ones several times.
const (
	rankMemory = 34 << 20
	rankCopies = 4
)

// ranks runs ranked queries: the best few, from pass to pass above a threshold, and
// so many that they are put in order on the device.
func ranks(t *testing.T, backend plan.Backend, codecs []codec.ID) {
	src := &plan.Source{Docs: universe, Lengths: make([]uint32, universe)}
	for d := range src.Lengths {
		src.Lengths[d] = uint32(d * 37 % 1000)
	}
	freqs := map[string][]uint32{}
	handles := map[string]plan.Handle{}
	for i, name := range all {
		for j := range lists[name] {
			freqs[name] = append(freqs[name], 1+uint32(j*j)%7)
			if j%50 == 9 {
				freqs[name][j] = 3000 // an exception
			}
		}
		h, err := src.Append(codecs[i%len(codecs)], lists[name], codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs[name], codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
		handles[name] = h
	}
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	plain, err := reference.Decode(src)
	if err != nil {
		t.Fatal(err)
	}
	// Lists count alike in every second copy of the queries, in the others the first one
	// counts most.
	weight := func(copy, i int) uint32 {
		if copy%2 == 1 && i > 0 {
			return uint32(1 << (24 - i))
		}
		return uint32(1<<28 + i<<20)
	}
	for _, r := range []*plan.RankBatch{
		{Mode: plan.Or, K: 3, Accumulators: plan.RangeAccumulators}, {Mode: plan.Or, K: 70, Accumulators: plan.RangeAccumulators},
		{Mode: plan.Or, K: 3}, {Mode: plan.And, K: 3},
		{Mode: plan.Or, K: 3, Accumulators: plan.GlobalAccumulators},
	} {
		r.Norm = plan.NewNorm(0.9, 0.4, 500)
		copies, some := rankCopies, queries[5:]
		if r.Mode == plan.And || r.Accumulators == plan.AutoAccumulators {
			copies = 1
		} else if r.K > 3 || r.Accumulators != plan.RangeAccumulators {
			copies, some = 1, queries[len(queries)-1:]
		}
		for copy := range copies {
			for _, names := range some {
				var terms []plan.Term
				for i, name := range names {
					terms = append(terms, plan.Term{List: handles[name], Weight: weight(copy, i)})
				}
				r.Add(src, terms...)
			}
		}
		r.Add(src) // a query of unknown terms
		var got plan.TopK
		if err := store.Rank(t.Context(), r, &got); err != nil {
			t.Fatal(err)
		}
		for q, want := range plain.Rank(r) {
			docs, _ := got.Query(q)
			want = want[:min(len(want), r.K)]
			if !slices.EqualFunc(docs, want, func(d uint32, h reference.Hit) bool { return d == h.Doc }) {
				t.Errorf("query %d, %v of %v: documents %v, want %v", q, r.Mode, r.Accumulators, docs, want)
			}
		}
		if docs, _ := got.Query(r.Queries() - 1); len(docs) != 0 {
			t.Error("the query without lists matched")
		}
		if st := got.Stats; st.Decode+st.Probe <= 0 || st.Score <= 0 || st.Select <= 0 && r.Accumulators != plan.AutoAccumulators { // a part of the scores of few queries
			t.Errorf("a kernel took no time: %+v", st)
		}
	}
}
