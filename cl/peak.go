package cl

import (
	"context"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"
)

// copyPeak measures copies inside device memory and returns the best rate, in bytes read
// and written per second.
func (rt *opened) copyPeak(ctx context.Context) (float64, error) {
	size := min(rt.memory.size()/8, rt.info.MaxAlloc, 1<<30)
	if err := rt.memory.reserve(2*size, "buffers of the copy benchmark"); err != nil {
		return 0, err
	}
	defer rt.memory.unreserve(2 * size)
	src, err := rt.buffer(ocl.MemReadWrite, size, "the copy benchmark")
	if err != nil {
		return 0, err
	}
	defer src.Release()
	dst, err := rt.buffer(ocl.MemReadWrite, size, "the copy benchmark")
	if err != nil {
		return 0, err
	}
	defer dst.Release()
	const copies = 4
	best := 0.0
	for range 6 {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		var took time.Duration
		err := rt.do(func() error {
			if err := rt.transfer.Finish(); err != nil {
				return err
			}
			began := time.Now()
			for range copies {
				e, err := rt.transfer.EnqueueCopyBuffer(src, dst, 0, 0, int(size), nil)
				if err != nil {
					return err
				}
				e.Release()
			}
			err := rt.transfer.Finish()
			took = time.Since(began)
			return err
		})
		if err != nil {
			return 0, rt.fail("copying", err)
		}
		best = max(best, copies*2*float64(size)/took.Seconds())
	}
	return best, nil
}
