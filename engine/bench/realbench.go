package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// setsExhibit is AND of successive pairs and OR of all of real sets, as the
// benchmarks of the Roaring bitmaps have them.
func setsExhibit() exhibit {
	return exhibit{
		name: "sets", title: "AND of successive pairs and OR of all lists of real sets",
		ours: "Pure Go against github.com/RoaringBitmap/roaring/v2, whose answers are bitmaps; ours are docIDs, or counts. One batch of all pairs, one formula of all lists. Under auto, dense lists are bitsets and the others parapfor or raw.",
		rows: "lists",
		run: func(ctx context.Context, s *session) error {
			if _, ok := s.host(); !ok {
				return nil
			}
			sets, err := s.realSets()
			if err != nil {
				return err
			}
			if len(sets) == 0 {
				s.logf("sets left out: no folder of real lists is given")
			}
			for _, c := range sets {
				if err := s.realSet(ctx, c); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
			return nil
		},
	}
}

// wholeAnswer is a way to the answers of one operation: how many docIDs they are.
type wholeAnswer struct {
	series string
	counts bool // no more than that
	peer   bool
	run    func() (uint64, error)
}

// realSet measures one set of lists.
func (s *session) realSet(ctx context.Context, c collection) error {
	bitmaps := make([]*roaring.Bitmap, len(c.lists))
	for i, l := range c.lists {
		bitmaps[i] = roaring.BitmapOf(l...)
		bitmaps[i].RunOptimize()
	}
	and, or, closeAll, err := s.ourAnswers(ctx, c)
	defer closeAll()
	if err != nil {
		return err
	}
	pairs := func(count func(a, b *roaring.Bitmap) uint64) func() (uint64, error) {
		return func() (n uint64, err error) {
			for i := 1; i < len(bitmaps); i++ {
				n += count(bitmaps[i-1], bitmaps[i])
			}
			return n, nil
		}
	}
	and = append(and,
		wholeAnswer{"roaring And, bitmaps", false, true, pairs(func(a, b *roaring.Bitmap) uint64 { return roaring.And(a, b).GetCardinality() })},
		wholeAnswer{"roaring AndCardinality", true, true, pairs(func(a, b *roaring.Bitmap) uint64 { return a.AndCardinality(b) })})
	or = append(or,
		wholeAnswer{"roaring FastOr, bitmap", false, true, func() (uint64, error) { return roaring.FastOr(bitmaps...).GetCardinality(), nil }},
		wholeAnswer{"roaring ParOr, bitmap", false, true, func() (uint64, error) { return roaring.ParOr(s.opt.Threads, bitmaps...).GetCardinality(), nil }})
	if err := s.race(c, "AND of successive pairs", and); err != nil {
		return err
	}
	return s.race(c, "OR of all", or)
}

// race times the ways in turns. All must give as many docIDs. The baseline of
// ours is the fastest of the peer's ways to the same, counts or all documents.
func (s *session) race(c collection, panel string, ways []wholeAnswer) error {
	times := make([][]float64, len(ways))
	var want uint64
	began := time.Now()
	for run := 0; run < s.opt.Runs+1 || time.Since(began) < leastTime*time.Duration(len(ways)); run++ {
		for i, w := range ways {
			start := time.Now()
			n, err := w.run()
			if err != nil {
				return fmt.Errorf("%s: %w", w.series, err)
			}
			if run > 0 { // the first one warms up
				times[i] = append(times[i], time.Since(start).Seconds()*1e6)
			}
			if run == 0 && i == 0 {
				want = n
			}
			if n != want {
				return fmt.Errorf("%s gives %d docIDs, %s gives %d", w.series, n, ways[0].series, want)
			}
		}
	}
	best := make(map[bool]float64) // of the peer's ways, by counts
	medians := make([]summary, len(ways))
	for i, w := range ways {
		medians[i] = summarize(times[i])
		if old := best[w.counts]; w.peer && (old == 0 || medians[i].Median < old) {
			best[w.counts] = medians[i].Median
		}
	}
	if best[true] == 0 { // the peer counts by way of bitmaps
		best[true] = best[false]
	}
	for i, w := range ways {
		row := Row{Workload: c.name, Row: panel + ", " + w.series, Metric: "time", Unit: "µs"}
		if !w.peer {
			row.Backend, row.Baseline, row.Ratio = "host", peerName, best[w.counts]/medians[i].Median
		}
		if err := s.put(reading{panel: panel, series: w.series, at: c.name, Row: medians[i].into(row)}); err != nil {
			return err
		}
	}
	return nil
}

// ourAnswers are the ways of pure Go, on raw lists and on those that auto makes,
// to docIDs and to counts.
func (s *session) ourAnswers(ctx context.Context, c collection) (and, or []wholeAnswer, closeAll func(), err error) {
	back := hostfallback.New(hostfallback.Options{Threads: s.opt.Threads})
	var stores []plan.Store
	closeAll = func() {
		for _, st := range stores {
			st.Close()
		}
		back.Close()
	}
	for _, layout := range []Layout{LayoutRaw, LayoutAuto} {
		universe, opt := above(c.lists), codec.DefaultOptions()
		src, err := encodeAll(ctx, universe, c.lists, opt, func(docs []uint32) codec.ID { return layout.codec(docs, universe, opt) })
		if err != nil {
			return nil, nil, closeAll, err
		}
		st, err := back.Load(ctx, src)
		if err != nil {
			return nil, nil, closeAll, err
		}
		stores = append(stores, st)
		all := make([]plan.Expr, len(c.lists))
		for h := range all {
			all[h] = plan.Expr{List: plan.Handle(h)}
		}
		for _, countOnly := range []bool{false, true} {
			b := &plan.MatchBatch{CountOnly: countOnly}
			b.Reset()
			for h := 1; h < len(c.lists); h++ {
				b.Add(src, plan.Handle(h-1), plan.Handle(h))
			}
			f := &plan.MatchBatch{CountOnly: countOnly}
			f.Reset()
			if err := f.AddExpr(src, plan.Expr{Op: plan.OpOr, Args: all}); err != nil {
				return nil, nil, closeAll, err
			}
			series := layout.String() + known(countOnly, ", counts") + known(!countOnly, ", docIDs")
			out := new(plan.Results)
			and = append(and, wholeAnswer{series, countOnly, false, func() (uint64, error) {
				err := st.Match(ctx, b, out)
				return out.Offsets[len(out.Offsets)-1], err
			}})
			or = append(or, wholeAnswer{series, countOnly, false, func() (uint64, error) {
				err := st.Match(ctx, f, out)
				return out.Offsets[len(out.Offsets)-1], err
			}})
		}
	}
	return and, or, closeAll, nil
}
