package device

import (
	"cmp"
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
// a fault in a driver ends the process.
func (rt *Runtime) WriteWords(m *ocl.MemObject, to int, words []uint32) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	total := 4*len(words) + 4*pad
	if total <= smallUpload {
		if err := rt.Fault("upload"); err != nil {
			return err
		}
		padded := make([]uint32, len(words)+pad)
		copy(padded, words)
		return rt.Fail("uploading lists", rt.writeNow(m, to, padded))
	}
	var stages [2]*Pinned
	var sent [2]*ocl.Event
	defer func() {
		for i := range stages {
			if sent[i] != nil {
				sent[i].Release()
			}
			if stages[i] != nil {
				stages[i].Release(rt)
			}
		}
	}()
	for i := range stages {
		if stages[i], err = rt.NewPinned(min(uploadChunk, total)); err != nil {
			return err
		}
	}
	for at, i := 0, 0; at < total; i ^= 1 {
		if sent[i] != nil {
			if err := ocl.WaitForEvents([]*ocl.Event{sent[i]}); err != nil {
				return rt.Fail("uploading lists", err)
			}
			sent[i].Release()
			sent[i] = nil
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
	for _, e := range sent {
		if e != nil {
			if err := ocl.WaitForEvents([]*ocl.Event{e}); err != nil {
				return rt.Fail("uploading lists", err)
			}
		}
	}
	return nil
}

// writeNow copies words, which do not lie in a mapped file, to m, from a word of m on.
func (rt *Runtime) writeNow(m *ocl.MemObject, to int, words []uint32) error {
	var pin runtime.Pinner
	pin.Pin(&words[0])
	defer pin.Unpin()
	return rt.await(rt.Transfer, func() (*ocl.Event, error) {
		return rt.Transfer.EnqueueWriteBuffer(m, false, 4*to, 4*len(words), unsafe.Pointer(&words[0]), nil)
	})
}

// await enqueues a command in a queue and waits for it.
func (rt *Runtime) await(q *ocl.CommandQueue, enqueue func() (*ocl.Event, error)) error {
	var e *ocl.Event
	err := rt.Do(func() (err error) {
		e, err = enqueue()
		return cmp.Or(err, q.Flush())
	})
	defer func() { e.Release() }()
	if err != nil {
		return err
	}
	return ocl.WaitForEvents([]*ocl.Event{e})
}

// PaddedBytes is the size of a buffer for n words and their pad.
func PaddedBytes(n int) uint64 { return 4 * uint64(n+pad) }

// LoadWords makes a read-only buffer of paddedBytes with the given words. The caller has
// reserved its bytes.
func (rt *Runtime) LoadWords(words []uint32, what string) (*ocl.MemObject, error) {
	bytes := PaddedBytes(len(words))
	if err := rt.Fits(bytes, what, "allocating "+what); err != nil {
		return nil, err
	}
	m, err := rt.Buffer(ocl.MemReadOnly, bytes, what)
	if err != nil {
		return nil, err
	}
	if err := rt.WriteWords(m, 0, words); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}
