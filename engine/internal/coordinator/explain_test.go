package coordinator

import (
	"testing"
	"time"

	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

// TestExplain joins the explanations of shards, and takes the longest time in a queue.
func TestExplain(t *testing.T) {
	s := &search{run: run{Reach: Reach{Collection: &Collection{Layout: &layout.Map{Shards: make([]layout.Shard, 3)}}}}, ask: Ask{Explain: true}, hits: make([]Hits, 1)}
	s.explain(0, []Piece[*part.Answer]{
		{Shards: []int{2}, Answer: &part.Answer{Explanation: "c", Queued: time.Millisecond}},
		{Shards: []int{0}, Answer: &part.Answer{Explanation: "a\n", Queued: 3 * time.Millisecond}},
	})
	if h := s.hits[0]; h.Explanation != "shard 0:\na\nshard 2:\nc\n" || h.Queued != 3*time.Millisecond {
		t.Errorf("%q, queued %v", h.Explanation, h.Queued)
	}
}
