// Package ranktest is the conformance suite for plan.Store.Rank. Scores are
// integers, so documents and scores must agree with the reference to the last
// unit. The case "bm25" compares the integers with BM25 in floating point.
package ranktest

import (
	"errors"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

type suite struct {
	*plantest.Suite
	accumulators []plan.Accumulators // places of accumulators that the backend takes
}

// Run runs the cases of ranked queries. It calls open for each backend that it
// needs and closes the backend. Of the options it does not use Algorithms.
func Run(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	su := &suite{Suite: plantest.New(t, open, opt)}
	su.accumulators = su.kinds(t)
	t.Run("tiny", testneeds.With(testneeds.OneCaller, su.tiny))
	t.Run("lists", testneeds.With(testneeds.Sequential, su.lists))
	t.Run("lengths", testneeds.With(testneeds.Sequential, su.lengths))
	t.Run("universes", testneeds.With(testneeds.Sequential, su.universes))
	t.Run("shapes", testneeds.With(testneeds.OneCaller, su.shapes))
	t.Run("norms", testneeds.With(testneeds.Sequential, su.norms))
	t.Run("rankings", testneeds.With(testneeds.Sequential, su.rankings))
	t.Run("bm25", testneeds.With(testneeds.OneCaller, su.bm25))
	t.Run("ties", testneeds.With(testneeds.OneCaller, su.ties))
	t.Run("random", testneeds.With(testneeds.OneCaller, su.random))
	t.Run("bigbatch", testneeds.With(testneeds.OneCaller, su.bigBatch))
	t.Run("reuse", su.reuse)
	t.Run("concurrent", su.concurrent)
	t.Run("cancel", su.cancel)
	t.Run("refused", su.refused)
	t.Run("filters", su.filters)
	t.Run("filtered", testneeds.With(testneeds.OneCaller, su.filtered))
	t.Run("largefiltered", testneeds.With(testneeds.OneCaller, su.largeFiltered))
	t.Run("filterends", testneeds.With(testneeds.OneCaller, su.filterEnds))
	if su.Corrupt {
		t.Run("corrupt", testneeds.With(testneeds.OneCaller, su.corrupt))
	}
}

// example returns a source of two lists and a query over them.
func example(t *testing.T) (*plantest.Source, *plan.RankBatch) {
	s := plantest.NewSource(5)
	s.Lengths = []uint32{3, 1, 4, 1, 5}
	s.Plain.Lengths = s.Lengths
	s.AddRanked(t, codec.Raw, []uint32{0, 2, 3}, []uint32{1, 3, 1})
	s.AddRanked(t, codec.Raw, []uint32{2, 4}, []uint32{1, 9})
	r := &plan.RankBatch{K: 2, Norm: plan.NewNorm(1, 0.5, 2)}
	r.Add(&s.Source, plan.Term{List: 0, Weight: 100}, plan.Term{List: 1, Weight: 50})
	return s, r
}

// kinds returns the accumulators of the backend. It must have all but
// plan.GlobalAccumulators. Devices take plan.BlockAccumulators as ranges, so the case "tiny" alone tests them.
func (su *suite) kinds(t *testing.T) []plan.Accumulators {
	s, r := example(t)
	st, err := su.Shared.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r.Accumulators = plan.GlobalAccumulators
	if err := st.Rank(t.Context(), r, &plan.TopK{}); errors.Is(err, plan.ErrUnsupported) {
		t.Logf("no global accumulators: %v", err)
		return []plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators}
	}
	if su.Shared.Info().Kind == "host" {
		return []plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators, plan.BlockAccumulators, plan.GlobalAccumulators}
	}
	return []plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators, plan.GlobalAccumulators}
}

// tiny has an answer that was worked out by hand. The length normalisers of the
// documents are 1.25, 0.75, 1.5, 0.75 and 1.75.
func (su *suite) tiny(t *testing.T) {
	s, r := example(t)
	st := su.Load(t, s)
	su.verify(t, st, s, r, 1, 2, 3, 5)
	var out plan.TopK
	for _, r.Accumulators = range append(su.accumulators, plan.BlockAccumulators) {
		r.K = 4
		if err := st.Rank(t.Context(), r, &out); err != nil {
			t.Fatal(err)
		}
		docs, scores := out.Query(0) // 100·3/4.5 + 50/2.5, 100/1.75, 50·9/10.75, 100/2.25, rounded up
		if !slices.Equal(docs, []uint32{2, 3, 0, 4}) || !slices.Equal(scores, []uint32{87, 58, 45, 42}) {
			t.Errorf("documents %d with scores %d", docs, scores)
		}
	}
}
