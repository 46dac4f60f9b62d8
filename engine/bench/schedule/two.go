package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"heddle/cl"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// paperCards is Table II: one card, and two cards that pull from one queue, in slots
// with 16 and 8 lanes. Times are in ms for the 33,337 queries of Baidu.
var paperCards = map[uint64]struct{ single, first, second cardTimes }{
	32:   {cardTimes{341.45, 55.86, 12.6, harness.PaperQueries}, cardTimes{179.736810, 29.1, 8.607, 15381}, cardTimes{206.665931, 34.9, 10.279, 17956}},
	64:   {cardTimes{314.75, 38.63, 12.1, harness.PaperQueries}, cardTimes{180.959591, 20.4, 10.29, 17392}, cardTimes{173.006625, 21.8, 9.630, 15945}},
	128:  {cardTimes{299.15, 25.85, 11.93, harness.PaperQueries}, cardTimes{172.450409, 14.8, 8.14, 16911}, cardTimes{165.302573, 15.5, 7.7, 16426}},
	256:  {cardTimes{290.76, 20.52, 11.64, harness.PaperQueries}, cardTimes{163.950166, 12.07, 11.4, 16443}, cardTimes{163.913291, 13.13, 11.35, 16894}},
	512:  {cardTimes{284.95, 17.86, 11.56, harness.PaperQueries}, cardTimes{162.563118, 10.46, 38.9, 17275}, cardTimes{157.975945, 13.21, 38.6, 16062}},
	1024: {cardTimes{281.95, 15.22, 11.68, harness.PaperQueries}, cardTimes{160.941405, 8.7, 21.68, 17591}, cardTimes{156.653708, 12.4, 21.38, 15746}},
	2048: {cardTimes{279.65, 13.58, 12.2, harness.PaperQueries}, cardTimes{154.652893, 11.47, 75.9, 16142}, cardTimes{159.990445, 14.5, 75.85, 17195}},
}

// cardTimes is the part of a card in a run: ms of kernels (K), transfers (t) and
// preparation on the CPU (C), and the number of queries (QN).
type cardTimes struct{ K, t, C, QN float64 }

// pulled is the part of one device in a run.
type pulled struct {
	prepare time.Duration // lookup of terms and ordering of lists
	times   plan.Stats
}

// card converts the part to the columns of Table II.
func (p pulled) card() cardTimes {
	return cardTimes{K: measure.Milliseconds(p.times.Kernel()), t: measure.Milliseconds(p.times.Upload + p.times.Download),
		C: measure.Milliseconds(p.prepare), QN: float64(p.times.Queries)}
}

// pull answers the queries up to the last of ends, in batches that end at ends. One
// goroutine per store takes the next batch of the common queue after each answer. got
// receives the digests of the answers unless it is nil.
func (s *wuBench) pull(ctx context.Context, stores []plan.Store, src *plan.Source, ends []int, got []uint64) ([]pulled, error) {
	group, ctx := errgroup.WithContext(ctx)
	parts := make([]pulled, len(stores))
	var next atomic.Int64
	for i, store := range stores {
		group.Go(func() error {
			p := &parts[i]
			var b plan.MatchBatch
			var r plan.Results
			var handles []plan.Handle
			for n := int(next.Add(1)) - 1; n < len(ends) && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				first := 0
				if n > 0 {
					first = ends[n-1]
				}
				began := time.Now()
				b.Reset()
				b.Algorithm = plan.BS
				for _, q := range s.Queries[first:ends[n]] {
					handles = handles[:0]
					for _, term := range q.Terms {
						h, _ := s.Dict.Lookup(term) // every term exists
						handles = append(handles, h)
					}
					b.Add(src, handles...)
				}
				p.prepare += time.Since(began)
				if err := store.Match(ctx, &b, &r); err != nil {
					return err
				}
				p.times.Add(r.Stats)
				if got != nil {
					workload.Digests(got[first:ends[n]], &r)
				}
			}
			return ctx.Err()
		})
	}
	return parts, group.Wait()
}

// twoDevices opens the contestant's device and a second device of its type, or the same
// device again if there is none, and loads the lists on both. done closes everything
// that it opened.
func (s *wuBench) twoDevices(ctx context.Context, who harness.Contestant, a harness.Access, src *plan.Source) (stores []plan.Store, same bool, done func() error, err error) {
	var closers []func() error
	done = func() (err error) {
		for i := len(closers) - 1; i >= 0; i-- {
			err = errors.Join(err, closers[i]())
		}
		return err
	}
	device, same := who.Device, true
	for _, d := range s.Others {
		if d.Info().Type == who.Info.Type {
			device, same = d, false
			break
		}
	}
	first, err := s.Backend(ctx, who, a)
	if err != nil {
		return nil, same, done, err
	}
	second, err := cl.Open(ctx, device, cl.Options{Profiling: a == harness.Profiled, SkipSelfTest: same})
	if err != nil {
		return nil, same, done, err
	}
	closers = append(closers, second.Close)
	for _, b := range []*cl.Backend{first, second} {
		store, err := b.Load(ctx, src)
		if err != nil {
			return nil, same, done, err
		}
		closers = append(closers, store.Close)
		stores = append(stores, store)
	}
	return stores, same, done, nil
}

