package cl

import (
	"cmp"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// pad is the number of words behind the data of a buffer, so that kernels may load whole
// vectors of four words at its end.
const pad = 4

// uploadChunk is the size in bytes of one staging buffer of a bulk upload.
const uploadChunk = 8 << 20

// writeWords copies words to m, from a word of m on, and writes four zero words behind
// them. It uses two staging buffers: one fills while the other travels.
func (rt *opened) writeWords(m *ocl.MemObject, to int, words []uint32) error {
	var stages [2]*pinned
	var sent [2]*ocl.Event
	defer func() {
		for i := range stages {
			if sent[i] != nil {
				sent[i].Release()
			}
			if stages[i] != nil {
				stages[i].release(rt)
			}
		}
	}()
	total := 4*len(words) + 4*pad
	for i := range stages {
		var err error
		if stages[i], err = rt.newPinned(min(uploadChunk, total)); err != nil {
			return err
		}
	}
	for at, i := 0, 0; at < total; i ^= 1 {
		if sent[i] != nil {
			if err := ocl.WaitForEvents([]*ocl.Event{sent[i]}); err != nil {
				return rt.fail("uploading lists", err)
			}
			sent[i].Release()
			sent[i] = nil
		}
		stage := stages[i].words
		n := copy(stage, words[min(at/4, len(words)):])
		clear(stage[n:min(n+pad, len(stage))])
		size := min(4*len(stage), total-at)
		err := rt.do(func() (err error) {
			if err = rt.fault("upload"); err != nil {
				return err
			}
			sent[i], err = rt.transfer.EnqueueWriteBuffer(m, false, 4*to+at, size, unsafe.Pointer(&stage[0]), nil)
			return cmp.Or(err, rt.transfer.Flush())
		})
		if err != nil {
			return rt.fail("uploading lists", err)
		}
		at += size
	}
	return rt.fail("uploading lists", rt.do(rt.transfer.Finish))
}

// paddedBytes is the size of a buffer for n words and their pad.
func paddedBytes(n int) uint64 { return 4 * uint64(n+pad) }

// loadWords makes a read-only buffer of paddedBytes with the given words. The caller has
// reserved its bytes.
func (rt *opened) loadWords(words []uint32, what string) (*ocl.MemObject, error) {
	bytes := paddedBytes(len(words))
	if err := rt.fits(bytes, what, "allocating "+what); err != nil {
		return nil, err
	}
	m, err := rt.buffer(ocl.MemReadOnly, bytes, what)
	if err != nil {
		return nil, err
	}
	if err := rt.writeWords(m, 0, words); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}
