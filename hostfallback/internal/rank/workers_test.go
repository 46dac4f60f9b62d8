package rank

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
)

// TestSharedWorkers: the first query on a source reuses the scratch memory of queries on other sources,
// and finds the same documents.
func TestSharedWorkers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pool
	least := ^uint64(0)
	for i := range uint64(8) {
		src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 20+i)), 300, 0, []codec.ID{codec.ParaPFor}, 200, 100)
		lists := decode(t, src)
		r := open(src, 1, 0)
		b := &plan.RankBatch{K: 10, Norm: hosttest.Norm(src)}
		b.Add(src, plan.Term{List: 0, Weight: 1 << 29}, plan.Term{List: 1, Weight: 1 << 30})
		var before, after runtime.MemStats
		var out plan.TopK
		runtime.ReadMemStats(&before)
		err := r.Rank(t.Context(), b, &out)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc) // the race detector empties pools at random
		sameRanking(t, r, lists, b)
	}
	if least > 4*maxRange/2 {
		t.Errorf("the first query on a source allocates %d bytes", least)
	}
}
