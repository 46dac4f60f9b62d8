package match

import (
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// TestDenseJoin: two dense lists, and Bitset lists, are joined word by word.
func TestDenseJoin(t *testing.T) {
	const docs = 1 << 16
	r := rand.New(rand.NewPCG(3, 2))
	for _, c := range []struct {
		id    codec.ID
		n     int
		dense bool
	}{
		{codec.Raw, docs / 20, false},
		{codec.Raw, docs / 10, true},
		{codec.ParaPFor, docs / 20, false},
		{codec.ParaPFor, docs / 10, true},
		{codec.Bitset, docs / 20, true},
		{codec.Raw, 100, false},
	} {
		src := hosttest.Source(t, docs, []codec.ID{c.id}, hosttest.Uniform(r, c.n, docs))
		aux := lookup.New(src, work.NewBudget(0, 0))
		table, err := aux.Prepare(0)
		if err != nil {
			t.Fatal(err)
		}
		var l drivingList
		if err := l.open(aux, 0, table, docset.Everywhere); err != nil {
			t.Fatal(err)
		}
		if l.dense != c.dense {
			t.Errorf("%d docIDs as %v: dense %t", c.n, c.id, l.dense)
		}
		if err := l.open(aux, 0, nil, docset.Everywhere); err != nil || l.dense {
			t.Errorf("%d docIDs as %v under bs: dense %t, %v", c.n, c.id, l.dense, err)
		}
	}
}
