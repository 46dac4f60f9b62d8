package schedule

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/cputime"
)

// instant is a processor that answers at once: all time goes to the scheduler.
func instant(p int, name string, threshold uint64) Processor {
	out := fake(p, name, 1)
	out.Threshold = func(any) uint64 { return threshold }
	out.Estimate = func(*Job) (time.Duration, time.Duration, bool) { return 50 * us, us, true }
	out.Run = func(_ context.Context, b *Batch) error {
		for i := range b.Jobs {
			b.Claim(i)
		}
		return nil
	}
	return out
}

// BenchmarkSync is the time of a job, with a thousand callers and batches of 256.
func BenchmarkSync(b *testing.B) {
	benchmarkMany(b, Options{Mode: Sync}, 0, background, instant(0, "gpu", 256))
}

// BenchmarkSyncDeep has so many callers that the queue is long.
func BenchmarkSyncDeep(b *testing.B) {
	benchmarkCallers(b, 1<<16, Options{Mode: Sync, Capacity: 1 << 17}, 0, background, instant(0, "gpu", 256))
}

func BenchmarkSyncTwo(b *testing.B) {
	benchmarkMany(b, Options{Mode: Sync}, 0, background, instant(0, "gpu", 256), instant(1, "host", 256))
}

func BenchmarkSyncDeadline(b *testing.B) {
	benchmarkMany(b, Options{Mode: Sync}, time.Second, background, instant(0, "gpu", 256))
}

// BenchmarkSyncSmall has batches of 8, and a host as engines have it: one runs, and the
// next is prepared meanwhile.
func BenchmarkSyncSmall(b *testing.B) {
	host := instant(0, "host", 8)
	host.Lanes, host.Singles, host.Inline = 2, runtime.GOMAXPROCS(0), true
	benchmarkMany(b, Options{Mode: Sync}, 0, background, host)
}

// BenchmarkSyncContexts has callers that may give up, each by itself.
func BenchmarkSyncContexts(b *testing.B) {
	own := func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }
	benchmarkMany(b, Options{Mode: Sync}, 0, own, instant(0, "gpu", 256))
}

// BenchmarkSyncContext has callers that wait on the same channel for all to give up.
func BenchmarkSyncContext(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	same := func() (context.Context, context.CancelFunc) { return ctx, func() {} }
	benchmarkMany(b, Options{Mode: Sync}, 0, same, instant(0, "gpu", 256))
}

func background() (context.Context, context.CancelFunc) { return context.Background(), func() {} }

func benchmarkMany(b *testing.B, opt Options, deadline time.Duration, contexts func() (context.Context, context.CancelFunc), p ...Processor) {
	benchmarkCallers(b, 1024, opt, deadline, contexts, p...)
}

