package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// asking holds the questions of callers, and the answers of a scan of the documents and
// of a sound index.
type asking struct {
	source func() (*plan.Source, Dictionary)
	qs     []question
}

type question struct {
	boolean, ranked Query
	every, any      []uint32 // documents that have all terms, or one of them
	best            map[Match]ranking
}

const askedFor = 5 // documents of a ranking

func newAsking(t testing.TB, docs, queries int) *asking {
	t.Helper()
	c := rankedCorpus(docs)
	src, dict := c.source(t, 0)
	x := c.open(t, 0, Options{Backend: "host"})
	a := &asking{source: func() (*plan.Source, Dictionary) { return src, dict }}
	for _, q := range rankedQueries(queries) {
		one := question{boolean: Query{Terms: q.Terms}, ranked: q, best: map[Match]ranking{}}
		for d, doc := range c {
			n := 0
			for _, term := range q.Terms {
				if doc[term] > 0 {
					n++
				}
			}
			if n > 0 {
				one.any = append(one.any, uint32(d))
			}
			if n > 0 && n == len(q.Terms) {
				one.every = append(one.every, uint32(d))
			}
		}
		for _, mode := range Matches() {
			one.best[mode] = mustRank(t, x, q, rankOptions{Mode: mode, K: askedFor})
		}
		a.qs = append(a.qs, one)
	}
	return a
}

// form is how a question is asked.
type form int

const (
	every form = iota
	count
	anyTerm
	firstRanked
	forms = firstRanked + form(AndOr) + 1
)

func (f form) search() searchOptions { return searchOptions{CountOnly: f == count, Any: f == anyTerm} }
func (f form) rank() rankOptions     { return rankOptions{Mode: Match(f - firstRanked), K: askedFor} }

// matched compares documents with the documents of the scan.
func (q *question) matched(f form, n uint64, docs []uint32) error {
	want := q.every
	if f == anyTerm {
		want = q.any
	}
	if n != uint64(len(want)) || f == count && len(docs) > 0 || f != count && !slices.Equal(docs, want) {
		return fmt.Errorf("%v: %d documents %v, want %v", q.boolean.Terms, n, docs, want)
	}
	return nil
}

func (q *question) placed(f form, docs []uint32, scores []float64) error {
	if want := q.best[f.rank().Mode]; !slices.Equal(docs, want.Docs) || !slices.Equal(scores, want.Scores) {
		return fmt.Errorf("%+v: %v %v, want %v", q.ranked, docs, scores, want)
	}
	return nil
}

// one asks a question and looks at the answer. A wrong one gives an error that is errWrong.
func (q *question) one(ctx context.Context, e *served, f form, call calling) (err error) {
	if f >= firstRanked {
		r, err := e.rank(ctx, q.ranked, f.rank(), call)
		if err != nil {
			return err
		}
		return wrong(q.placed(f, r.Docs, r.Scores))
	}
	a, err := e.search(ctx, q.boolean, f.search(), call)
	if err != nil {
		return err
	}
	return wrong(q.matched(f, a.Count, a.Docs))
}

var errWrong = errors.New("a wrong answer")

func wrong(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", errWrong, err)
	}
	return err
}

// many asks n questions from the first on as a stream. Each must be answered once, and
// not more often where there is an error.
func (a *asking) many(ctx context.Context, e *served, f form, first, n int, call calling) (err error) {
	qs, times := make([]Query, n), make([]atomic.Int32, n)
	at := func(i int) *question { return &a.qs[(first+i)%len(a.qs)] }
	var bad atomic.Pointer[error]
	note := func(i int, err error) {
		if times[i].Add(1) > 1 {
			err = errors.New("answered twice")
		}
		if err = wrong(err); err != nil {
			bad.Store(&err)
		}
	}
	if f >= firstRanked {
		for i := range qs {
			qs[i] = at(i).ranked
		}
		err = e.rankBatches(ctx, qs, f.rank(), func(from int, r *rankings) error {
			for i := range r.Queries() {
				docs, scores := r.Query(i)
				note(from+i, at(from+i).placed(f, docs, scores))
			}
			return nil
		}, call)
	} else {
		for i := range qs {
			qs[i] = at(i).boolean
		}
		err = e.searchBatches(ctx, qs, f.search(), func(from int, r *plan.Results) error {
			for i := range len(r.Offsets) - 1 {
				var docs []uint32
				if f != count {
					docs = r.Query(i)
				}
				note(from+i, at(from+i).matched(f, r.Count(i), docs))
			}
			return nil
		}, call)
	}
	if b := bad.Load(); b != nil {
		return *b
	}
	for i := range times {
		if err == nil && times[i].Load() != 1 {
			return wrong(fmt.Errorf("query %d of %d is lost", i, n))
		}
	}
	return err
}

// load has callers ask n questions of all forms in all modes, a third of them singly and
// the others in streams, some with deadlines, some with contexts that end. It returns all
// other errors.
func (a *asking) load(t *testing.T, e *served, n int) (failed []error) {
	t.Helper()
	var left [2]atomic.Int64 // single questions, questions of streams
	left[0].Store(int64(n / 3))
	left[1].Store(int64(n - n/3))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for caller := range 12 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(caller), 11))
			for {
				most, from := 1, &left[0]
				if caller%4 == 0 {
					most, from = 1+r.IntN(120), &left[1]
				}
				size := min(int(from.Add(-int64(most)))+most, most)
				if size <= 0 {
					return
				}
				call := calling{Caller: fmt.Sprint("caller ", caller%3), Mode: schedule.Mode(r.IntN(3))}
				ctx, stop := t.Context(), context.CancelFunc(func() {})
				var expected error
				switch within := time.Duration(1+r.IntN(5000)) * time.Microsecond; r.IntN(20) {
				case 0:
					call.Timeout, expected = within, schedule.ErrDeadline
				case 1:
					ctx, stop = context.WithTimeout(ctx, within)
					expected = context.DeadlineExceeded
				case 2:
					ctx, stop = context.WithCancel(ctx)
					timer := time.AfterFunc(within, stop)
					defer timer.Stop()
					expected = context.Canceled
				}
				f, i := form(r.IntN(int(forms))), r.IntN(len(a.qs))
				var err error
				if caller%4 == 0 {
					err = a.many(ctx, e, f, i, size, call)
				} else {
					err = a.qs[i].one(ctx, e, f, call)
				}
				stop()
				if err != nil && (expected == nil || !errors.Is(err, expected)) {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// heard counts the events that an engine reports.
type heard struct {
	calls, queries, answered atomic.Int64

	mu      sync.Mutex
	out     map[string]error // processors taken out, and why
	back    []string         // processors restored
	release chan struct{}    // closed when the first is taken out
}

func (h *heard) Answered(_ context.Context, q *observe.Explanation) {
	h.calls.Add(1)
	h.queries.Add(int64(q.Queries))
	if q.Err == nil {
		h.answered.Add(int64(q.Queries))
	}
}

func (h *heard) Happened(v observe.Event) {
	if v.Processor != "" {
		h.mu.Lock()
		defer h.mu.Unlock()
		if v.Err == nil {
			h.back = append(h.back, v.Processor)
			return
		}
		if h.out == nil {
			h.out = map[string]error{}
			if h.release != nil {
				close(h.release)
			}
		}
		h.out[v.Processor] = v.Err
	}
}
