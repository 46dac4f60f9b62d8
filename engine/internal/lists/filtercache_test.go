package lists

import (
	"context"
	"errors"
	"testing"

	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// fakeSet is a set of so many bytes.
type fakeSet struct {
	plan.Filter
	bytes uint64
}

func (s fakeSet) Memory() uint64 { return s.bytes }
func (s fakeSet) Close() error   { return nil }

// TestFilterBytes: a filter that leaves the cache between the making of its set and the count of its
// bytes takes no more bytes from the cache than it brought.
func TestFilterBytes(t *testing.T) {
	p := &Shared{filters: filterCache{capacity: 1 << 20}}
	g := &Generation{pool: &pool.Pool{}, shared: p, at: make([]*residence, 1)}
	add := func(k byte) *Filter {
		f, err := g.Filter([query.KeyLen]byte{k}, func(*FilterSpec) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.at[0].set = fakeSet{bytes: 5000}
		return f
	}
	kept, dropped := add(1), add(2)
	p.filters.grow(kept, 5000)
	p.filters.mu.Lock()
	p.filters.remove(dropped)
	p.filters.mu.Unlock()
	p.filters.grow(dropped, 5000)
	if s := p.filters.stats(); s.Entries != 1 || s.Bytes != kept.bytes || s.Bytes < 5000 {
		t.Errorf("%+v, want the %d bytes of one filter", s, kept.bytes)
	}
	p.filters.drop(g)
	if s := p.filters.stats(); s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("%+v, want nothing", s)
	}
}

// fullStore is a store without memory for filters.
type fullStore struct{ plan.Store }

func (fullStore) Filter(context.Context, []uint64) (plan.Filter, error) {
	return nil, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Op: "reserving memory", Err: errors.New("full")}
}

// TestFilterTooLarge: a processor without memory for a filter keeps its other queries.
func TestFilterTooLarge(t *testing.T) {
	p := &Shared{filters: filterCache{capacity: 1 << 20}}
	g := &Generation{pool: &pool.Pool{}, shared: p, at: []*residence{{store: fullStore{}}}}
	f, err := g.Filter([query.KeyLen]byte{1}, func(s *FilterSpec) error { s.Bits = []uint64{1}; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.On(t.Context(), 0); !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("%v, want an error that lets the query run elsewhere", err)
	}
}

// TestFilterAttempts: a filter that fits nowhere is made a few times, although many idle filters go.
func TestFilterAttempts(t *testing.T) {
	p := &Shared{filters: filterCache{capacity: 1 << 20}}
	room, attempts := 100, 0
	g := &Generation{pool: &pool.Pool{}, shared: p, at: []*residence{{store: narrowStore{room: &room}}}}
	for k := range byte(100) {
		f, err := g.Filter([query.KeyLen]byte{k}, func(s *FilterSpec) error { s.Bits = []uint64{1}; return nil })
		if err == nil {
			_, err = f.On(t.Context(), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Off(0)
	}
	g.at[0].store = countedStore{fullStore{}, &attempts}
	f, _ := g.Filter([query.KeyLen]byte{100}, func(s *FilterSpec) error { s.Bits = []uint64{1}; return nil })
	if _, err := f.On(t.Context(), 0); !errors.Is(err, plan.ErrTooLarge) || attempts > 8 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

// countedStore counts the attempts to make a filter.
type countedStore struct {
	plan.Store
	attempts *int
}

func (s countedStore) Filter(ctx context.Context, b []uint64) (plan.Filter, error) {
	*s.attempts++
	return s.Store.Filter(ctx, b)
}

// narrowStore has memory for as many filters as room tells.
type narrowStore struct {
	plan.Store
	room *int
}

func (s narrowStore) Filter(context.Context, []uint64) (plan.Filter, error) {
	if *s.room == 0 {
		return fullStore{}.Filter(context.Background(), nil)
	}
	*s.room--
	return roomySet{fakeSet{bytes: 1}, s.room}, nil
}

// roomySet gives its room back.
type roomySet struct {
	fakeSet
	room *int
}

func (s roomySet) Count() uint32 { return 1 }
func (s roomySet) Close() error  { *s.room++; return nil }

// TestFilterEviction: where memory is short, the idle filters that were not used for the longest time
// make room. A filter in use stays.
func TestFilterEviction(t *testing.T) {
	p := &Shared{filters: filterCache{capacity: 1 << 20}}
	room := 3
	g := &Generation{pool: &pool.Pool{}, shared: p, at: []*residence{{store: narrowStore{room: &room}}}}
	on := func(k byte) (*Filter, error) {
		f, err := g.Filter([query.KeyLen]byte{k}, func(s *FilterSpec) error { s.Bits = []uint64{1}; return nil })
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.On(t.Context(), 0)
		return f, err
	}
	first, _ := on(1) // stays in use
	for k := range byte(4) {
		f, err := on(2 + k)
		if err != nil {
			t.Fatal(err)
		}
		f.Off(0)
	}
	known := func(k byte) bool { return g.filter(&[query.KeyLen]byte{k}) != nil }
	if s := p.filters.stats(); s.Evicted != 2 || !known(1) || known(2) || known(3) || !known(5) || !known(4) {
		t.Errorf("%+v: the wrong filters are left", s)
	}
	if _, err := on(6); err != nil || known(5) || !known(4) {
		t.Errorf("%v: the filter that was used last is gone", err)
	}
	first.Off(0)
}
