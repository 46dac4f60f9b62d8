package device

import (
	"context"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"
)

// CopyPeak measures copies inside device memory and returns the best rate, in bytes read
// and written per second.
func (rt *Runtime) CopyPeak(ctx context.Context) (float64, error) {
	size := min(rt.Memory.Size()/8, rt.Info.MaxAlloc, 1<<30)
	if err := rt.Memory.Reserve(2*size, "buffers of the copy benchmark"); err != nil {
		return 0, err
	}
	defer rt.Memory.Unreserve(2 * size)
	src, err := rt.Buffer(ocl.MemReadWrite, size, "the copy benchmark")
	if err != nil {
		return 0, err
	}
	defer src.Release()
	dst, err := rt.Buffer(ocl.MemReadWrite, size, "the copy benchmark")
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
		began := time.Now()
		err := rt.await(ctx, rt.Transfer, nil, func() (e *ocl.Event, err error) {
			for range copies {
				e.Release()
				if e, err = rt.Transfer.EnqueueCopyBuffer(src, dst, 0, 0, int(size), nil); err != nil {
					return nil, err
				}
			}
			return e, nil
		})
		if err != nil {
			return 0, rt.Fail("copying", err)
		}
		best = max(best, copies*2*float64(size)/time.Since(began).Seconds())
	}
	return best, nil
}
