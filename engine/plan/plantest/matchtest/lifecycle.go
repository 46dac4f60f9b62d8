package matchtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// concurrent has several callers on one store, each with its own batch. Some of
// them are the first to use an algorithm on their backend.
func (su suite) concurrent(t *testing.T) {
	s, b := su.Workload(t, su.Pick(40, 12), su.Pick(200, 20))
	want := reference.Match(s.Plain.Docs, b)
	st := plantest.LoadOn(t, su.Backend(t), s)
	var wg sync.WaitGroup
	for caller := range su.Pick(8, 3) {
		wg.Go(func() {
			var out plan.Results
			for round := range su.Algorithms {
				mine := *b
				mine.Algorithm = su.Algorithms[(round+caller/2)%len(su.Algorithms)]
				mine.CountOnly = caller%2 == 1
				if err := st.Match(t.Context(), &mine, &out); err != nil {
					t.Errorf("caller %d, %v: %v", caller, mine.Algorithm, err)
					return
				}
				if err := compare(s, &mine, want, &out); err != nil {
					t.Errorf("caller %d, %v: %v", caller, mine.Algorithm, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// cancel stops batches before they start and while they run. The store must stay
// usable and must never return a part of an answer without an error.
func (su suite) cancel(t *testing.T) {
	s, b := su.Workload(t, su.Pick(40, 12), su.Pick(400, 40))
	want := reference.Match(s.Plain.Docs, b)
	st := su.Load(t, s)
	var out plan.Results
	usable := func() {
		t.Helper()
		if err := st.Match(t.Context(), b, &out); err != nil {
			t.Fatalf("after a cancelled batch: %v", err)
		}
		if err := compare(s, b, want, &out); err != nil {
			t.Fatalf("after a cancelled batch: %v", err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, a := range su.Algorithms {
		b.Algorithm = a
		if err := st.Match(ctx, b, &out); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v under a cancelled context: %v", a, err)
		}
		usable()
	}
	ctx, stop = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	if err := st.Match(ctx, b, &out); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("after the deadline: %v", err)
	}
	stop()

	su.Interrupt(t, func(ctx context.Context, i int) error {
		b.Algorithm = su.Algorithms[i%len(su.Algorithms)]
		return st.Match(ctx, b, &out)
	}, func() error { return compare(s, b, want, &out) })
	usable()

	ctx, stop = context.WithCancel(t.Context())
	stop()
	if st, err := su.Shared.Load(ctx, &s.Source); err == nil {
		st.Close()
		t.Error("a load under a cancelled context went through")
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("load under a cancelled context: %v", err)
	}
}

// close checks that closed stores and backends return plan.ErrClosed.
func (su suite) close(t *testing.T) {
	s, b := su.Workload(t, 6, 5)
	backend := su.Open(t)
	st, err := backend.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	other, err := backend.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	var out plan.Results
	if err := st.Match(t.Context(), b, &out); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a batch on a closed store: %v", err)
	}
	if err := st.Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
	su.verify(t, other, s, b) // the other store is still open
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Load(t.Context(), &s.Source); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a load on a closed backend: %v", err)
	}
	if err := backend.Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
}

// badSource loads sources with an impossible descriptor. Loading or matching the
// list must give an error.
func (su suite) badSource(t *testing.T) {
	for name, src := range map[string]*plan.Source{
		"unaligned":  {Docs: 10, Words: make([]uint32, 8), Lists: []plan.List{{Off: 2, Words: 2, Len: 2, Codec: codec.Raw}}},
		"outside":    {Docs: 10, Words: make([]uint32, 8), Lists: []plan.List{{Off: 4, Words: 5, Len: 5, Codec: codec.Raw}}},
		"far away":   {Docs: 10, Words: make([]uint32, 8), Lists: []plan.List{{Off: 1 << 63, Words: 1, Len: 1, Codec: codec.Raw}}},
		"too many":   {Docs: 1, Words: []uint32{1, 2}, Lists: []plan.List{{Words: 2, Len: 2, Codec: codec.Raw}}},
		"no codec":   {Docs: 10, Words: []uint32{1, 2}, Lists: []plan.List{{Words: 2, Len: 2, Codec: 200}}},
		"too short":  {Docs: 10, Words: []uint32{1, 2}, Lists: []plan.List{{Words: 1, Len: 2, Codec: codec.Raw}}},
		"no segment": {Docs: 10, Words: []uint32{1, 2}, Lists: []plan.List{{Words: 2, Len: 2, Codec: codec.ParaPFor}}},
	} {
		src.Lists = append(src.Lists, plan.List{Codec: codec.Raw}) // a sound list
		st, err := su.Shared.Load(t.Context(), src)
		if err != nil {
			continue
		}
		for _, a := range su.Algorithms {
			b := plan.MatchBatch{Algorithm: a}
			b.Add(src, 0)
			if err := st.Match(t.Context(), &b, &plan.Results{}); err == nil {
				t.Errorf("%s: neither load nor %v gave an error", name, a)
			}
		}
		st.Close()
	}
}