func benchmarkCallers(b *testing.B, callers int, opt Options, deadline time.Duration, contexts func() (context.Context, context.CancelFunc), p ...Processor) {
	s, err := New(opt, p...)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	b.ResetTimer()
	began := cputime.Total()
	var group sync.WaitGroup
	var n atomic.Int64
	for range callers {
		group.Go(func() {
			ctx, cancel := contexts()
			defer cancel()
			j := &Job{Kind: "and"}
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				j.Load = 1 + uint64(i*i%7)
				if deadline > 0 {
					j.Deadline = time.Now().Add(deadline)
				}
				if err := s.Do(ctx, j); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	reportCPU(b, began)
	st := s.Stats()
	b.ReportMetric(float64(st.Answered)/float64(st.Processors[0].Batches), "jobs/batch")
}

// reportCPU reports the CPU time of all threads per job since began.
func reportCPU(b *testing.B, began time.Duration) {
	b.ReportMetric(float64((cputime.Total()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func BenchmarkAsyncInline(b *testing.B) {
	host := instant(0, "host", 256)
	host.Inline = true
	benchmarkOne(b, host)
}

func BenchmarkAsyncLane(b *testing.B) { benchmarkOne(b, instant(0, "gpu", 256)) }

func benchmarkOne(b *testing.B, p ...Processor) {
	s, err := New(Options{Mode: Async}, p...)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	j := &Job{Kind: "and", Load: 1}
	b.ResetTimer()
	began := cputime.Total()
	for range b.N {
		if err := s.Do(ctx, j); err != nil {
			b.Fatal(err)
		}
	}
	reportCPU(b, began)
}

// BenchmarkStealLook has an idle host that is too slow for the jobs of the device.
func BenchmarkStealLook(b *testing.B) {
	host := instant(1, "host", 256)
	host.Estimate = func(*Job) (time.Duration, time.Duration, bool) { return time.Minute, time.Minute, true }
	benchmarkMany(b, Options{Mode: Async}, 0, background, instant(0, "gpu", 256), host)
}

// BenchmarkAsyncQueued has more callers than lanes.
func BenchmarkAsyncQueued(b *testing.B) {
	benchmarkMany(b, Options{Mode: Async}, time.Second, background, instant(0, "gpu", 256), instant(1, "host", 256))
}

// processors has a name.
type processors struct {
	name string
	all  []Processor
}

// deviceAndBoth returns a device alone, and the device beside a host of 16 cores.
func deviceAndBoth(device, host Processor) []processors {
	host.Lanes, host.Singles, host.Threads, host.Inline = 2, 14, 14, true
	return []processors{{"device", []Processor{device}}, {"both", []Processor{device, host}}}
}

// BenchmarkSyncBeside has jobs that suit a device, and a host beside it that is slower in batches
// and faster with a job alone. Jobs arrive while batches run.
func BenchmarkSyncBeside(b *testing.B) {
	gpu, host := instant(0, "gpu", 256), instant(1, "host", 256)
	gpu.Estimate = func(*Job) (time.Duration, time.Duration, bool) { return 100 * us, us, true }
	host.Estimate = func(*Job) (time.Duration, time.Duration, bool) { return 40 * us, 4 * us, true }
	run := gpu.Run
	gpu.Lanes, gpu.Run = 4, func(ctx context.Context, b *Batch) error {
		time.Sleep(500 * us)
		return run(ctx, b)
	}
	for _, c := range deviceAndBoth(gpu, host) {
		b.Run(c.name, func(b *testing.B) {
			s, err := New(Options{Mode: Auto, Cores: 16, CPU: cputime.Total}, c.all...)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			began := cputime.Total()
			var group sync.WaitGroup
			flying := make(chan struct{}, 2048)
			for range b.N {
				flying <- struct{}{}
				group.Go(func() {
					defer func() { <-flying }()
					if err := s.Do(context.Background(), &Job{Kind: "and", Load: 1, Deadline: time.Now().Add(time.Second)}); err != nil {
						b.Error(err)
					}
				})
			}
			group.Wait()
			reportCPU(b, began)
			st := s.Stats()
			b.ReportMetric(float64(st.Answered)/float64(st.Processors[0].Batches), "jobs/batch")
			b.ReportMetric(100-100*float64(st.Processors[0].Jobs)/float64(st.Answered), "%host")
		})
	}
}

// BenchmarkAutoCallers has callers as a service has them: each may give up, their jobs differ, and
// a device answers after a while.
func BenchmarkAutoCallers(b *testing.B) {
	gpu, host := instant(0, "gpu", 1<<20), instant(1, "host", 256)
	load := func(j *Job) time.Duration { return time.Duration(j.Load) * us / 4 }
	gpu.Estimate = func(j *Job) (time.Duration, time.Duration, bool) { return 100*us + load(j), load(j), true }
	host.Estimate = func(j *Job) (time.Duration, time.Duration, bool) { return 40*us + load(j), 4 * load(j), true }
	run := gpu.Run
	gpu.Lanes, gpu.Run = 16, func(ctx context.Context, b *Batch) error {
		time.Sleep(200 * us)
		return run(ctx, b)
	}
	for _, c := range deviceAndBoth(gpu, host) {
		b.Run(c.name, func(b *testing.B) {
			own := func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }
			benchmarkMany(b, Options{Cores: 16, CPU: cputime.Total}, 0, own, c.all...)
		})
	}
}
