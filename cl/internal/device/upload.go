package device

import (
	"cmp"
	"context"
	"runtime"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/file/mapped"
)

// pad is the number of words behind the data of a buffer, so that kernels may load whole
// vectors of four words at its end.
const pad = 4

// uploadChunk is the size in bytes of one staging buffer of a bulk upload.
const uploadChunk = 8 << 20

// smallUpload is the size in bytes up to which an upload takes no staging memory: while a driver makes
// that, all queues of the device stand still.
const smallUpload = 1 << 20

// WriteWords copies words to m, from a word of m on, and writes four zero words behind
// them. A large upload uses two staging buffers: one fills while the other travels. The driver reads the
// buffers and never words, which may lie in a mapped file: a fault there is an error, while
// a fault in a driver ends the process. Nothing reads words after the end of ctx.
func (rt *Runtime) WriteWords(ctx context.Context, m *ocl.MemObject, to int, words []uint32) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	total := 4*len(words) + 4*pad
	if total <= smallUpload {
		if err := rt.Fault("upload"); err != nil {
			return err
		}
		padded := make([]uint32, len(words)+pad)
		copy(padded, words)
		return rt.Fail("uploading lists", rt.writeNow(ctx, m, to, padded))
	}
	var stages [2]*Pinned
	var sent [2]*ocl.Event
	free := func() {
		for i := range stages {
			if sent[i] != nil {
				sent[i].Release()
			}
			if stages[i] != nil {
				stages[i].Release(rt)
			}
		}
	}
	defer func() { Free(ctx, rt, free) }()
	for i := range stages {
		if stages[i], err = rt.Staging(ctx, min(uploadChunk, total)); err != nil {
			return err
		}
	}
	for at, i := 0, 0; at < total; i ^= 1 {
		if sent[i] != nil {
			e := sent[i]
			sent[i] = nil
			if err := wait(ctx, e, nil); err != nil {
				return rt.Fail("uploading lists", err)
			}
		}
		stage := stages[i].Words
		n := copy(stage, words[min(at/4, len(words)):])
		clear(stage[n:min(n+pad, len(stage))])
		size := min(4*len(stage), total-at)
		err := rt.Do(func() (err error) {
			if err = rt.Fault("upload"); err != nil {
				return err
			}
			sent[i], err = rt.Transfer.EnqueueWriteBuffer(m, false, 4*to+at, size, unsafe.Pointer(&stage[0]), nil)
			return cmp.Or(err, rt.Transfer.Flush())
		})
		if err != nil {
			return rt.Fail("uploading lists", err)
		}
		at += size
	}
	for i, e := range sent {
		if sent[i] = nil; e != nil {
			if err := wait(ctx, e, nil); err != nil {
				return rt.Fail("uploading lists", err)
			}
		}
	}
	return nil
}

// writeNow copies words, which do not lie in a mapped file, to m, from a word of m on.
func (rt *Runtime) writeNow(ctx context.Context, m *ocl.MemObject, to int, words []uint32) error {
	return rt.await(ctx, rt.Transfer, words, func() (*ocl.Event, error) {
		return rt.Transfer.EnqueueWriteBuffer(m, false, 4*to, 4*len(words), unsafe.Pointer(&words[0]), nil)
	})
}

// await enqueues a command in a queue and waits for it, or until ctx ends. words is memory that the command uses; it may be
// nil.
func (rt *Runtime) await(ctx context.Context, q *ocl.CommandQueue, words []uint32, enqueue func() (*ocl.Event, error)) error {
	var pin runtime.Pinner
	if words != nil {
		pin.Pin(&words[0])
	}
	var e *ocl.Event
	err := rt.Do(func() (err error) {
		e, err = enqueue()
		return cmp.Or(err, q.Flush())
	})
	if err != nil {
		e.Release()
		pin.Unpin()
		return err
	}
	return wait(ctx, e, pin.Unpin)
}

// PaddedBytes is the size of a buffer for n words and their pad.
func PaddedBytes(n int) uint64 { return 4 * uint64(n+pad) }

// LoadWords makes a read-only buffer of paddedBytes with the given words. The caller has
// reserved its bytes.
func (rt *Runtime) LoadWords(ctx context.Context, words []uint32, what string) (*ocl.MemObject, error) {
	bytes := PaddedBytes(len(words))
	if err := rt.Fits(bytes, what, "allocating "+what); err != nil {
		return nil, err
	}
	m, err := rt.ReadOnly(ctx, bytes, what)
	if err != nil {
		return nil, err
	}
	if err := rt.WriteWords(ctx, m, 0, words); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}