func (s *wuBench) table2() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-table2", Title: "One device and two that pull from one queue, by B", Source: "Wu et al. 2010, Table II",
		Says: "Two Tesla C1060, Baidu's lists and queries. The cards get about as many queries each, and the throughput is nearly doubled; with B over 256 the CPU's part grows.",
		Ours: "GOV-like lists and queries in place of Baidu's, binary search on plain lists, one batch at a time on a device. K, t and C are milliseconds of kernels, transfers (both by the device's clock) and preparation " +
			"a thousand queries that the device got; QN is its share of the queries, for which the paper has numbers. The rest of the time of a batch is launches, waiting, and copies on the host; none is left where large batches run in parts that overlap. " +
			"Throughput is measured without the device's clock. Where there is no second device of the type, the same one is opened twice.",
		Found: `Two devices have {{to (over (rows "*throughput, and another*" "two" "") (rows "*throughput, and another*" "one" ""))}} times the throughput of one, one device opened twice {{to (over (rows "*throughput, and itself" "two" "") (rows "*throughput, and itself" "one" ""))}} times. Beside another one a device gets {{to (rows "*beside another*" "QN" "")}} % of the queries.`,
		Data:  harness.GovOrder, Rows: "B",
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Device == nil {
					continue
				}
				if err := s.twoCards(ctx, who); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// twoCards measures throughput, and then the parts of the time.
func (s *wuBench) twoCards(ctx context.Context, who harness.Contestant) error {
	if err := s.CloseIndex(); err != nil { // it takes a gigabyte of the device too
		return err
	}
	src, err := s.Source(ctx, workload.DefaultEncoding(workload.LayoutRaw))
	if err != nil {
		return err
	}
	for _, a := range []harness.Access{harness.Alone, harness.Profiled} {
		stores, same, done, err := s.twoDevices(ctx, who, a, src)
		if err == nil {
			second := "another one of the type"
			if same {
				second = "itself"
			}
			for _, b := range blockCounts(&s.Opt, 32, 2048) {
				t := blockThreshold(who, b)
				ends := s.Cut(harness.Method{Threshold: t}, blockQueries(&s.Opt, who.Info.Type, t))
				if a == harness.Alone {
					err = s.twoRates(ctx, who, stores, second, src, b, ends)
				} else {
					err = s.twoTimes(ctx, who, stores, second, src, b, ends)
				}
				if err != nil {
					break
				}
			}
		}
		if err := errors.Join(err, done()); err != nil {
			return err
		}
	}
	return nil
}

// twoRates checks the answers and compares the throughput of one device and two, in
// turns.
func (s *wuBench) twoRates(ctx context.Context, who harness.Contestant, stores []plan.Store, second string, src *plan.Source, b uint64, ends []int) error {
	n := ends[len(ends)-1]
	var turns []measure.Turn
	for count := 1; count <= 2; count++ {
		got := make([]uint64, n)
		if _, err := s.pull(ctx, stores[:count], src, ends, got); err != nil {
			return err
		}
		if err := s.Check.Check(fmt.Sprintf("%d times %s", count, who), got); err != nil {
			return err
		}
		turns = append(turns, measure.Turn{Queries: n, Run: func() error {
			_, err := s.pull(ctx, stores[:count], src, ends, nil)
			return err
		}})
	}
	rates, err := measure.InTurns(turns, s.Opt.Runs)
	if err != nil {
		return err
	}
	for i, name := range []string{"one", "two"} {
		row := measure.Row{Metric: "throughput", Unit: "queries/s"}
		if i > 0 {
			row.Baseline, row.Ratio = "one", rates[1].Median/rates[0].Median
		}
		s.Put(who.On(harness.Reading{Panel: s.Panel(who) + ", throughput, and " + second, Series: name, At: fmt.Sprint(b),
			Row: rates[i].Into(row)}))
	}
	return nil
}

// twoTimes records the parts of the time of one device, and of each of two, after a run
// to warm up.
func (s *wuBench) twoTimes(ctx context.Context, who harness.Contestant, stores []plan.Store, second string, src *plan.Source, b uint64, ends []int) error {
	for count := 1; count <= 2; count++ {
		var parts []pulled
		for range 2 {
			var err error
			if parts, err = s.pull(ctx, stores[:count], src, ends, nil); err != nil {
				return err
			}
		}
		for i, p := range parts {
			what, paper := "alone", paperCards[b].single
			switch {
			case count == 2 && i == 0:
				what, paper = "beside "+second, paperCards[b].first
			case count == 2:
				what, paper = second, paperCards[b].second
			}
			s.putCard(who, what, b, p, paper, float64(ends[len(ends)-1]))
		}
	}
	return nil
}

// putCard records one device's part of a run of n queries beside the paper's.
func (s *wuBench) putCard(who harness.Contestant, what string, b uint64, p pulled, paper cardTimes, n float64) {
	c := p.card()
	thousands, paperThousands := max(c.QN, 1)/1000, max(paper.QN, 1)/1000
	rest := max(0, measure.Milliseconds(p.times.Wall)-c.K-c.t)
	for _, v := range []struct {
		name, metric, unit string
		value, paper       float64
	}{
		{"K", "kernels", "ms", c.K / thousands, paper.K / paperThousands},
		{"t", "transfers", "ms", c.t / thousands, paper.t / paperThousands},
		{"C", "preparation", "ms", c.C / thousands, paper.C / paperThousands},
		{"rest", "rest", "ms", rest / thousands, 0},
		{"QN", "share of queries", "%", 100 * c.QN / n, 100 * paper.QN / harness.PaperQueries},
	} {
		s.PutOf(what, who.On(harness.Reading{Panel: s.Panel(who) + ", " + what, Series: v.name, At: fmt.Sprint(b), Paper: v.paper,
			Row: measure.Single(v.value).Into(measure.Row{Metric: v.metric, Unit: v.unit})}))
	}
}
