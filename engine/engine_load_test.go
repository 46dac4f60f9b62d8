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

	"heddle/engine/internal/cost"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// asking is what callers ask of an engine, with what a scan of the documents, and an index
// that nothing is wrong with, have answered before.
type asking struct {
	source func() (*plan.Source, Dictionary)
	qs     []question
}

type question struct {
	boolean, ranked Query
	every, any      []uint32 // documents that have all terms, or one of them
	best            map[Mode]Ranking
}

const askedFor = 5 // documents of a ranking

func newAsking(t testing.TB, docs, queries int) *asking {
	t.Helper()
	c := rankedCorpus(docs)
	src, dict := c.source(t, 0)
	x := c.open(t, 0, Options{Backend: "host"})
	a := &asking{source: func() (*plan.Source, Dictionary) { return src, dict }}
	for _, q := range rankedQueries(queries) {
		one := question{boolean: Query{Terms: q.Terms}, ranked: q, best: map[Mode]Ranking{}}
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
		for _, mode := range Modes() {
			one.best[mode] = mustRank(t, x, q, RankOptions{Mode: mode, K: askedFor})
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

func (f form) search() SearchOptions { return SearchOptions{CountOnly: f == count, Any: f == anyTerm} }
func (f form) rank() RankOptions     { return RankOptions{Mode: Mode(f - firstRanked), K: askedFor} }

// matched compares documents with those of the scan.
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
func (q *question) one(ctx context.Context, e *Engine, f form, call Call) (err error) {
	if f >= firstRanked {
		r, err := e.Rank(ctx, q.ranked, f.rank(), call)
		if err != nil {
			return err
		}
		return wrong(q.placed(f, r.Docs, r.Scores))
	}
	a, err := e.Search(ctx, q.boolean, f.search(), call)
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
func (a *asking) many(ctx context.Context, e *Engine, f form, first, n int, call Call) (err error) {
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
		err = e.RankBatches(ctx, qs, f.rank(), call, func(from int, r *Rankings) error {
			for i := range r.Queries() {
				docs, scores := r.Query(i)
				note(from+i, at(from+i).placed(f, docs, scores))
			}
			return nil
		})
	} else {
		for i := range qs {
			qs[i] = at(i).boolean
		}
		err = e.SearchBatches(ctx, qs, f.search(), call, func(from int, r *plan.Results) error {
			for i := range len(r.Offsets) - 1 {
				var docs []uint32
				if f != count {
					docs = r.Query(i)
				}
				note(from+i, at(from+i).matched(f, r.Count(i), docs))
			}
			return nil
		})
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
// the others in streams, some with deadlines, some of contexts that end. It gives what
// they failed with, but for that.
func (a *asking) load(t *testing.T, e *Engine, n int) (failed []error) {
	t.Helper()
	var left [2]atomic.Int64 // single ones, and those of streams
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
				call := Call{Caller: fmt.Sprint("caller ", caller%3), Mode: schedule.Mode(r.IntN(3))}
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

// heard counts what an engine tells of.
type heard struct {
	calls, queries, answered atomic.Int64

	mu      sync.Mutex
	out     map[string]error // processors taken out, and why
	release chan struct{}    // closed when the first is
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
		if h.out == nil {
			h.out = map[string]error{}
			if h.release != nil {
				close(h.release)
			}
		}
		h.out[v.Processor] = v.Err
	}
}

// TestCompany: a run was alone if it began with nothing running, and nothing began since.
func TestCompany(t *testing.T) {
	var c company
	a := c.enter()
	if !c.alone(a) {
		t.Error("the only run was not alone")
	}
	b := c.enter()
	c.leave()
	if c.alone(a) || c.alone(b) {
		t.Error("one of two runs beside each other was alone")
	}
	c.leave()
	if d := c.enter(); !c.alone(d) {
		t.Error("a run after others was not alone")
	}
}

// TestBlocks: towards the end of a call blocks get smaller; those of a host that is slow
// beside devices take no more than a quarter of the time that is left, and all queries are cut.
func TestBlocks(t *testing.T) {
	var mean atomic.Uint64
	mean.Store(10)
	g := &generation{processors: []*processor{{host: true, lanes: 2}, {lanes: 16}}}
	host, device := &g.processors[0].perQuery[cost.And], &g.processors[1].perQuery[cost.And]
	cut := func(p, queries int) []int {
		s := &stream{g: g, qs: make([]Query, queries), most: 1 << 16, mean: &mean}
		var sizes []int
		for next := 0; next < queries; {
			b := s.Cut(p, 5000).Work.(*block)
			if b.first != next {
				t.Fatalf("a block from %d, want %d", b.first, next)
			}
			sizes, next = append(sizes, len(b.queries)), next+len(b.queries)
		}
		if s.Cut(p, 5000) != nil {
			t.Error("a block of nothing")
		}
		return sizes
	}
	if got := cut(0, 100)[0]; got != 8 {
		t.Errorf("the first block of a host that nothing is known of has %d queries", got)
	}
	host.Store(2_000_000) // 1,000 queries a second on two lanes
	device.Store(160_000) // 100,000 on sixteen
	sizes := cut(1, 10_000)
	if sizes[0] != 500 || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) || sizes[len(sizes)-2] != firstBlock {
		t.Errorf("on a device: %v", sizes)
	}
	g.processors[1].out.Store(true)
	if got := cut(0, 10_000); !slices.Equal(got[:2], []int{500, 500}) || got[len(got)-2] != firstBlock {
		t.Errorf("on a host that is left alone: %v", got)
	}
	g.processors[1].out.Store(false)
	for left, want := range map[int]int{10_000: 12, 2000: 2, 10: 1} { // a quarter of left/101,000 s, 2 ms each
		if got := cut(0, left)[0]; got != want {
			t.Errorf("%d queries left: a block of %d on the host, want %d", left, got, want)
		}
	}
}
