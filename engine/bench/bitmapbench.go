package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime/debug"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

// Bitmap measures the OR of bit vectors, and reproduces what a paper measured of it:
// opt.Figures and opt.Tables, of BitmapExhibits. Else it is as Lists.
func Bitmap(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	return reproduce(ctx, "bitmap", bitmapExhibits(), opt, stdout, stderr)
}

// BitmapExhibits describes what Bitmap reproduces, as ListsExhibits does.
func BitmapExhibits() []string { return headings(bitmapExhibits()) }

// CheckBitmap reports names in opt.Figures and opt.Tables that are none of Bitmap.
func CheckBitmap(opt Options) error { return check(bitmapExhibits(), opt) }

// bitmapSetup is one way to the OR of the first bins vectors of a set.
type bitmapSetup struct {
	set      string
	word     int
	strategy plan.Strategy
	rescan   bool
	output   plan.Output
	bins     int
	threads  int // of pure Go
}

// name is how tables name the way.
func (u bitmapSetup) name() string {
	return u.strategy.String() + known(u.rescan, ", scans anew")
}

// decompresses tells the strategies that the paper has for devices.
func decompresses(s plan.Strategy) bool { return s >= plan.COA && s <= plan.IdealHybrid }

// bitmapCost is what was measured of a setup, or of a peer.
type bitmapCost struct {
	bitmapSetup
	who   contestant // of a peer, that without a name
	peer  string
	time  summary // µs
	bytes uint64  // of the compressed words of the vectors
	count uint64
	ratio float64 // of the set: compressed over plain bytes
	peak  float64 // copy bandwidth, bytes a second
}

// bitmapSets makes the sets, one at a time.
func (s *session) bitmapSets() (all []func(ctx context.Context, word int) (*bitmapSet, error), err error) {
	rows := s.opt.Rows
	for _, skew := range []float64{0, 1, 2} {
		all = append(all, func(ctx context.Context, word int) (*bitmapSet, error) {
			return zipfSet(ctx, s.opt.Seed, skew, rows, word)
		})
	}
	all = append(all, func(_ context.Context, word int) (*bitmapSet, error) {
		return runsSet(s.opt.Seed, min(kddRows, rows), word), nil
	})
	real, err := s.realTables()
	return append(all, real...), err
}

// bitmapCosts measures all sets on all contestants, once.
func (s *session) bitmapCosts(ctx context.Context) ([]*bitmapCost, error) {
	if s.bitmaps != nil {
		return s.bitmaps, nil
	}
	sets, err := s.bitmapSets()
	if err != nil {
		return nil, err
	}
	for _, draw := range sets {
		for _, word := range []int{64, 32} {
			began := time.Now()
			set, err := draw(ctx, word)
			if err != nil {
				return nil, err
			}
			s.logf("%s, %d-bit words: %d vectors of %d rows, %.3g of their plain size; made in %.1f s", set.name, word,
				len(set.table.Vectors), set.table.Rows, set.ratio(), time.Since(began).Seconds())
			costs, err := s.measureBitmaps(ctx, set)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", set.name, err)
			}
			s.bitmaps = append(s.bitmaps, costs...)
			set = nil
			debug.FreeOSMemory()
		}
	}
	return s.bitmaps, nil
}

// binCounts are how many bins queries have.
var binCounts = []int{4, 8, 16, 32, mostBins}

// measureBitmaps measures a set. All ways must count the same rows.
func (s *session) measureBitmaps(ctx context.Context, set *bitmapSet) (costs []*bitmapCost, err error) {
	peer, err := newBitmapPeer(ctx, set, set.picks[:min(mostBins, len(set.picks))])
	if err != nil {
		return nil, err
	}
	s.rowsOf[set.name], s.roaringSize[set.name] = set.table.Rows, peer.size()
	want := make(map[int]uint64) // rows, by bins
	for _, m := range binCounts {
		n, err := peer.plainOr(ctx, min(m, len(peer.plain)))
		if err != nil {
			return nil, err
		}
		want[m] = n
	}
	add := func(c *bitmapCost) error {
		if c.count != want[c.bins] {
			return fmt.Errorf("%s of %d bins: %d rows, a plain OR has %d", cmp.Or(c.peer, c.name()), c.bins, c.count, want[c.bins])
		}
		c.set, c.word, c.ratio = set.name, set.table.Word(), set.ratio()
		c.bytes = set.bytes(set.picks[:min(c.bins, len(set.picks))])
		costs = append(costs, c)
		return nil
	}
	if err := s.measureBitmapPeers(ctx, set, peer, add); err != nil {
		return nil, err
	}
	for _, who := range s.contestants {
		if err := s.measureBitmapsOn(ctx, who, set, add); err != nil {
			return nil, fmt.Errorf("%s: %w", who, err)
		}
	}
	return costs, nil
}

