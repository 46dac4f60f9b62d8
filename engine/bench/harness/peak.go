package harness

import (
	"context"
	"sync"
	"time"
)

// Peak returns the copy bandwidth of a contestant in bytes read and written per
// second. It is measured once per device, and 0 if the measurement failed.
func (r *Runner) Peak(ctx context.Context, who Contestant) float64 {
	device := who.Info.Device
	if who.Device == nil {
		device = "the host"
	}
	if p, ok := r.peaks[device]; ok {
		return p
	}
	p, err := 0.0, error(nil)
	if who.Device == nil {
		p = hostCopyPeak(r.Opt.Threads, 64<<20)
	} else {
		p, err = r.deviceCopyPeak(ctx, who)
	}
	if err != nil {
		r.Logf("%s: no copy bandwidth: %v", who, err)
		return 0
	}
	r.peaks[device] = p
	r.Logf("%s copies %.1f GB/s, read and written", device, p/1e9)
	return p
}

func (r *Runner) deviceCopyPeak(ctx context.Context, who Contestant) (float64, error) {
	b, err := r.Backend(ctx, who, Alone)
	if err != nil {
		return 0, err
	}
	return b.CopyPeak(ctx)
}

// hostCopyPeak copies between slices that are larger than any cache, one pair per
// thread, each of a number of bytes. It returns bytes read and written per second:
// the best of several passes.
func hostCopyPeak(threads, bytes int) float64 {
	from := make([][]uint64, threads)
	to := make([][]uint64, threads)
	for i := range threads {
		from[i], to[i] = make([]uint64, bytes/8), make([]uint64, bytes/8)
	}
	best := 0.0
	for range 6 {
		began := time.Now()
		var wg sync.WaitGroup
		for i := range threads {
			wg.Go(func() { copy(to[i], from[i]) })
		}
		wg.Wait()
		best = max(best, 2*float64(threads*bytes)/time.Since(began).Seconds())
	}
	return best
}
