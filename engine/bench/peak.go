package bench

import (
	"context"
	"sync"
	"time"

	"heddle/engine"
)

// peak is the copy bandwidth of an index's device, in bytes read and written a
// second, measured once a device.
func (b *listsBench) peak(ctx context.Context, x *engine.Index) (float64, error) {
	info := x.Backend()
	if p, ok := b.peaks[info.Device]; ok {
		return p, nil
	}
	p, err := x.Peak(ctx)
	if err != nil {
		return 0, err
	}
	if p == 0 && info.Kind == "host" {
		p = hostCopyPeak(b.opt.Threads, 64<<20)
	}
	b.peaks[info.Device] = p
	b.logf("%s copies %.1f GB/s, read and written", info.Device, p/1e9)
	return p, nil
}

// hostCopyPeak measures copies between slices of a number of bytes that no cache
// holds, one a thread, and returns bytes read and written a second: the best of
// several.
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