// measureBitmapPeers measures other libraries on the bins of the largest query.
func (s *session) measureBitmapPeers(ctx context.Context, set *bitmapSet, p *bitmapPeer, add func(*bitmapCost) error) error {
	if set.table.Word() != 64 { // they have no words of 32 bits
		return nil
	}
	for _, way := range []struct {
		name string
		run  func() (uint64, error)
	}{
		{fastOr, func() (uint64, error) { return roaring.FastOr(p.roaring...).GetCardinality(), nil }},
		{"roaring ParOr", func() (uint64, error) { return roaring.ParOr(s.opt.Threads, p.roaring...).GetCardinality(), nil }},
		{"plain bitsets", func() (uint64, error) { return p.plainOr(ctx, len(p.plain)) }},
	} {
		c := &bitmapCost{bitmapSetup: bitmapSetup{bins: mostBins, threads: s.opt.Threads}, peer: way.name}
		var err error
		if c.time, err = s.timed(func() (err error) { c.count, err = way.run(); return err }); err != nil {
			return err
		}
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}

const fastOr = "roaring FastOr"

// timed runs f once to warm up and then for the runs of a figure, or for leastTime:
// µs.
func (s *session) timed(f func() error) (summary, error) {
	var times []float64
	for began := time.Now(); len(times) <= s.opt.Runs || time.Since(began) < leastTime; {
		start := time.Now()
		if err := f(); err != nil {
			return summary{}, err
		}
		times = append(times, time.Since(start).Seconds()*1e6)
	}
	return summarize(times[1:]), nil
}

// measureBitmapsOn measures a set on a contestant.
func (s *session) measureBitmapsOn(ctx context.Context, who contestant, set *bitmapSet, add func(*bitmapCost) error) error {
	threads := []int{s.opt.Threads}
	if who.name == "host" && set.table.Word() == 64 {
		for n := 1; n < s.opt.Threads; n *= 2 {
			threads = append(threads, n)
		}
		slices.Sort(threads)
	}
	for _, n := range threads {
		store, release, err := s.bitmapStore(ctx, who, n, set.table)
		if errors.Is(err, plan.ErrUnsupported) {
			s.logf("%s on %s left out: %v", set.name, who, err)
			return nil
		}
		if err != nil {
			return err
		}
		err = s.measureBitmapStore(ctx, who, n, store, set, add)
		if err = errors.Join(err, store.Close(), release()); err != nil {
			return err
		}
	}
	return nil
}

// bitmapStore loads a table on a contestant; release what comes with it behind the store.
func (s *session) bitmapStore(ctx context.Context, who contestant, threads int, t *plan.Table) (st plan.TableStore, release func() error, err error) {
	if who.device == nil {
		b := hostfallback.New(hostfallback.Options{Threads: threads})
		st, err = b.LoadTable(ctx, t)
		return st, b.Close, err
	}
	b, err := s.backend(ctx, who, alone)
	if err != nil {
		return nil, nil, err
	}
	st, err = b.LoadTable(ctx, t)
	return st, func() error { return nil }, err
}

// measureBitmapStore measures what a store has: every strategy on the largest query
// to all outputs, and those that a figure draws on fewer bins.
func (s *session) measureBitmapStore(ctx context.Context, who contestant, threads int, st plan.TableStore, set *bitmapSet, add func(*bitmapCost) error) error {
	whole := threads == s.opt.Threads
	var setups []bitmapSetup
	for _, strategy := range append([]plan.Strategy{plan.StrategyAuto}, st.Strategies()...) {
		for _, m := range binCounts {
			for _, rescan := range []bool{false, true} {
				if rescan && !decompresses(strategy) {
					continue
				}
				u := bitmapSetup{strategy: strategy, rescan: rescan, bins: m, threads: threads, output: plan.OutputCounts}
				if m == mostBins || whole && set.table.Word() == 64 {
					setups = append(setups, u)
				}
				if m == mostBins && whole {
					for _, u.output = range []plan.Output{plan.OutputResident, plan.OutputBits} {
						setups = append(setups, u)
					}
				}
			}
		}
	}
	peak := s.bitmapPeak(ctx, who)
	rows := new(plan.Rows)
	for _, u := range setups {
		q := set.query(u.bins)
		q.Strategy, q.Rescan, q.Output = u.strategy, u.rescan, u.output
		c := &bitmapCost{bitmapSetup: u, who: who, peak: peak}
		var err error
		if c.time, err = s.timed(func() error { return st.Select(ctx, q, rows) }); err != nil {
			if errors.Is(err, plan.ErrOutOfMemory) {
				s.logf("%s of %d bins on %s left out: %v", u.name(), u.bins, who, err)
				continue
			}
			return fmt.Errorf("%s of %d bins: %w", u.name(), u.bins, err)
		}
		c.count = uint64(rows.Counts[0])
		if u.output == plan.OutputBits {
			n := 0
			for _, w := range rows.Selection(0) {
				n += bits.OnesCount64(w)
			}
			if uint64(n) != c.count {
				return fmt.Errorf("%s of %d bins: %d rows counted, %d in the bitset", u.name(), u.bins, c.count, n)
			}
		}
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}

// bitmapPeak is the copy bandwidth of a contestant.
func (s *session) bitmapPeak(ctx context.Context, who contestant) float64 {
	if who.device == nil {
		return s.hostPeak()
	}
	if p, ok := s.peaks[who.info.Device]; ok {
		return p
	}
	b, err := s.backend(ctx, who, alone)
	if err != nil {
		return 0
	}
	p, err := b.CopyPeak(ctx)
	if err != nil {
		s.logf("%s: no copy bandwidth: %v", who, err)
		return 0
	}
	s.peaks[who.info.Device] = p
	s.logf("%s copies %.1f GB/s, read and written", who.info.Device, p/1e9)
	return p
}
