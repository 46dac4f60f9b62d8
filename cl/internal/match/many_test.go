package match

import (
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// TestManyLists looks documents up in one list to seven lists, each of which lacks some of them.
func TestManyLists(t *testing.T) {
	testneeds.OneCaller(t)
	src := plantest.NewSource(3000)
	var postings [][]uint32
	batch := plan.MatchBatch{Algorithm: plan.BS}
	for i, prime := range []uint32{7, 11, 13, 17, 19, 23, 29, 31} {
		var docs []uint32
		for x := range src.Docs {
			if x%prime != 1 {
				docs = append(docs, x)
			}
		}
		postings = append(postings, docs)
		src.Add(t, codec.Raw, docs)
		all := make([]plan.Handle, i+1)
		for h := range all {
			all[h] = plan.Handle(h)
		}
		batch.Add(&src.Source, all...)
	}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := loadFor(t.Context(), rt, &src.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		var out plan.Results
		if err := s.Match(t.Context(), &batch, &out); err != nil {
			t.Fatal(err)
		}
		for i := range batch.Queries() {
			if want := reference.Conjunction(postings, batch.Query(i)...); !slices.Equal(out.Query(i), want) {
				t.Errorf("%d lists: %d documents, want %d", len(batch.Query(i)), len(out.Query(i)), len(want))
			}
		}
	})
}
