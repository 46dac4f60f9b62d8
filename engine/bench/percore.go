package bench

import (
	"context"
	"fmt"
	"time"

	"heddle/codec"
	"heddle/engine/plan"
)

// clock is the frequency of a core in GHz: the rate of a chain of
// multiplications, each of which takes three cycles on the processors of the last
// ten years.
func clock() float64 {
	const rounds = 200_000
	best := 0.0
	for range 5 {
		began := time.Now()
		chained = chain(chained|1, chained|3, rounds)
		best = max(best, 3*chainLinks*rounds/time.Since(began).Seconds()/1e9)
	}
	return best
}

// chained keeps the compiler from dropping the chain.
var chained uint64

const chainLinks = 8

// chain multiplies the last product chainLinks times a round.
func chain(x, by uint64, rounds int) uint64 {
	for range rounds {
		x *= by
		x *= by
		x *= by
		x *= by
		x *= by
		x *= by
		x *= by
		x *= by
	}
	return x
}

// host is the pure-Go contestant, if it is one.
func (s *session) host() (contestant, bool) {
	for _, c := range s.contestants {
		if c.name == "host" {
			return c, true
		}
	}
	s.logf("%s left out: it measures pure Go", s.now.name)
	return contestant{}, false
}

// skewExhibit is intersection on one core, by the ratio of the lengths.
func skewExhibit() exhibit {
	return exhibit{
		name: "skew", title: "Two plain lists on one core of pure Go, by the ratio of their lengths",
		ours: "The longer list has 4 M docIDs, a mean gap of 16; a third of the shorter one is in both. The lengths of both lists count; per GHz of the clock that was measured. End to end, docIDs copied out. Tables are made at load.",
		rows: "algorithm",
		run: func(ctx context.Context, s *session) error {
			who, ok := s.host()
			if !ok {
				return nil
			}
			long := pick(&s.opt, []int{4 << 20}, []int{256 << 10})[0]
			ghz := clock()
			s.logf("a core runs at %.2f GHz", ghz)
			algorithms := append([]plan.Algorithm{plan.Auto}, who.info.Algorithms...)
			for _, ratio := range []int{1, 100, 1000} {
				p, err := pair(ctx, s.opt.Seed, long/ratio, long)
				if err != nil {
					return err
				}
				roars, err := s.roaringPair(p)
				if err != nil {
					return err
				}
				times, err := s.pairTimes(ctx, who, p, 1, algorithms)
				if err != nil {
					return err
				}
				put := func(at string, t summary, row Row) error {
					v := t.rate(p.inputs())
					v = summary{v.Median / ghz, v.Min / ghz, v.Max / ghz, v.Runs}
					row.Metric, row.Unit = "intersection", "G inputs/s per GHz"
					return s.put(reading{panel: "one core", series: fmt.Sprintf("1:%d", ratio), at: at, Row: v.into(row)})
				}
				if roars.Runs > 0 {
					if err := put(peerName, roars, Row{}); err != nil {
						return err
					}
				}
				for _, a := range algorithms {
					t, ok := times[a]
					if !ok {
						continue
					}
					row := Row{Backend: who.info.Kind, Device: who.info.Device}
					if roars.Runs > 0 {
						row.Baseline, row.Ratio = peerName, roars.Median/t.whole.Median
					}
					if err := put(a.String(), t.whole, row); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// coreExhibit is decoding on one core.
func coreExhibit() exhibit {
	return exhibit{
		name: "core", title: "Decoding to docIDs on one core of pure Go, 8 bits a gap",
		ours: "Lists of 1,000 and 64 K docIDs in turn, decoded into memory that stays in cache; per GHz of the clock that was measured.",
		rows: "codec",
		run: func(ctx context.Context, s *session) error {
			who, ok := s.host()
			if !ok {
				return nil
			}
			ghz := clock()
			s.logf("a core runs at %.2f GHz", ghz)
			for _, work := range []evenLists{{64, 1000}, {1, 64 << 10}} {
				lists, err := work.draw(ctx, s.opt.Seed)
				if err != nil {
					return err
				}
				for _, id := range s.opt.Codecs {
					d, err := s.decode(ctx, who, 1, id, codec.DefaultOptions(), lists)
					if err != nil {
						return err
					}
					row := d.into(Row{})
					row.Unit, row.PeakFraction = "G ints/s per GHz", 0
					row.Median, row.Min, row.Max = row.Median/ghz, row.Min/ghz, row.Max/ghz
					if err := s.put(who.on(reading{panel: "one core", series: work.String(), at: id.String(), Row: row})); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}
