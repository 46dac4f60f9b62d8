package bitmap

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/bench/harness"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// measurePeers measures other libraries on the bins of the largest query.
func (s *bench) measurePeers(ctx context.Context, set *set, p *peer, add func(*cost) error) error {
	if set.table.Word() != 64 { // they have no 32-bit words
		return nil
	}
	for _, way := range []struct {
		name string
		run  func() (uint64, error)
	}{
		{fastOr, func() (uint64, error) { return roaring.FastOr(p.roaring...).GetCardinality(), nil }},
		{"roaring ParOr", func() (uint64, error) { return roaring.ParOr(s.Opt.Threads, p.roaring...).GetCardinality(), nil }},
		{"plain bitsets", func() (uint64, error) { return p.plainOr(ctx, len(p.plain)) }},
	} {
		c := &cost{setup: setup{bins: mostBins, threads: s.Opt.Threads}, peer: way.name}
		var err error
		if c.time, err = s.Timed(func() (err error) { c.count, err = way.run(); return err }); err != nil {
			return err
		}
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}

const fastOr = "roaring FastOr"

// measureOn measures a set on a contestant.
func (s *bench) measureOn(ctx context.Context, who harness.Contestant, set *set, add func(*cost) error) error {
	threads := []int{s.Opt.Threads}
	if who.Name == "host" && set.table.Word() == 64 {
		for n := 1; n < s.Opt.Threads; n *= 2 {
			threads = append(threads, n)
		}
		slices.Sort(threads)
	}
	for _, n := range threads {
		store, release, err := s.store(ctx, who, n, set.table)
		if errors.Is(err, plan.ErrUnsupported) {
			s.Logf("%s on %s left out: %v", set.name, who, err)
			return nil
		}
		if err != nil {
			return err
		}
		err = s.measureStore(ctx, who, n, store, set, add)
		if err = errors.Join(err, store.Close(), release()); err != nil {
			return err
		}
	}
	return nil
}

// store loads a table on a contestant. release closes the backend of the store.
func (s *bench) store(ctx context.Context, who harness.Contestant, threads int, t *plan.Table) (st plan.TableStore, release func() error, err error) {
	if who.Device == nil {
		b := hostfallback.New(hostfallback.Options{Threads: threads})
		st, err = b.LoadTable(ctx, t)
		return st, b.Close, err
	}
	b, err := s.Backend(ctx, who, harness.Alone)
	if err != nil {
		return nil, nil, err
	}
	st, err = b.LoadTable(ctx, t)
	return st, func() error { return nil }, err
}

// measureStore measures the strategies of a store: all on the largest query with
// all outputs, and also on fewer bins for figures.
func (s *bench) measureStore(ctx context.Context, who harness.Contestant, threads int, st plan.TableStore, set *set, add func(*cost) error) error {
	whole := threads == s.Opt.Threads
	var setups []setup
	for _, strategy := range append([]plan.Strategy{plan.StrategyAuto}, st.Strategies()...) {
		for _, m := range s.binCounts() {
			for _, rescan := range []bool{false, true} {
				if rescan && !decompresses(strategy) {
					continue
				}
				u := setup{strategy: strategy, rescan: rescan, bins: m, threads: threads, output: plan.OutputCounts}
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
	peak := s.Peak(ctx, who)
	rows := new(plan.Rows)
	for _, u := range setups {
		q := set.query(u.bins)
		q.Strategy, q.Rescan, q.Output = u.strategy, u.rescan, u.output
		c := &cost{setup: u, who: who, peak: peak}
		var err error
		if c.time, err = s.Timed(func() error { return st.Select(ctx, q, rows) }); err != nil {
			if errors.Is(err, plan.ErrOutOfMemory) {
				s.Logf("%s of %d bins on %s left out: %v", u.name(), u.bins, who, err)
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
