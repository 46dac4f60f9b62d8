package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// work is the workload of Tune: lists and queries with the shapes of Ao et al. 2011
// (1.05 M documents, shortest lists of 8,600), with the answers of pure Go.
type work struct {
	raw, packed *plan.Source // the same lists
	queries     [][]plan.Handle
	want        [][]uint32
	candidates  []uint64 // elements of the shortest list of each query

	long   *plan.Source // one list of gaps of 8 bits
	docs   []uint32     // its docIDs
	pairs  map[int]*pair
	values []uint32 // to scan
	small  bool

	// The fields below belong to the row that is measured.
	lookBack bool
	callers  int
}

// pair is two raw lists of equal length.
type pair struct {
	src  *plan.Source
	want []uint32
}

func newWork(d *device.Device, opt Options) (*work, error) {
	w := &work{small: opt.Short || d.Info().Type == "cpu", pairs: map[int]*pair{}}
	r := rand.New(rand.NewPCG(20, 26))
	const docs = 1 << 20
	pool, queries, long, scan := 60, 8000, 1<<24, 1<<26
	if w.small {
		pool, queries, long, scan = 8, 240, 1<<20, 1<<21
	}
	w.raw, w.packed, w.long = &plan.Source{Docs: docs}, &plan.Source{Docs: docs}, &plan.Source{Docs: 1<<32 - 1}
	var postings [][]uint32
	for _, n := range []int{8600, 25000, 64000} {
		for range pool {
			list := gapList(r, n, 1, uint32(2*docs/n*9/10-1))
			postings = append(postings, list)
			if _, err := w.raw.Append(codec.Raw, list, codec.DefaultOptions()); err != nil {
				return nil, err
			}
			if _, err := w.packed.Append(codec.ParaPFor, list, codec.DefaultOptions()); err != nil {
				return nil, err
			}
		}
	}
	for i := range queries {
		q := []plan.Handle{plan.Handle(r.IntN(pool)), plan.Handle(2*pool + r.IntN(pool))}
		if i%2 == 0 {
			q = slices.Insert(q, 1, plan.Handle(pool+r.IntN(pool)))
		}
		w.queries, w.want = append(w.queries, q), append(w.want, reference.Conjunction(postings, q...))
		w.candidates = append(w.candidates, uint64(len(postings[q[0]])))
	}
	w.docs = gapList(r, long, 129, 256)
	if _, err := w.long.Append(codec.ParaPFor, w.docs, codec.DefaultOptions()); err != nil {
		return nil, err
	}
	w.values = make([]uint32, scan)
	for i := range w.values {
		w.values[i] = r.Uint32()
	}
	return w, nil
}

// gapList makes n docIDs with gaps uniform in [lo, hi].
func gapList(r *rand.Rand, n int, lo, hi uint32) []uint32 {
	docs, at := make([]uint32, n), uint32(0)
	for i := range docs {
		at += lo + r.Uint32N(hi-lo+1)
		docs[i] = at
	}
	return docs
}

// repeats is the number of runs of a batch. The best time counts.
const repeats = 4

// best answers b a few times on a store of src, checks the answers, and returns the cost of
// the run with the least time.
func (w *work) best(ctx context.Context, backend plan.Backend, src *plan.Source, b *plan.MatchBatch, want [][]uint32,
	took func(*plan.Stats) time.Duration) (plan.Stats, error) {
	s, err := backend.Load(ctx, src)
	if err != nil {
		return plan.Stats{}, err
	}
	defer s.Close()
	var out plan.Results
	var best plan.Stats
	for i := range repeats {
		if err := s.Match(ctx, b, &out); err != nil {
			return best, err
		}
		if i == 0 {
			best = out.Stats
			if err := wrong(&out, want); err != nil {
				return best, err
			}
		}
		if took(&out.Stats) < took(&best) {
			best = out.Stats
		}
	}
	if took(&best) <= 0 {
		return best, fmt.Errorf("the device's clock says %v", took(&best))
	}
	return best, nil
}

// wrong compares answers with the answers of pure Go.
func wrong(out *plan.Results, want [][]uint32) error {
	for i := range want {
		if got := out.Query(i); !slices.Equal(got, want[i]) {
			return fmt.Errorf("query %d: %d docIDs, expected %d, or wrong ones", i, len(got), len(want[i]))
		}
	}
	return nil
}

// probe runs the queries over raw and packed lists. It returns the geometric mean of the
// rates of hs16, bits, and hs16 over skip entries.
func (w *work) probe(ctx context.Context, b Backend) (float64, error) {
	product := 1.0
	for _, c := range []struct {
		src *plan.Source
		a   plan.Algorithm
	}{{w.raw, plan.HS16}, {w.raw, plan.Bits}, {w.packed, plan.HS16}} {
		batch := plan.MatchBatch{Algorithm: c.a}
		for _, q := range w.queries {
			batch.Add(c.src, q...)
		}
		st, err := w.best(ctx, b, c.src, &batch, w.want, (*plan.Stats).Kernel)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.a, err)
		}
		product *= float64(st.Candidates) / st.Kernel().Seconds() / 1e9
	}
	return math.Cbrt(product), nil
}

