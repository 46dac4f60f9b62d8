package bench

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

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

// mostTime is how long something is timed at most, but for two runs.
const mostTime = time.Second

// timed runs f once to warm up and then for the runs of a figure, or for some time: µs.
func (s *session) timed(f func() error) (summary, error) {
	var times []float64
	for began := time.Now(); ; {
		start := time.Now()
		if err := f(); err != nil {
			return summary{}, err
		}
		times = append(times, time.Since(start).Seconds()*1e6)
		if spent, n := time.Since(began), len(times)-1; n >= s.opt.Runs && spent > s.leastTime() || n >= 2 && spent > mostTime {
			return summarize(times[1:]), nil
		}
	}
}

// leastTime is how long something is timed at least.
func (s *session) leastTime() time.Duration {
	if s.opt.Short {
		return leastTime / 10
	}
	return leastTime
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
		for _, m := range s.binCounts() {
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
