package load

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/bench/benchtest"
	"heddle/engine/plan/testneeds"
)

// forgetful is a server that answers one topic differently after some requests, and refuses another.
type forgetful struct {
	api.IndexServiceClient
	asked, right int
}

func (s *forgetful) GetIndex(context.Context, *api.GetIndexRequest) (*api.Index, error) {
	return &api.Index{Ready: true}, nil
}

func (s *forgetful) Search(_ context.Context, r *api.SearchRequest) (*api.SearchResponse, error) {
	s.asked++
	hit := &api.Hit{Doc: r.GetQuery(), Id: 7, Score: 1.5}
	switch {
	case r.GetQuery() == "(":
		return nil, &engine.Error{Code: engine.InvalidQuery}
	case r.GetQuery() == "b" && s.asked > s.right:
		hit.Score = 1.25
	}
	return &api.SearchResponse{Hits: []*api.Hit{hit}}, nil
}

// TestVerify: a load counts the answers that differ from the answers before the load.
func TestVerify(t *testing.T) {
	for right, differ := range map[int]int{3: 100, 3 + 150: 50, 1000: 0} {
		testneeds.Bubble(t, func(t *testing.T) {
			var l *Level
			opt := Options{Rate: 100, Length: 3 * time.Second, Verify: true, Wait: benchtest.SleepUntil, Report: func(x *Level) error { l = x; return nil }}
			w := &Work{Index: "x", Kind: Search, Topics: []string{"a", "b", "("}, Batch: 1}
			_, err := Run(t.Context(), &api.Client{IndexServiceClient: &forgetful{right: right}}, w, opt)
			if (err != nil) != (differ > 0) || l.Errors[wrong] != differ || l.Errors["invalid_query"] != 100 || l.Answered != 200-differ {
				t.Errorf("%d right answers: %v, %+v", right, err, l)
			}
		})
	}
}

// TestDigests: the digests of a batch are equal for equal answers, and a changed answer changes its
// digest alone.
func TestDigests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3), 1, 5).Draw(t, "documents of each query")
		batch := func() *api.SearchBatchResponse {
			r := &api.SearchBatchResponse{}
			for _, docs := range answers {
				r.Counts = append(r.Counts, uint64(len(docs)))
				r.Ids = append(r.Ids, docs...)
				r.Ends = append(r.Ends, uint64(len(r.Ids)))
			}
			r.Scores = make([]float64, len(r.Ids))
			return r
		}
		want := digestsOfBatch(batch(), len(answers))
		if slices.Contains(want, 0) {
			t.Fatalf("no digest of an answer: %v", want)
		}
		changed := batch()
		i := rapid.IntRange(0, len(answers)-1).Draw(t, "query")
		switch change := rapid.SampledFrom([]string{"count", "id", "score", "error"}).Draw(t, "change"); {
		case change == "count":
			changed.Counts[i]++
		case change == "error":
			changed.Errors = []*api.BatchError{{Query: uint32(i)}}
		case len(answers[i]) == 0:
			t.Skip("no document to change")
		case change == "id":
			changed.Ids[changed.Ends[i]-1]++
		case change == "score":
			changed.Scores[changed.Ends[i]-1]++
		}
		for q, d := range digestsOfBatch(changed, len(answers)) {
			if (d == want[q]) != (q != i) {
				t.Fatalf("query %d of %v changed: %v, before %v", i, answers, d, want)
			}
		}
		broken := batch()
		broken.Ends = rapid.SliceOf(rapid.Uint64()).Draw(t, "broken ends")
		broken.Counts = broken.Counts[:i]
		broken.Errors = []*api.BatchError{{Query: 1 << 31}}
		digestsOfBatch(broken, len(answers)) // must not panic
	})
}
