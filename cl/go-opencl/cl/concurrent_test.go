package cl

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// TestConcurrent has 16 goroutines with a queue and a kernel each, while the
// collector runs and stacks grow.
func TestConcurrent(t *testing.T) {
	const (
		goroutines = 16
		rounds     = 10
		n          = 256
	)
	r := newRig(t, 0)
	p, err := r.ctx.CreateProgramWithSource([]string{`
	kernel void add(global const uint *in, global uint *out, uint k) {
		uint i = get_global_id(0);
		out[i] = in[i] + k;
	}`})
	r.must(err)
	defer p.Release()
	r.must(p.BuildProgram(nil, ""))

	stop := make(chan struct{})
	var collector, workers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for g := range goroutines {
		workers.Go(func() {
			for i := range rounds {
				if err := addOnce(r, p, n, uint32(100*g+i)); err != nil {
					t.Error(err)
					return
				}
				deep(64)
			}
		})
	}
	workers.Wait()
	close(stop)
	collector.Wait()
}

// addOnce runs the kernel on a queue of its own and checks its result.
func addOnce(r *rig, p *Program, n int, k uint32) error {
	queue, err := r.ctx.CreateCommandQueue(r.device, 0)
	if err != nil {
		return err
	}
	defer queue.Release()
	kernel, err := p.CreateKernel("add")
	if err != nil {
		return err
	}
	defer kernel.Release()
	in, out := make([]uint32, n), make([]uint32, n)
	for i := range in {
		in[i] = uint32(i) * k
	}
	source, err := r.ctx.CreateBufferUnsafe(MemReadOnly|MemCopyHostPtr, 4*n, unsafe.Pointer(&in[0]))
	if err != nil {
		return err
	}
	defer source.Release()
	target, err := r.ctx.CreateEmptyBuffer(MemWriteOnly, 4*n)
	if err != nil {
		return err
	}
	defer target.Release()
	if err := kernel.SetArgs(source, target, k); err != nil {
		return err
	}
	ran, err := queue.EnqueueNDRangeKernel(kernel, nil, []int{n}, []int{64}, nil)
	if err != nil {
		return err
	}
	defer ran.Release()
	read, err := queue.EnqueueReadBuffer(target, true, 0, 4*n, unsafe.Pointer(&out[0]), []*Event{ran})
	if err != nil {
		return err
	}
	defer read.Release()
	for i := range out {
		if out[i] != in[i]+k {
			r.t.Errorf("out[%d] is %d, want %d", i, out[i], in[i]+k)
			break
		}
	}
	return queue.Finish()
}

// deep makes the stack grow.
func deep(n int) int {
	var pad [1024]byte
	if n == 0 {
		return int(pad[0])
	}
	return deep(n-1) + int(pad[n])
}
