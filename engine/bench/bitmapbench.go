package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"heddle/engine/plan"
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
	// published is bitmapSet.published of the vectors of the largest query.
	published float64
}

// bitmapSets makes the sets, one at a time.
func (s *session) bitmapSets() (all []drawSet, err error) {
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
			var autos []*autoCost
			if err == nil {
				autos, err = s.measureAuto(ctx, set, costs)
			}
			if err = errors.Join(err, set.close()); err != nil {
				return nil, fmt.Errorf("%s: %w", set.name, err)
			}
			s.bitmaps, s.autos = append(s.bitmaps, costs...), append(s.autos, autos...)
			set = nil
			debug.FreeOSMemory()
		}
	}
	return s.bitmaps, nil
}

// binCounts are how many bins queries have.
func (s *session) binCounts() []int {
	return pick(&s.opt, []int{4, 8, 16, 32, mostBins}, []int{4, 16, mostBins})
}

// measureBitmaps measures a set. All ways must count the same rows.
func (s *session) measureBitmaps(ctx context.Context, set *bitmapSet) (costs []*bitmapCost, err error) {
	peer, err := newBitmapPeer(ctx, set, set.picks[:min(mostBins, len(set.picks))])
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
	add := func(c *bitmapCost) error {
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
	for _, who := range s.contestants {
		if err := s.measureBitmapsOn(ctx, who, set, add); err != nil {
			return nil, fmt.Errorf("%s: %w", who, err)
		}
	}
	return costs, nil
}
