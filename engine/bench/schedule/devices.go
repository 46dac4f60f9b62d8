package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"heddle/cl"
	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

func (s *bench) devicesExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "devices", Title: "Throughput of the log on several devices, in synchronous mode",
		Says: "With two cards that take batches from one queue the throughput is nearly doubled (Wu et al. 2010, section V.B.5; Tesla C1060).",
		Ours: "All queries in one call of an engine, again and again for half a second, terms in, docIDs in host memory out; the devices, all of the type of the first, pull batches from one queue, and each holds all lists where they fit. With the host, it is one more processor of the engine; of the sum: of the rates of the host and the devices alone.",
		Rows: "processors", Data: harness.GovOrder,
		Run: func(ctx context.Context) (err error) {
			all, err := s.logs(ctx, workload.And)
			if err != nil {
				return err
			}
			systems, done, err := s.deviceSystems(ctx)
			defer func() { err = errors.Join(err, done()) }()
			if err != nil {
				return err
			}
			for _, v := range all {
				rates := make(map[string]float64)
				for _, y := range systems {
					rate, err := v.throughput(ctx, y)
					if err != nil {
						return err
					}
					rates[y.name] = rate.Median
					row := measure.Row{Workload: v.name, Row: y.name, Metric: "throughput", Unit: "queries/s"}
					if one := rates[oneDevice]; one > 0 {
						row.Baseline, row.Ratio = oneDevice, rate.Median/one
					}
					s.Put(y.on(harness.Reading{Panel: v.name, Series: "queries/s", At: y.name, Row: rate.Into(row)}))
				}
				if n := len(systems); n > 2 { // the last system is the host with the devices of the one before
					sum := rates[systems[0].name] + rates[systems[n-2].name]
					s.Put(harness.Reading{Panel: v.name, Series: "of the sum, %", At: systems[n-1].name,
						Row: measure.Single(100 * rates[systems[n-1].name] / sum).Into(measure.Row{Workload: v.name, Row: systems[n-1].name, Metric: "share of the sum", Unit: "%"})})
				}
			}
			return nil
		},
	}
}

const oneDevice = "1 device"

// deviceSystems returns the host, one device, two devices and so on, and all devices
// with the host. done closes the devices that it opened.
func (s *bench) deviceSystems(ctx context.Context) (all []system, done func() error, err error) {
	var opened []*cl.Backend
	done = func() error {
		var errs []error
		for _, b := range opened {
			errs = append(errs, b.Close())
		}
		return errors.Join(errs...)
	}
	var host *harness.Contestant
	for _, who := range s.Contestants {
		if who.Device == nil {
			host = &who
			all = append(all, system{name: "the host", who: []harness.Contestant{who}})
			continue
		}
		y := system{name: oneDevice, who: []harness.Contestant{who}}
		all = append(all, y)
		for _, d := range s.Others {
			if d.Info().Type != who.Info.Type {
				continue
			}
			b, err := cl.Open(ctx, d, cl.Options{})
			if err != nil {
				return nil, done, err
			}
			opened = append(opened, b)
			y.name, y.more = fmt.Sprintf("%d devices", len(opened)+1), append(y.more[:len(y.more):len(y.more)], b)
			all = append(all, y)
		}
		if host != nil {
			all = append(all, system{name: y.name + " and the host", who: []harness.Contestant{*host, who}, more: y.more})
		}
	}
	return all, done, nil
}

// throughput is the number of queries per second that a system answers in one call. The
// log repeats for half a second, after calls of half a second to warm up. Of the timed
// answers, only the number of documents is compared: digests would take more time than
// the answers.
func (v *served) throughput(ctx context.Context, y system) (rate measure.Summary, err error) {
	err = v.with(ctx, y, func(e *machine) error {
		all, each := v.requests(), int64(-1)
		call := func(times int) (rate float64, err error) {
			qs := slices.Repeat(all, times)
			var documents atomic.Int64
			began := time.Now()
			if err := e.x.SearchAll(ctx, qs, func(_ int, hits []engine.Hits) error {
				n := 0
				for i := range hits {
					n += len(hits[i].Docs)
				}
				documents.Add(int64(n))
				return nil
			}); err != nil {
				return 0, err
			}
			rate = float64(len(qs)) / time.Since(began).Seconds()
			if each < 0 {
				each = documents.Load()
			}
			if got, want := documents.Load(), each*int64(times); got != want {
				return 0, fmt.Errorf("the answers have %d documents, before %d", got, want)
			}
			return rate, nil
		}
		enough := harness.Pick[time.Duration](&v.s.Opt, 500*time.Millisecond, 20*time.Millisecond)
		times, rates := 1, []float64(nil)
		for began := time.Now(); time.Since(began) < enough; { // warm up: memory for results grows
			rate, err := call(1)
			if err != nil {
				return err
			}
			times = 1 + int(enough.Seconds()*rate)/len(all)
		}
		for len(rates) < v.s.Opt.Runs {
			rate, err := call(times)
			if err != nil {
				return err
			}
			if n := 1 + int(enough.Seconds()*rate)/len(all); n > 2*times { // it warmed up until now
				times, rates = n, nil
				continue
			}
			rates = append(rates, rate)
		}
		rate = measure.Summarize(rates)
		return nil
	})
	return rate, err
}