// decode decodes one long list.
func (w *work) decode(ctx context.Context, b Backend) (float64, error) {
	batch := plan.MatchBatch{Algorithm: plan.BS}
	batch.Add(w.long, 0)
	st, err := w.best(ctx, b, w.long, &batch, [][]uint32{w.docs}, func(st *plan.Stats) time.Duration { return st.Decode })
	return float64(len(w.docs)) / st.Decode.Seconds() / 1e9, err
}

// scan returns the geometric mean of a scan and a compaction of about half.
func (w *work) scan(ctx context.Context, b Backend) (float64, error) {
	n := len(w.values)
	out := make([]uint32, n)
	scan, err := b.Scan(ctx, out, w.values, repeats)
	if err != nil {
		return 0, err
	}
	sum, kept := uint32(0), []uint32(nil)
	for i, x := range w.values {
		if out[i] != sum {
			return 0, fmt.Errorf("sum %d is %d, expected %d", i, out[i], sum)
		}
		if sum += x; x < 1<<31 {
			kept = append(kept, x)
		}
	}
	got, compact, err := b.Compact(ctx, out[:0], w.values, primitive.Keep{Greatest: 1<<31 - 1}, repeats)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(got, kept) {
		return 0, fmt.Errorf("%d elements kept, expected %d, or wrong ones", len(got), len(kept))
	}
	if w.lookBack && !scan.LookBack {
		return 0, fmt.Errorf("work-groups make no progress")
	}
	return float64(n) / math.Sqrt(slices.Min(scan.Runs).Seconds()*slices.Min(compact.Runs).Seconds()) / 1e9, nil
}

// merge returns the rate of merges of two long lists.
func (w *work) merge(ctx context.Context, b Backend) (float64, error) {
	return w.pair(ctx, b, plan.MergePath, w.mergeSizes()[0])
}

// mergeSizes returns lengths of two lists, the greatest first.
func (w *work) mergeSizes() []int {
	if w.small {
		return []int{1 << 20, 1 << 18, 1 << 16, 1 << 14}
	}
	return []int{1 << 24, 1 << 22, 1 << 20, 1 << 18, 1 << 16, 1 << 14}
}

// pair intersects two lists of n docIDs, too sparse for bits.
func (w *work) pair(ctx context.Context, b Backend, a plan.Algorithm, n int) (float64, error) {
	p := w.pairs[n]
	if p == nil {
		r := rand.New(rand.NewPCG(uint64(n), 7))
		p = &pair{src: &plan.Source{Docs: 1<<32 - 1}}
		postings := [][]uint32{gapList(r, n, 1, 255), gapList(r, n, 1, 255)}
		for _, l := range postings {
			if _, err := p.src.Append(codec.Raw, l, codec.DefaultOptions()); err != nil {
				return 0, err
			}
		}
		p.want = reference.Intersect(postings[0], postings[1])
		w.pairs[n] = p
	}
	batch := plan.MatchBatch{Algorithm: a}
	batch.Add(p.src, 0, 1)
	st, err := w.best(ctx, b, p.src, &batch, [][]uint32{p.want}, (*plan.Stats).Kernel)
	return 2 * float64(n) / st.Kernel().Seconds() / 1e9, err
}

// batchSizes returns numbers of elements of the shortest lists of a batch.
func (w *work) batchSizes() []uint64 {
	if w.small {
		return []uint64{1 << 16, 1 << 18, 1 << 19, 1 << 20, 1 << 21}
	}
	return []uint64{1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24}
}

// rounds returns the rate of batches of a fixed size, end to end.
func (w *work) rounds(ctx context.Context, b Backend) (float64, error) {
	return w.batches(ctx, b, w.batchSizes()[len(w.batchSizes())-2], w.callers)
}

// callers is the number of concurrent senders of batches.
func callers(t device.Tuning) int { return max(2, t.Slots) }

// batches sends batches of a number of candidates from several callers for some time, and
// returns queries per second with docIDs delivered.
func (w *work) batches(ctx context.Context, b plan.Backend, candidates uint64, several int) (float64, error) {
	s, err := b.Load(ctx, w.raw)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var batch plan.MatchBatch
	var want [][]uint32
	for n, i := uint64(0), 0; n < candidates; i = (i + 1) % len(w.queries) {
		batch.Add(w.raw, w.queries[i]...)
		want = append(want, w.want[i])
		n += w.candidates[i]
	}
	span := 400 * time.Millisecond
	if w.small {
		span /= 2
	}
	var done atomic.Int64
	run := func(out *plan.Results, until time.Time) error {
		for first := true; first || time.Now().Before(until); first = false {
			if err := s.Match(ctx, &batch, out); err != nil {
				return err
			}
			done.Add(int64(batch.Queries()))
		}
		return nil
	}
	callers := make([]plan.Results, several)
	all := func(until time.Time) error {
		var g errgroup.Group
		for i := range callers {
			g.Go(func() error { return run(&callers[i], until) })
		}
		return g.Wait()
	}
	if err := all(time.Now()); err != nil { // buffers grow, kernels are built
		return 0, err
	}
	for i := range callers {
		if err := wrong(&callers[i], want); err != nil {
			return 0, err
		}
	}
	done.Store(0)
	began := time.Now()
	if err := all(began.Add(span)); err != nil {
		return 0, err
	}
	return float64(done.Load()) / time.Since(began).Seconds() / 1e6, nil
}
