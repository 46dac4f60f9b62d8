package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/cl"
	"heddle/engine"
)

func devicesExhibit() exhibit {
	return exhibit{
		name: "devices", title: "Throughput of the log on several devices, in synchronous mode",
		says: "With two cards that take batches from one queue the throughput is nearly doubled (Wu et al. 2010, section V.B.5; Tesla C1060).",
		ours: "All queries in one call of an engine, again and again for half a second, terms in, docIDs in host memory out; the devices, all those of the type of the first, pull batches from one queue, and each holds all lists where they fit. With the host, it is one more processor of the engine; of the sum: of what the host and the devices answer alone.",
		rows: "processors", orders: govOrder,
		run: func(ctx context.Context, s *session) (err error) {
			all, err := s.workloads(ctx)
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
					row := Row{Workload: v.name, Row: y.name, Metric: "throughput", Unit: "queries/s"}
					if one := rates[oneDevice]; one > 0 {
						row.Baseline, row.Ratio = oneDevice, rate.Median/one
					}
					if err := s.put(y.on(reading{panel: v.name, series: "queries/s", at: y.name, Row: rate.into(row)})); err != nil {
						return err
					}
				}
				if n := len(systems); n > 2 { // the last one is the host and the devices of the one before
					sum := rates[systems[0].name] + rates[systems[n-2].name]
					if err := s.put(reading{panel: v.name, series: "of the sum, %", at: systems[n-1].name,
						Row: single(100 * rates[systems[n-1].name] / sum).into(Row{Workload: v.name, Row: systems[n-1].name, Metric: "share of the sum", Unit: "%"})}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

const oneDevice = "1 device"

// deviceSystems are the host, one device, two, and so on, and all of them with the host,
// of those that there are. done closes what was opened for them.
func (s *session) deviceSystems(ctx context.Context) (all []system, done func() error, err error) {
	var opened []*cl.Backend
	done = func() error {
		var errs []error
		for _, b := range opened {
			errs = append(errs, b.Close())
		}
		return errors.Join(errs...)
	}
	var host *contestant
	for _, who := range s.contestants {
		if who.device == nil {
			host = &who
			all = append(all, system{name: "the host", who: []contestant{who}})
			continue
		}
		y := system{name: oneDevice, who: []contestant{who}}
		all = append(all, y)
		for _, d := range s.others {
			if d.Info().Type != who.info.Type {
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
			all = append(all, system{name: y.name + " and the host", who: []contestant{*host, who}, more: y.more})
		}
	}
	return all, done, nil
}

// throughput is how many queries a second a system answers that come in one call: the
// log, as often as makes half a second.
func (v *served) throughput(ctx context.Context, y system) (rate summary, err error) {
	err = v.with(ctx, y, func(e *engine.Engine) error {
		qs := v.queries
		var rates []float64
		for run := 0; run <= v.s.opt.Runs; run++ {
			began := time.Now()
			got, err := v.all(ctx, e, qs)
			took := time.Since(began)
			if err != nil {
				return err
			}
			for i, d := range got {
				if d != v.right[i%len(v.right)] {
					return fmt.Errorf("the answer to query %d is not that of before", i)
				}
			}
			if run == 0 {
				enough := pick(&v.s.opt, []time.Duration{500 * time.Millisecond}, []time.Duration{20 * time.Millisecond})[0]
				qs = slices.Repeat(qs, int(enough/(took+1))+1)
				continue
			}
			rates = append(rates, float64(len(qs))/took.Seconds())
		}
		rate = summarize(rates)
		return nil
	})
	return rate, err
}
