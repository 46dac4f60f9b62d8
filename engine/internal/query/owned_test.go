package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

// meeting is a filter of all documents whose Bits return when two goroutines have called it.
type meeting struct {
	plan.Filter
	bits   []uint64
	both   chan struct{}
	first  sync.Once
	second sync.Once
}

func (f *meeting) On(context.Context, int) (plan.Filter, error) { return f.Filter, nil }
func (f *meeting) Off(int)                                      {}
func (f *meeting) Key() *[KeyLen]byte                           { return new([KeyLen]byte) }

func (f *meeting) Bits(ctx context.Context) ([]uint64, error) {
	alone := false
	f.first.Do(func() { alone = true })
	if !alone {
		f.second.Do(func() { close(f.both) })
	}
	select {
	case <-f.both:
		return f.bits, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestOwnedInParallel answers phrases of a batch on two threads, where both answer at the same time, and on one: with equal answers and statistics. A
// context that ends and an error end the batch.
func TestOwnedInParallel(t *testing.T) {
	const docs = 3000
	x := zipfText(t, text{docs: docs, vocabulary: 1000})
	host := hostfallback.New(hostfallback.Options{})
	defer host.Close()
	s, err := host.Load(t.Context(), x.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bits := make([]uint64, plan.FilterWords(docs))
	for d := range docs {
		bits[d/64] |= 1 << (d % 64)
	}
	all, err := s.Filter(t.Context(), bits)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf([]string{`"%d %d"`, `NEAR/5(%d %d)`, `"%d %d"~3 5`, `%d AND NOT "%d 4"`}[i%4], i%7, 1+i%5))
	}
	run := func(ctx context.Context, opt Options, threads int, f Filter) (*Batch, error) {
		q := batchOf(t, x, texts, opt)
		if q.Threads = threads; f != nil {
			for range texts {
				q.filters = append(q.filters, f)
			}
		}
		return q, q.Run(ctx, s, 0)
	}
	for _, opt := range []Options{{}, {CountOnly: true}, {K: 10}, {K: 3, Total: 1000}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, err := run(ctx, opt, 2, &meeting{Filter: all, bits: bits, both: make(chan struct{})})
		cancel()
		if err != nil {
			t.Fatalf("%+v: %v: one goroutine answers all phrases", opt, err)
		}
		free := &meeting{Filter: all, bits: bits, both: make(chan struct{})}
		close(free.both)
		free.second.Do(func() {})
		want, err := run(t.Context(), opt, 1, free)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range texts {
			n, docs, scores := got.Hits(i)
			m, expected, sums := want.Hits(i)
			if found += len(docs); n != m || !slices.Equal(docs, expected) || !slices.Equal(scores, sums) || got.Total(i) != want.Total(i) {
				t.Errorf("%s %+v: %d documents %v, %v, on one thread %d documents %v, %v", texts[i], opt, n, docs, scores, m, expected, sums)
			}
		}
		a, b := *got.Stats(), *want.Stats()
		if a.Wall, b.Wall = 0, 0; !reflect.DeepEqual(a, b) || a.PhraseCandidates == 0 || !opt.CountOnly && found == 0 {
			t.Errorf("%+v: %d documents, %+v, on one thread %+v", opt, found, a, b)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := run(ctx, opt, 1, &meeting{Filter: all, bits: bits, both: make(chan struct{})}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v: %v after the end of the context", opt, err)
		}
		cancel()
	}
}

// TestPut: two batches with one query give it lists of a device while the other one reads them. Only the race detector fails.
func TestPut(t *testing.T) {
	x := zipfText(t, text{docs: 500, vocabulary: 100})
	p := batchOf(t, x, []string{`"1 2" AND "2 3"`}, Options{}).owned[0]
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 10 {
				p.mu.Lock()
				p.put([]*plan.Made{{}, {}})
				p.mu.Unlock()
				if _, err := p.docs(t.Context(), x.Source, nil, 0, new(plan.Stats)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
}
