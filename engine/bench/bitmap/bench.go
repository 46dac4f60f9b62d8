package bitmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// setup is one way to compute the OR of the first bins vectors of a set.
type setup struct {
	set      string
	word     int
	strategy plan.Strategy
	rescan   bool
	output   plan.Output
	bins     int
	threads  int // threads of pure Go
}

// name names the setup in tables.
func (u setup) name() string {
	return u.strategy.String() + measure.When(u.rescan, ", scans anew")
}

// decompresses reports whether a strategy is one of the paper's strategies for devices.
func decompresses(s plan.Strategy) bool { return s >= plan.COA && s <= plan.IdealHybrid }

// cost is the measured cost of a setup or of another library.
type cost struct {
	setup
	who   harness.Contestant // zero value for another library
	peer  string
	time  measure.Summary // µs
	bytes uint64          // size of the compressed vectors
	count uint64
	ratio float64 // compressed over plain size of the set
	peak  float64 // copy bandwidth, bytes per second
	// published is set.published of the vectors of the largest query.
	published float64
}

// sets returns functions that make the sets, one at a time.
func (s *bench) sets() (all []drawSet, err error) {
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

// The sizes of words in bits: all, and the size that Nelson et al. use.
var (
	allWords   = []int{64, 32}
	paperWords = []int{64}
)

// allCosts measures all sets with words of some sizes on all contestants, each size once.
func (s *bench) allCosts(ctx context.Context, words []int) ([]*cost, error) {
	words = slices.DeleteFunc(slices.Clone(words), func(w int) bool { return s.measured[w] })
	if len(words) == 0 {
		return s.costs, nil
	}
	for _, word := range words {
		s.measured[word] = true
	}
	sets, err := s.sets()
	if err != nil {
		return nil, err
	}
	for _, draw := range sets {
		for _, word := range words {
			began := time.Now()
			set, err := draw(ctx, word)
			if err != nil {
				return nil, err
			}
			s.Logf("%s, %d-bit words: %d vectors of %d rows, %.3g of their plain size; made in %.1f s", set.name, word,
				len(set.table.Vectors), set.table.Rows, set.ratio(), time.Since(began).Seconds())
			costs, err := s.measureSet(ctx, set)
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

// binCounts are the numbers of bins of queries.
func (s *bench) binCounts() []int {
	return harness.Pick(&s.Opt, []int{4, 8, 16, 32, mostBins}, []int{4, 16, mostBins})
}

// measureSet measures a set. All methods must count the same rows.
func (s *bench) measureSet(ctx context.Context, set *set) (costs []*cost, err error) {
	peer, err := newPeer(ctx, set, set.picks[:min(mostBins, len(set.picks))])
	if err != nil {
		return nil, err
	}
	s.rowsOf[set.name], s.roaringSize[set.name] = set.table.Rows, peer.size()
	want := make(map[int]uint64) // rows by number of bins
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
	if err := s.measurePeers(ctx, set, peer, add); err != nil {
		return nil, err
	}
	for _, who := range s.Contestants {
		if err := s.measureOn(ctx, who, set, add); err != nil {
			return nil, fmt.Errorf("%s: %w", who, err)
		}
	}
	return costs, nil
}
