package placement

import (
	"context"
	"errors"
	"testing"

	"heddle/engine/plan"
)

// fake is a store that notes the batch and the closed filters, and lacks room for list 1.
type fake struct {
	plan.CachedStore
	ranked plan.RankBatch
	err    error
	closed int
}

func (s *fake) Rank(_ context.Context, r *plan.RankBatch, out *plan.TopK) error {
	s.ranked = *r
	out.Reset()
	for range r.Queries() {
		out.Offsets = append(out.Offsets, 0)
	}
	return s.err
}

func (s *fake) Close() error { s.closed++; return s.err }

func (s *fake) Missing(lists []plan.Handle, _ bool) (uint64, bool) {
	return 0, len(lists) == 0 || lists[0] != 1
}

func (s *fake) Filter(context.Context, []uint64) (plan.Filter, error) {
	return &fakeFilter{of: s}, s.err
}

type fakeFilter struct {
	plan.Filter
	of *fake
}

func (f *fakeFilter) Close() error { f.of.closed++; return nil }

// TestOverflowRank: both stores get the options of the batch.
func TestOverflowRank(t *testing.T) {
	src := placeable(t)
	var device, host fake
	r := plan.RankBatch{K: 7, Mode: 1, Norm: plan.NewNorm(1, 0.5, 9), Accumulators: 3}
	r.Add(src, plan.Term{List: 0, Weight: 1})
	r.Add(src, plan.Term{List: 1, Weight: 1})
	if err := NewOverflow(&device, &host, 0).Rank(t.Context(), &r, new(plan.TopK)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*fake{&device, &host} {
		if got := &s.ranked; got.K != r.K || got.Mode != r.Mode || got.Norm != r.Norm || got.Accumulators != r.Accumulators {
			t.Errorf("%+v, want the options of %+v", got, r)
		}
	}
}

// TestOverflowFilter closes the filter of the device where that of the host fails.
func TestOverflowFilter(t *testing.T) {
	var device, host fake
	host.err = errors.New("no room")
	if f, err := NewOverflow(&device, &host, 0).Filter(t.Context(), nil); f != nil || !errors.Is(err, host.err) || device.closed != 1 {
		t.Errorf("%v, %v; %d filters are closed", f, err, device.closed)
	}
}

// TestWarm ranks by the longest list, and closes a store that cannot.
func TestWarm(t *testing.T) {
	p := &placer{src: placeable(t), opt: Options{Ranked: true}}
	longest := 0
	for h, l := range p.src.Lists {
		if l.Len > p.src.Lists[longest].Len {
			longest = h
		}
	}
	var s fake
	load := func() (plan.Store, error) { return &s, nil }
	if _, err := p.loaded(t.Context(), load); err != nil || int(s.ranked.Query(0)[0].List) != longest {
		t.Errorf("%v, %v; list %d is the longest", s.ranked.Query(0), err, longest)
	}
	s.err = plan.ErrOutOfMemory
	if got, err := p.loaded(t.Context(), load); got != nil || !errors.Is(err, s.err) || s.closed != 1 {
		t.Errorf("%v, %v; %d stores are closed", got, err, s.closed)
	}
}

// TestWorthwhile gives a part to devices with room for just an equal part.
func TestWorthwhile(t *testing.T) {
	src := placeable(t)
	_, devices := smalls(src, 100, 100)
	words, _ := src.Used()
	for room, want := range map[uint64]int{4 * words / 2: 2, 4*words/2 - 1: 1} {
		p := &placer{src: src, devices: devices, idle: []int{0, 1}, opt: Options{Memory: room}, errs: make([]error, 2)}
		if got := p.worthwhile(); len(got) != want {
			t.Errorf("room for %d bytes of %d: devices %v", room, 4*words, got)
		}
	}
}
