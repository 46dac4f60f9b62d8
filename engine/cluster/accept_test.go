package cluster

import (
	"context"
	"slices"
	"testing"

	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
)

// TestAccept: an answer counts if it has further shards and all shards of the answers that it replaces.
func TestAccept(t *testing.T) {
	f := &fan[int]{all: make([]progress[int], 4), left: 4}
	answers := map[*attempt[int]]string{nil: "-"}
	for i, c := range []struct {
		shards []int
		by     string
		left   int
	}{{[]int{0, 1}, "aa--", 2}, {[]int{1, 2}, "aa--", 2}, {[]int{0, 1}, "aa--", 2}, {[]int{3}, "aa-d", 1}, {[]int{0, 1, 2}, "eeed", 0}} {
		a := &attempt[int]{Piece: coordinator.Piece[int]{Shards: c.shards}}
		answers[a] = string(rune('a' + i))
		f.accept(a)
		by := ""
		for _, s := range f.all {
			by += answers[s.by]
		}
		if by != c.by || f.left != c.left {
			t.Errorf("answer for shards %v: shards have %s, %d are left, want %s, %d", c.shards, by, f.left, c.by, c.left)
		}
	}
}

// TestLeftOutAlone asks a node again for the shard that it has left out, alone.
func TestLeftOutAlone(t *testing.T) {
	one := layout.Shard{Docs: 10}
	f := &fan[int]{Fan: &coordinator.Fan{Layout: &layout.Map{Shards: []layout.Shard{one, one}}, Size: 1, Groups: true, Shards: []int{0, 1}}, m: new(network), times: new(window),
		all: make([]progress[int], 2), left: 2, results: make(chan *attempt[int], 4),
		ask: func(_ context.Context, _ *node, shards []int) (int, []int, error) { return 0, shards, nil }}
	n := &node{name: "a node"}
	a := &attempt[int]{node: n, asked: []int{0, 1}, Piece: coordinator.Piece[int]{Shards: []int{0}}, cancel: func() {}}
	f.open = []*attempt[int]{a}
	f.end(t.Context(), a)
	if len(f.open) != 1 || f.open[0].node != n || !f.open[0].alone || !slices.Equal(f.open[0].asked, []int{1}) {
		t.Errorf("open requests %+v", f.open)
	}
	if b := <-f.results; !slices.Equal(b.Shards, []int{1}) {
		t.Errorf("an answer for %v", b.Shards)
	}
}
