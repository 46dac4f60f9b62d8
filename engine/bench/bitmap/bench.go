package bitmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
	"runtime/debug"
	"time"
)

// bitmapSetup is one way to the OR of the first bins vectors of a set.
type setup struct {
	set      string
	word     int
	strategy plan.Strategy
	rescan   bool
	output   plan.Output
	bins     int
	threads  int // of pure Go
}

// name is how tables name the way.
func (u setup) name() string {
	return u.strategy.String() + measure.When(u.rescan, ", scans anew")
}

// decompresses tells the strategies that the paper has for devices.
func decompresses(s plan.Strategy) bool { return s >= plan.COA && s <= plan.IdealHybrid }

// bitmapCost is what was measured of a setup, or of a peer.
type cost struct {
	setup
	who   harness.Contestant // of a peer, that without a name
	peer  string
	time  measure.Summary // µs
	bytes uint64          // of the compressed words of the vectors
	count uint64
	ratio float64 // of the set: compressed over plain bytes
	peak  float64 // copy bandwidth, bytes a second
	// published is bitmapSet.published of the vectors of the largest query.
	published float64
}

// bitmapSets makes the sets, one at a time.
func (s *bench) bitmapSets() (all []drawSet, err error) {
	rows := s.Opt.Rows
	for _, skew := range []float64{0, 1, 2} {
		all = append(all, func(ctx context.Context, word int) (*set, error) {
			return zipfSet(ctx, s.Opt.Seed, skew, rows, word)
		})
	}
	all = append(all, func(_ context.Context, word int) (*set, error) {
		return runsSet(s.Opt.Seed, min(kddRows, rows), word), nil
	})
	real, err := s.realTables()
	return append(all, real...), err
}

// bitmapCosts measures all sets on all contestants, once.
func (s *bench) allCosts(ctx context.Context) ([]*cost, error) {
	if s.costs != nil {
		return s.costs, nil
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
			s.Logf("%s, %d-bit words: %d vectors of %d rows, %.3g of their plain size; made in %.1f s", set.name, word,
				len(set.table.Vectors), set.table.Rows, set.ratio(), time.Since(began).Seconds())
			costs, err := s.measureBitmaps(ctx, set)
			var autos []*autoCost
			if err == nil {
				autos, err = s.measureAuto(ctx, set, costs)
			}
			if err = errors.Join(err, set.close()); err != nil {
				return nil, fmt.Errorf("%s: %w", set.name, err)
			}
			s.costs, s.autos = append(s.costs, costs...), append(s.autos, autos...)
			set = nil
			debug.FreeOSMemory()
		}
	}
	return s.costs, nil
}

// binCounts are how many bins queries have.
func (s *bench) binCounts() []int {
	return harness.Pick(&s.Opt, []int{4, 8, 16, 32, mostBins}, []int{4, 16, mostBins})
}

// measureBitmaps measures a set. All ways must count the same rows.
func (s *bench) measureBitmaps(ctx context.Context, set *set) (costs []*cost, err error) {
	peer, err := newPeer(ctx, set, set.picks[:min(mostBins, len(set.picks))])
	if err != nil {
		return nil, err
	}
	s.rowsOf[set.name], s.roaringSize[set.name] = set.table.Rows, peer.size()
	want := make(map[int]uint64) // rows, by bins
	for _, m := range s.binCounts() {
		n, err := peer.plainOr(ctx, min(m, len(peer.plain)))
		if err != nil {
			return nil, err
		}
		want[m] = n
	}
	published := set.published(set.picks[:min(mostBins, len(set.picks))])
	add := func(c *cost) error {
		if c.count != want[c.bins] {
			return fmt.Errorf("%s of %d bins: %d rows, a plain OR has %d", cmp.Or(c.peer, c.name()), c.bins, c.count, want[c.bins])
		}
		c.set, c.word, c.ratio = set.name, set.table.Word(), set.ratio()
		c.published = published
		c.bytes = set.table.VectorBytes(set.picks[:min(c.bins, len(set.picks))])
		costs = append(costs, c)
		return nil
	}
	if err := s.measureBitmapPeers(ctx, set, peer, add); err != nil {
		return nil, err
	}
	for _, who := range s.Contestants {
		if err := s.measureBitmapsOn(ctx, who, set, add); err != nil {
			return nil, fmt.Errorf("%s: %w", who, err)
		}
	}
	return costs, nil
}
