package load

import (
	"context"
	"fmt"
	"testing"
	"time"

	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan/testneeds"
)

// simulated is a processor in virtual time. The work of a query is a number of
// candidates.
type simulated struct {
	name    string
	host    bool
	lanes   int
	servers int           // threads of a host; concurrent kernels of a device
	launch  time.Duration // time of a batch that overlaps with other batches
	serial  time.Duration // time of a batch on a server
	rate    float64       // candidates per second and server
	wrong   float64       // factor of the estimates
}

// processor returns a processor for a scheduler whose jobs carry candidates as Work.
func (p simulated) processor() schedule.Processor {
	free := make(chan struct{}, p.servers)
	work := func(candidates float64) time.Duration { return time.Duration(candidates / p.rate * 1e9) }
	serve := func(d time.Duration) {
		free <- struct{}{}
		time.Sleep(d)
		<-free
	}
	width := 1.0 // servers per batch
	if p.host {
		width = float64(p.servers)
	}
	return schedule.Processor{
		Name: p.name, Host: p.host, Inline: p.host, Lanes: p.lanes, Singles: max(p.lanes, p.servers),
		Threshold: func(any) uint64 { return 1 << 20 },
		Estimate: func(j *schedule.Job) (alone, added time.Duration, ok bool) {
			d := time.Duration(p.wrong * float64(work(j.Work.(float64))))
			return d + p.launch + p.serial, time.Duration(float64(d) / width), true
		},
		Start: func(any) time.Duration { return p.launch + p.serial },
		Run: func(_ context.Context, b *schedule.Batch) error {
			time.Sleep(p.launch)
			sum := 0.0
			for _, j := range b.Jobs {
				sum += j.Work.(float64)
			}
			if d := p.serial + work(sum); len(b.Jobs) == 1 {
				serve(d)
			} else {
				done := make(chan struct{}, int(width))
				for range int(width) {
					go func() { serve(time.Duration(float64(d) / width)); done <- struct{}{} }()
				}
				for range int(width) {
					<-done
				}
			}
			for i := range b.Jobs {
				b.Claim(i)
			}
			return nil
		},
	}
}

// TestSimulated puts loads on schedulers of simulated hosts and devices, as Ding et al.
// did. Each processor sustains most of its capacity in batches, and both together most
// of the sum, even with wrong estimates. Delays at half load are small.
func TestSimulated(t *testing.T) {
	testneeds.Long(t)
	const mean = 8000
	r := workload.NewRandom(9, workload.StreamGaps, 1)
	sizes := make([]float64, 1000) // candidates, from few to many
	sum := 0.0
	for i := range sizes {
		sizes[i] = workload.Ln(r.Unit()) * workload.Ln(r.Unit())
		sum += sizes[i]
	}
	for i := range sizes {
		sizes[i] *= mean * float64(len(sizes)) / sum
	}
	host := simulated{name: "host", host: true, lanes: 2, servers: 4, rate: 5e7, wrong: 1}                           // 25,000 queries a second
	slow := simulated{name: "slow", lanes: 8, servers: 1, launch: 100 * time.Microsecond, rate: 2e8, wrong: 1}       // the same rate
	batched := simulated{name: "batched", lanes: 8, servers: 1, serial: 200 * time.Microsecond, rate: 1e9, wrong: 1} // 105,000 in batches, 4,800 one by one
	misjudged := slow
	misjudged.name = "misjudged"
	misjudged.wrong = 0.7
	for _, test := range []struct {
		rates []float64 // close to the capacity, and half of it
		p99   float64   // limit in milliseconds at half load
		of    []simulated
	}{
		{[]float64{0.9 * 25_000, 12_500}, 2, []simulated{host}},
		{[]float64{0.9 * 25_000, 12_500}, 2, []simulated{slow}},
		{[]float64{0.9 * 50_000, 25_000}, 2, []simulated{host, slow}},
		{[]float64{40_000, 25_000}, 5, []simulated{host, misjudged}},
		{[]float64{0.8 * 105_000, 52_000}, 2, []simulated{batched}},
		{[]float64{0.8 * 130_000, 65_000}, 2, []simulated{host, batched}},
	} {
		var name string
		for _, p := range test.of {
			name += p.name + ", "
		}
		for _, deadline := range []time.Duration{500 * time.Millisecond, 10 * time.Millisecond} {
			for i, rate := range test.rates {
				t.Run(fmt.Sprintf("%s%.0f/s in %v", name, rate, deadline), func(t *testing.T) {
					testneeds.Bubble(t, func(t *testing.T) {
						var all []schedule.Processor
						for _, p := range test.of {
							all = append(all, p.processor())
						}
						sched, err := schedule.New(schedule.Options{Capacity: MostFlying}, all...)
						if err != nil {
							t.Fatal(err)
						}
						defer sched.Close()
						l := Loop{Rate: rate, Queries: int(rate / 8), Seed: 1, Deadline: deadline, Misses: int(rate), Wait: benchtest.SleepUntil}
						var d *Delays
						for range 2 { // the first load may change the mode
							d, err = l.Run(t.Context(), func(ctx context.Context, i int) error {
								j := schedule.Job{Kind: "and", Work: sizes[i%len(sizes)], Load: uint64(sizes[i%len(sizes)])}
								j.Deadline, _ = ctx.Deadline()
								return sched.Do(ctx, &j)
							})
							if err != nil {
								t.Fatal(err)
							}
						}
						if !d.Held(Mostly) || i > 0 && measure.Percentile(d.Milliseconds, 99) > test.p99 {
							t.Errorf("%v; %+v", d, sched.Stats())
						}
					})
				})
			}
		}
	}
}
