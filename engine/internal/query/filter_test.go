package query

import (
	"context"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// someDocs is a filter of tests and its set on a processor.
type someDocs struct {
	plan.Filter
	bits uint64
	uses int
}

func (f *someDocs) On(context.Context, int) (plan.Filter, error) { f.uses++; return f, nil }
func (f *someDocs) Off(int)                                      { f.uses-- }
func (f *someDocs) Key() *[KeyLen]byte                           { return new([KeyLen]byte) }
func (f *someDocs) Bits(context.Context) ([]uint64, error)       { return []uint64{f.bits}, nil }

// matching answers each query with documents 1 and 3, if its filter has them.
type matching struct {
	plan.Store
	filters []plan.Filter
}

func (m *matching) Match(_ context.Context, b *plan.MatchBatch, out *plan.Results) error {
	out.Reset()
	m.filters = slices.Clone(b.Filters)
	for i := range b.Queries() {
		for _, d := range []uint32{1, 3} {
			if f, ok := b.Filter(i).(*someDocs); !ok || f.bits>>d&1 == 1 {
				out.Docs = append(out.Docs, d)
			}
		}
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	if out.Stats.Matches = uint64(len(out.Docs)); b.CountOnly {
		out.Docs = nil
	}
	return nil
}

// TestFilters: each query of a batch has its own filter, where it came from another batch too, and so has the
// complement of a query. Its documents count as matches.
func TestFilters(t *testing.T) {
	a, b := &someDocs{bits: 0b1011}, &someDocs{bits: 0b1100}
	for _, count := range []bool{false, true} {
		var all Batch
		k := &Kind{CountOnly: count}
		all.Reset(k)
		all.universe = 8
		for _, f := range []*someDocs{a, a, b, nil} {
			for _, not := range []bool{false, true} {
				var one Batch
				one.Reset(k)
				one.AddLists([]plan.Handle{0})
				if not {
					one.universe, one.rests = 8, []rest{{}}
				}
				if f != nil {
					one.restrict(f)
				}
				all.Adopt(&one)
			}
		}
		var s matching
		if err := all.Run(t.Context(), &s, 0); err != nil {
			t.Fatal(err)
		}
		if want := []plan.Filter{a, a, a, a, b, b, nil, nil}; !slices.Equal(s.filters, want) || a.uses != 0 || b.uses != 0 {
			t.Errorf("filters %v, %d and %d uses are left", s.filters, a.uses, b.uses)
		}
		matches := uint64(0)
		for i, want := range [][]uint32{{1, 3}, {0}, {1, 3}, {0}, {3}, {2}, {1, 3}, {0, 2, 4, 5, 6, 7}} {
			n, docs, _ := all.Hits(i)
			if matches += n; n != uint64(len(want)) || !count && !slices.Equal(docs, want) {
				t.Errorf("query %d: %d documents %d, want %d", i, n, docs, want)
			}
		}
		if got := all.Stats().Matches; got != matches {
			t.Errorf("%d matches, the answers have %d", got, matches)
		}
	}
}
