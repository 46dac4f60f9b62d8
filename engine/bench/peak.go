package bench

import (
	"context"
	"sync"
	"time"

	"heddle/engine"
)

// peak is the copy bandwidth of an index's device, in bytes read and written a
// second, measured once a device.
func (s *session) peak(ctx context.Context, x *engine.Index) (float64, error) {
	info := x.Backend()
	if p, ok := s.peaks[info.Device]; ok {
		return p, nil
	}
	p, err := x.Peak(ctx)
	if err != nil {
		return 0, err
	}
	s.peaks[info.Device] = p
	s.logf("%s copies %.1f GB/s, read and written", info.Device, p/1e9)
	return p, nil
}

// hostPeak is the copy bandwidth of the host with all its threads, measured once.
func (s *session) hostPeak() float64 {
	if _, ok := s.peaks["host"]; !ok {
		s.peaks["host"] = hostCopyPeak(s.opt.Threads, 64<<20)
		s.logf("the host copies %.1f GB/s, read and written", s.peaks["host"]/1e9)
	}
	return s.peaks["host"]
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
