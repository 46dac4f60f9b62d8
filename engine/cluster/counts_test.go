package cluster

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

// counted notes the shards whose terms are asked.
type counted struct {
	coordinator.Local
	asked []int
}

// Terms implements coordinator.Shards.
func (c *counted) Terms(ctx context.Context, f *coordinator.Fan, r *part.TermsRequest) ([]coordinator.Piece[*part.Terms], []error) {
	c.asked = append(c.asked, f.Shards...)
	return c.Local.Terms(ctx, f, r)
}

// TestSharedCounts: a further epoch asks the shards with other content alone for known terms: a shard that
// is added, that has a place before others, or that has other deleted documents. Answers are those of a
// coordinator that asks all shards.
func TestSharedCounts(t *testing.T) {
	lines := corpus(300)
	m := place(t, newEngine(t), lines, []int{0, 50, 120, 200, 300}, 1)
	all := m.layout.Shards
	service := &counted{Local: coordinator.Local{Parts: m}}
	c := &Coordinator{all: coordinator.New(m, service, coordinator.Options{})}
	if _, _, err := c.Search(t.Context(), "x", engine.Query{Text: "w9", K: 1}, api.Ask{}); err != nil { // loads the analysis
		t.Fatal(err)
	}
	turn := func(epoch uint64, want []int, parts ...int) {
		t.Helper()
		m.layout = &layout.Map{Name: "x", Kind: layout.Index, Epoch: epoch}
		for i, number := range parts {
			s := all[number]
			x, _, err := m.all.OpenIndex("x", 1, number)
			if err != nil {
				t.Fatal(err)
			}
			m.all.AddIndex("x", epoch+100, i, x.Index)
			s.First = m.layout.Docs
			m.layout.Docs += s.Docs
			m.layout.Shards = append(m.layout.Shards, s)
		}
		m.layout.Epoch += 100
		for _, q := range []engine.Query{{Text: "w1 w2 w1", K: 7}, {Terms: []string{"w3", "w1"}, K: 7}, {Text: "w1*", K: 7}} {
			service.asked = nil
			got, _, err := c.Search(t.Context(), "x", q, api.Ask{})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(service.asked)
			if asked := slices.Compact(service.asked); !slices.Equal(asked, want) {
				t.Errorf("epoch %d, %q: shards %d were asked, want %d", epoch, q.Text, asked, want)
			}
			fresh, _, err := Within(m, m, Options{}).Search(t.Context(), "x", q, api.Ask{})
			if err != nil || !reflect.DeepEqual(got, fresh) {
				t.Errorf("epoch %d, %q: %v, want %v, %v", epoch, q.Text, got, fresh, err)
			}
		}
	}
	turn(1, []int{0, 1}, 0, 1)
	turn(2, []int{2}, 0, 1, 2)
	turn(3, []int{1}, 0, 3, 1, 2)
	turn(4, nil, 2, 3)
	all[3].Deleted = fmt.Sprintf("%064d", 9)
	turn(5, []int{1}, 2, 3)
}
