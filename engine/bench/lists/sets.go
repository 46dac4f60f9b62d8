package lists

import (
	"context"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// setsExhibit measures AND of successive pairs and OR of all lists of real sets, like
// the benchmarks of Roaring bitmaps.
func (s *bench) setsExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "sets", Title: "AND of successive pairs and OR of all lists of real sets",
		Ours: "Pure Go against github.com/RoaringBitmap/roaring/v2, whose answers are bitmaps; ours are docIDs, or counts. One batch of all pairs, one formula of all lists. Under auto, dense lists are bitsets and the others parapfor or raw.",
		Rows: "lists",
		Run: func(ctx context.Context) error {
			if _, ok := s.Host(); !ok {
				return nil
			}
			sets, err := workload.ReadSets(s.Opt.Real)
			if err != nil {
				return err
			}
			if len(sets) == 0 {
				s.Logf("sets left out: no folder of real lists is given")
			}
			for _, c := range sets {
				if err := s.realSet(ctx, c); err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
			}
			return nil
		},
	}
}

// wholeAnswer is one way to compute the answers of an operation. run returns their
// number of docIDs.
type wholeAnswer struct {
	series string
	counts bool // returns only the count
	peer   bool
	run    func() (uint64, error)
	out    *plan.Results // results of run; nil for another library
}

// realSet measures one set of lists.
func (s *bench) realSet(ctx context.Context, c workload.Collection) error {
	bitmaps := make([]*roaring.Bitmap, len(c.Lists))
	for i, l := range c.Lists {
		bitmaps[i] = roaring.BitmapOf(l...)
		bitmaps[i].RunOptimize()
	}
	and, or, closeAll, err := s.ourAnswers(ctx, c, s.Opt.Threads)
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
	peer := func(series string, counts bool, run func() (uint64, error)) wholeAnswer {
		return wholeAnswer{series: series, counts: counts, peer: true, run: run}
	}
	and = append(and,
		peer("roaring And, bitmaps", false, pairs(func(a, b *roaring.Bitmap) uint64 { return roaring.And(a, b).GetCardinality() })),
		peer("roaring AndCardinality", true, pairs(func(a, b *roaring.Bitmap) uint64 { return a.AndCardinality(b) })))
	or = append(or,
		peer("roaring FastOr, bitmap", false, func() (uint64, error) { return roaring.FastOr(bitmaps...).GetCardinality(), nil }),
		peer("roaring ParOr, bitmap", false, func() (uint64, error) { return roaring.ParOr(s.Opt.Threads, bitmaps...).GetCardinality(), nil }))
	if err := s.race(c, "AND of successive pairs", and); err != nil {
		return err
	}
	return s.race(c, "OR of all", or)
}

// race times the ways in turns. All must return the same number of docIDs. Our baseline
// is the fastest way of roaring with the same kind of answer, counts or documents.
func (s *bench) race(c workload.Collection, panel string, ways []wholeAnswer) error {
	times := make([][]float64, len(ways))
	var want uint64
	began := time.Now()
	for run := 0; run < s.Opt.Runs+1 || time.Since(began) < s.LeastTime()*time.Duration(len(ways)); run++ {
		for i, w := range ways {
			start := time.Now()
			n, err := w.run()
			if err != nil {
				return fmt.Errorf("%s: %w", w.series, err)
			}
			if run > 0 { // the first run warms up
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
	best := make(map[bool]float64) // fastest way of roaring, by counts
	medians := make([]measure.Summary, len(ways))
	for i, w := range ways {
		medians[i] = measure.Summarize(times[i])
		if old := best[w.counts]; w.peer && (old == 0 || medians[i].Median < old) {
			best[w.counts] = medians[i].Median
		}
	}
	if best[true] == 0 { // roaring counts through bitmaps
		best[true] = best[false]
	}
	for i, w := range ways {
		row := measure.Row{Workload: c.Name, Row: panel + ", " + w.series, Metric: "time", Unit: "µs"}
		if !w.peer {
			row.Backend, row.Baseline, row.Ratio = "host", harness.PeerName, best[w.counts]/medians[i].Median
		}
		s.Put(harness.Reading{Panel: panel, Series: w.series, At: c.Name, Row: medians[i].Into(row)})
	}
	return nil
}

// ourAnswers returns the ways of pure Go, on raw lists and under auto, to docIDs and to
// counts, on the given number of threads.
func (s *bench) ourAnswers(ctx context.Context, c workload.Collection, threads int) (and, or []wholeAnswer, closeAll func(), err error) {
	back := hostfallback.New(hostfallback.Options{Threads: threads})
	var stores []plan.Store
	closeAll = func() {
		for _, st := range stores {
			st.Close()
		}
		back.Close()
	}
	for _, layout := range []workload.Layout{workload.LayoutRaw, workload.LayoutAuto} {
		universe, opt := workload.Universe(c.Lists), codec.DefaultOptions()
		src, err := workload.EncodeAll(ctx, universe, c.Lists, opt, func(docs []uint32) codec.ID { return layout.Codec(docs, universe, opt) })
		if err != nil {
			return nil, nil, closeAll, err
		}
		st, err := back.Load(ctx, src)
		if err != nil {
			return nil, nil, closeAll, err
		}
		stores = append(stores, st)
		all := make([]plan.Expr, len(c.Lists))
		for h := range all {
			all[h] = plan.Expr{List: plan.Handle(h)}
		}
		for _, countOnly := range []bool{false, true} {
			b := &plan.MatchBatch{CountOnly: countOnly}
			b.Reset()
			for h := 1; h < len(c.Lists); h++ {
				b.Add(src, plan.Handle(h-1), plan.Handle(h))
			}
			f := &plan.MatchBatch{CountOnly: countOnly}
			f.Reset()
			if err := f.AddExpr(src, plan.Expr{Op: plan.OpOr, Args: all}); err != nil {
				return nil, nil, closeAll, err
			}
			series := layout.String() + measure.When(countOnly, ", counts") + measure.When(!countOnly, ", docIDs")
			out := new(plan.Results)
			and = append(and, wholeAnswer{series, countOnly, false, func() (uint64, error) {
				err := st.Match(ctx, b, out)
				return out.Offsets[len(out.Offsets)-1], err
			}, out})
			or = append(or, wholeAnswer{series, countOnly, false, func() (uint64, error) {
				err := st.Match(ctx, f, out)
				return out.Offsets[len(out.Offsets)-1], err
			}, out})
		}
	}
	return and, or, closeAll, nil
}
