package schedule

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// A processor that is slow beside another one gets a share of the time that is left of a call,
// nothing that ends later, and nothing at all where it adds little.
func TestShareOfStream(t *testing.T) {
	gpu, cpu := fake(0, "gpu", 16), fake(1, "host", 2)
	s := start(t, Options{}, gpu, cpu)
	for _, c := range []struct {
		device, host time.Duration // of a query; 0: unknown
		left         int
		want         [2]int
	}{
		{0, 0, 100_000, [2]int{minBlock, firstHostBlock}},
		{10 * us, 0, 100_000, [2]int{12_500, firstHostBlock}},
		{10 * us, 100 * us, 100_000, [2]int{12_500, 1136}}, // 10,000 a second of 110,000, on two lanes
		{10 * us, 100 * us, 150, [2]int{minBlock, 1}},
		{10 * us, 100 * us, 20, [2]int{minBlock, 0}},    // it ends sooner on the device
		{10 * us, 500 * us, 100_000, [2]int{12_500, 0}}, // 2,000 of 102,000
		{625 * us, 10 * us, 100_000, [2]int{0, 12_500}}, // 1,600 of 101,600
	} {
		st := newStream(&known{left: c.left, each: []time.Duration{c.device, c.host}}, 2)
		if got := [2]int{s.blockSize(st, s.processors[0]), s.blockSize(st, s.processors[1])}; got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Devices of a like rate take blocks that take as long, down to the end of a call: many small batches
// would waste them.
func TestShareOfDevices(t *testing.T) {
	s := start(t, Options{}, fake(0, "fast", 16), fake(0, "slower", 16))
	for _, c := range []struct {
		slower time.Duration // of a query; 10 us on the other one
		left   int
		cut    int // queries of blocks that run on the slower one
		want   [2]int
	}{
		{10 * us, 100_000, 0, [2]int{12_500, 12_500}},
		{11 * us, 100_000, 0, [2]int{12_500, 11_363}},
		{20 * us, 100_000, 0, [2]int{12_500, 6250}},
		{20 * us, 100, 0, [2]int{minBlock, minBlock / 2}},
		{20 * us, 100, 30, [2]int{minBlock, 13}}, // both end at the same time
		{20 * us, 100, 60, [2]int{minBlock, 0}},  // it would end later
		{500 * us, 100_000, 0, [2]int{12_500, 0}},
	} {
		st := newStream(&known{left: c.left, each: []time.Duration{10 * us, c.slower}}, 2)
		st.on[1].queries = c.cut
		if got := [2]int{s.blockSize(st, s.processors[0]), s.blockSize(st, s.processors[1])}; got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// known is a stream of which times are known.
type known struct {
	blocks
	left int
	each []time.Duration
}

func (k *known) Left() int { return k.left }

func (k *known) Each(p int) time.Duration { return k.each[p] }

// Towards the end of a call blocks get smaller.
func TestBlocksGetSmaller(t *testing.T) {
	s := start(t, Options{}, fake(0, "gpu", 16))
	var sizes []int
	for left := 10_000; left > 0; {
		n := s.blockSize(newStream(&known{left: left, each: []time.Duration{160 * us}}, 1), s.processors[0])
		sizes = append(sizes, n)
		left -= n
	}
	if sizes[0] != 2500 || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) || sizes[len(sizes)-1] != minBlock {
		t.Errorf("%v", sizes)
	}
}

// The host's batches take the cores that are free of the work for devices, which is measured.
func TestCoresThatFeedDevices(t *testing.T) {
	cpu := time.Duration(0)
	c := cores{total: 8, clock: func() time.Duration { return cpu }}
	device, host := &Batch{batchState: batchState{processor: &processor{}}}, &Batch{batchState: batchState{processor: &processor{Processor: Processor{Host: true}}, cores: 3}}
	if c.free() != 8 {
		t.Errorf("%d cores are free while nothing runs", c.free())
	}
	now := time.Duration(0)
	for range 100 {
		host.started, host.cpuTime = now, 3*2*ms
		c.change(device, 1, now)
		c.change(host, 1, now)
		if n := c.free(); n > 4 {
			t.Fatalf("%d cores are free beside three of the host and the one that feeds a device at least", n)
		}
		now += 2 * ms
		cpu += 2 * (3 + 2) * ms // two cores and a bit feed the device
		cpu += 100 * us
		c.change(device, -1, now)
		c.change(host, -1, now)
		now += ms
	}
	if c.feeding() < 1.9 || c.feeding() > 2.2 {
		t.Errorf("%v cores feed the device, 2.05 do", c.feeding())
	}
	c.change(device, 1, now)
	if n := c.free(); n != 5 {
		t.Errorf("%d cores are free, 5 should be", n)
	}
	c.change(device, -1, now)

	// All cores are taken, and the threads of the host wait for them two thirds of the time.
	for range 100 {
		host.started, host.cpuTime = now, 2*ms
		c.change(device, 1, now)
		c.change(host, 1, now)
		now += 2 * ms
		cpu += 8 * 2 * ms
		c.change(device, -1, now)
		c.change(host, -1, now)
		now += ms
	}
	if c.feeding() < 6.5 || c.feeding() > 7.5 {
		t.Errorf("%v cores feed the device, 7 do", c.feeding())
	}
}

// A block of a call takes the threads of the host for which cores are free, and waits where there
// are none.
func TestBlocksTakeFreeCores(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var threads, most atomic.Int32
		gpu, cpu := fake(0, "gpu", 2), fake(1, "host", 2)
		for _, p := range []*Processor{&gpu, &cpu} {
			p.Estimate = func(*Job) (alone, added time.Duration, ok bool) { return ms, ms, true }
		}
		claim := func(_ context.Context, b *Batch) error {
			time.Sleep(time.Duration(len(queries(b.Jobs[0]))) * 10 * us)
			b.Claim(0)
			return nil
		}
		gpu.Run = claim
		cpu.Threads, cpu.Blocks = 6, 4
		cpu.Run = func(ctx context.Context, b *Batch) error {
			most.Store(max(most.Load(), threads.Add(int32(b.Threads))))
			defer threads.Add(-int32(b.Threads))
			return claim(ctx, b)
		}
		s := start(t, Options{Cores: 8, CPU: func() time.Duration { return 0 }}, gpu, cpu)
		m := &running{learnt: []time.Duration{10 * us, 10 * us}}
		if err := s.DoAll(context.Background(), &series{m: m, n: 10_000}, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if n := most.Load(); n != 7 {
			t.Errorf("blocks of the host took %d cores, 7 of 8 were free", n)
		}
		if n := s.Stats().Processors[1].Jobs; n == 0 {
			t.Error("the host had no block")
		}
	})
}

// The cores that feed devices do not count as the host's when its part in the rate is estimated.
func TestShareOfCores(t *testing.T) {
	cpu := fake(1, "host", 2)
	cpu.Threads = 16
	s := start(t, Options{Cores: 16}, fake(0, "gpu", 2), cpu)
	j := newJob(10*us, 200*us)
	s.prepare(j)
	for feed, worth := range map[float64]bool{0: true, 4: true, 8: false} { // 0.05, 0.0375 and 0.025 of the device
		s.lock()
		s.unlock()
		s.cores.feedCores, s.processors[1].triedAt = feed, s.lockedAt
		if s.worthwhile(s.processors[1], j) != worth {
			t.Errorf("%v cores feed devices: worth it: %v", feed, !worth)
		}
	}
}

// The cores that feed a device are lost to the host, so a slow host is no reason to leave one of two devices
// idle.
func TestSecondDeviceIsWorthIt(t *testing.T) {
	host := fake(2, "host", 2)
	host.Threads = 2
	s := start(t, Options{Cores: 2}, fake(0, "gpu", 2), fake(1, "gpu", 2), host)
	s.cores.feedCores = 2
	j := newJob(10*us, 10*us, ms)
	s.prepare(j)
	st := newStream(&known{left: 100_000, each: []time.Duration{10 * us, 11 * us, ms}}, 3)
	s.processors[1].triedAt = s.now()
	if n := s.blockSize(st, s.processors[1]); n < 5000 || !s.worthwhile(s.processors[1], j) {
		t.Errorf("a block of %d; worth the jobs of the other device: %v", n, s.worthwhile(s.processors[1], j))
	}
}

// A device that is not worth the cores it takes gets a block of a call when it has had none for some
// time: the cores that feed it are measured only while it runs.
func TestTrialInCalls(t *testing.T) {
	gpu, cpu := fake(0, "gpu", 2), fake(1, "host", 2)
	cpu.Threads = 2
	s := start(t, Options{Cores: 2}, gpu, cpu)
	s.cores.feedCores = 2
	p := s.processors[0]
	st := newStream(&known{left: 100_000, each: []time.Duration{20 * us, 10 * us}}, 2)
	for _, c := range []struct {
		since time.Duration
		want  int
	}{{0, 0}, {trialInterval - time.Second, 0}, {trialInterval, minBlock}} {
		if p.triedAt = s.now() - c.since; s.blockSize(st, p) != c.want {
			t.Errorf("%v after a block the next one has %d queries, want %d", c.since, s.blockSize(st, p), c.want)
		}
	}
}

// The trial of a processor in a call ends before the call does on the others, and takes a small part
// of the time between trials.
func TestTrialEndsInTime(t *testing.T) {
	gpu, cpu := fake(0, "gpu", 2), fake(1, "host", 2)
	cpu.Threads = 8
	s := start(t, Options{Cores: 16}, gpu, cpu)
	host := s.processors[1]
	for _, c := range []struct {
		left int
		each time.Duration // of a query on the host, which takes 100 µs on the device
		want int
	}{{200, 7 * ms, 0}, {1000, 7 * ms, 3}, {100_000, 7 * ms, 8}, {100_000, 3500 * us, 17}, {1_000_000, 100 * ms, 0}} {
		st := newStream(&known{left: c.left, each: []time.Duration{100 * us, c.each}}, 2)
		host.triedAt = s.now() - trialInterval
		if n := s.blockSize(st, host); n != c.want {
			t.Errorf("%d queries left: a block of %d, want %d", c.left, n, c.want)
		}
	}
}

// A query that can use all cores runs beside a device on those that do not feed it. It takes longer
// there, and goes to the device where that ends sooner.
func TestFewerCores(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			host := fake(0, "host", 2)
			host.Threads, host.Singles = 4, 4
			threads, run := 0, host.Run
			host.Run = func(ctx context.Context, b *Batch) error { threads = b.Threads; return run(ctx, b) }
			s := start(t, Options{Mode: mode, Cores: 4, MaxAge: us}, host, fake(1, "gpu", 2))
			device := launch(s, newJob(-1, 50*ms))
			time.Sleep(ms)
			j := newJob(3*ms, 20*ms)
			ranOn(t, s, j, "host")
			if threads != 3 || mode == Async && j.Trace.Estimate != 4*ms {
				t.Errorf("%v: on %d threads, expected to take %v", mode, threads, j.Trace.Estimate)
			}
			if mode == Async { // the lanes of the device take turns
				ranOn(t, s, newJob(3*ms, 1900*us), "gpu")
			}
			if err := <-device; err != nil {
				t.Error(err)
			}
			ranOn(t, s, newJob(3*ms, 3800*us), "host")
			if threads != 0 && mode == Async {
				t.Errorf("on %d threads of an idle machine", threads)
			}
		})
	}
}
