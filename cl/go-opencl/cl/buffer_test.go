package cl

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"unsafe"
)

func TestTransfers(t *testing.T) {
	r := newRig(t, 0)
	a, b := r.buffer(4096), r.buffer(4096)
	data := counting(4096, 3)
	r.write(a, data)
	if !bytes.Equal(r.read(a, 4096), data) {
		t.Fatal("a buffer does not give back what was written")
	}

	r.write(b, make([]byte, 4096))
	r.done(r.queue.EnqueueCopyBuffer(a, b, 1000, 96, 500, nil))
	want := make([]byte, 4096)
	copy(want[96:], data[1000:1500])
	if !bytes.Equal(r.read(b, 4096), want) {
		t.Error("copied the wrong bytes")
	}

	pattern := uint32(0xA1B2C3D4)
	r.done(r.queue.EnqueueFillBuffer(b, unsafe.Pointer(&pattern), 4, 8, 64, nil))
	got := words(r.read(b, 4096))
	for i := range 2 + 16 + 2 {
		w := words(want)[i]
		if i >= 2 && i < 18 {
			w = pattern
		}
		if got[i] != w {
			t.Errorf("word %d is %#x, want %#x", i, got[i], w)
		}
	}

	part := make([]byte, 16)
	r.done(r.queue.EnqueueWriteBuffer(a, true, 100, 3, unsafe.Pointer(&[]byte{9, 8, 7}[0]), nil))
	r.done(r.queue.EnqueueReadBuffer(a, true, 99, 5, unsafe.Pointer(&part[1]), nil))
	if want := []byte{0, data[99], 9, 8, 7, data[103], 0}; !bytes.Equal(part[:7], want) {
		t.Errorf("read %v at an offset, want %v", part, want)
	}
}

// TestPinnedTransfer is the way for a transfer that does not block.
func TestPinnedTransfer(t *testing.T) {
	r := newRig(t, 0)
	a := r.buffer(1 << 16)
	data, back := counting(1<<16, 5), make([]byte, 1<<16)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&data[0])
	pinner.Pin(&back[0])
	w, err := r.queue.EnqueueWriteBuffer(a, false, 0, len(data), unsafe.Pointer(&data[0]), nil)
	r.must(err)
	e, err := r.queue.EnqueueReadBuffer(a, false, 0, len(back), unsafe.Pointer(&back[0]), []*Event{w})
	r.must(err)
	runtime.GC()
	r.must(r.queue.Finish())
	e.Release()
	w.Release()
	if !bytes.Equal(back, data) {
		t.Error("transfers that do not block gave other bytes")
	}
}

func TestMap(t *testing.T) {
	r := newRig(t, 0)
	b, err := r.ctx.CreateEmptyBuffer(MemReadWrite|MemAllocHostPtr, 1024)
	r.must(err)
	defer b.Release()
	r.write(b, make([]byte, 1024))
	m, e, err := r.queue.EnqueueMapBuffer(b, true, MapFlagWriteInvalidateRegion, 256, 512, nil)
	r.must(err)
	e.Release()
	if m.Size() != 512 || len(m.ByteSlice()) != 512 || cap(m.ByteSlice()) != 512 || m.Ptr() != unsafe.Pointer(&m.ByteSlice()[0]) {
		t.Fatalf("mapped %d bytes", m.Size())
	}
	copy(m.ByteSlice(), counting(512, 1))
	runtime.GC()
	r.done(r.queue.EnqueueUnmapMemObject(b, m, nil))
	want := make([]byte, 1024)
	copy(want[256:], counting(512, 1))
	if !bytes.Equal(r.read(b, 1024), want) {
		t.Error("the buffer does not hold what was written to its mapping")
	}

	m, e, err = r.queue.EnqueueMapBuffer(b, false, MapFlagRead, 0, 1024, nil)
	r.must(err)
	r.must(WaitForEvents([]*Event{e}))
	e.Release()
	if !bytes.Equal(m.ByteSlice(), want) {
		t.Error("the mapping does not show the buffer")
	}
	r.done(r.queue.EnqueueUnmapMemObject(b, m, nil))
}

func TestHostMemory(t *testing.T) {
	r := newRig(t, 0)
	data := counting(4096, 11)
	copied, err := r.ctx.CreateBuffer(MemReadOnly|MemCopyHostPtr, data)
	r.must(err)
	defer copied.Release()
	used, err := r.ctx.CreateBuffer(MemReadWrite|MemUseHostPtr, bytes.Clone(data))
	r.must(err)
	// The only reference to the clone is the buffer's.
	for range 5 {
		runtime.GC()
		_ = counting(4096, 200)
	}
	if !bytes.Equal(r.read(copied, 4096), data) {
		t.Error("a buffer does not hold what it was made of")
	}
	if !bytes.Equal(r.read(used, 4096), data) {
		t.Error("a buffer lost the memory of the host")
	}
	if _, pinned := hostMemory.Load(used); !pinned {
		t.Error("the memory is not pinned")
	}
	used.Release()
	used.Release()
	if _, pinned := hostMemory.Load(used); pinned {
		t.Error("the memory is still pinned")
	}
	// Memory that is not Go's needs no pin.
	b := r.buffer(4096)
	m, e, err := r.queue.EnqueueMapBuffer(b, true, MapFlagRead, 0, 4096, nil)
	r.must(err)
	e.Release()
	over, err := r.ctx.CreateBufferUnsafe(MemReadOnly|MemUseHostPtr, 4096, m.Ptr())
	r.must(err)
	over.Release()
	r.done(r.queue.EnqueueUnmapMemObject(b, m, nil))
}

func TestBadTransfers(t *testing.T) {
	r := newRig(t, 0)
	b := r.buffer(64)
	data := make([]byte, 64)
	p := unsafe.Pointer(&data[0])
	q := r.queue
	errorOf := func(_ *Event, err error) error { return err }
	mapError := func(_ *MappedMemObject, _ *Event, err error) error { return err }
	createError := func(_ *MemObject, err error) error { return err }
	released := r.buffer(64)
	released.Release()
	for name, c := range map[string]struct{ got, want error }{ // nil wants any error
		"write beyond the end":     {errorOf(q.EnqueueWriteBuffer(b, true, 32, 33, p, nil)), ErrInvalidValue},
		"write from nil":           {errorOf(q.EnqueueWriteBuffer(b, true, 0, 8, nil, nil)), ErrInvalidValue},
		"write negative size":      {errorOf(q.EnqueueWriteBuffer(b, true, 0, -1, p, nil)), ErrInvalidValue},
		"read negative offset":     {errorOf(q.EnqueueReadBuffer(b, true, -4, 8, p, nil)), ErrInvalidValue},
		"read nil buffer":          {errorOf(q.EnqueueReadBuffer(nil, true, 0, 8, p, nil)), ErrInvalidMemObject},
		"read released buffer":     {errorOf(q.EnqueueReadBuffer(released, true, 0, 8, p, nil)), ErrInvalidMemObject},
		"copy overlap":             {errorOf(q.EnqueueCopyBuffer(b, b, 0, 8, 16, nil)), ErrMemCopyOverlap},
		"copy negative":            {errorOf(q.EnqueueCopyBuffer(b, b, 0, -8, 16, nil)), ErrInvalidValue},
		"copy released buffer":     {errorOf(q.EnqueueCopyBuffer(b, released, 0, 0, 16, nil)), ErrInvalidMemObject},
		"fill with odd size":       {errorOf(q.EnqueueFillBuffer(b, p, 4, 0, 6, nil)), ErrInvalidValue},
		"fill negative":            {errorOf(q.EnqueueFillBuffer(b, p, -4, 0, 8, nil)), ErrInvalidValue},
		"map beyond the end":       {mapError(q.EnqueueMapBuffer(b, true, MapFlagRead, 60, 8, nil)), ErrInvalidValue},
		"map negative":             {mapError(q.EnqueueMapBuffer(b, true, MapFlagRead, 0, -8, nil)), ErrInvalidValue},
		"map nil buffer":           {mapError(q.EnqueueMapBuffer(nil, true, MapFlagRead, 0, 8, nil)), ErrInvalidMemObject},
		"unmap nil":                {errorOf(q.EnqueueUnmapMemObject(b, nil, nil)), ErrInvalidValue},
		"create of nothing":        {createError(r.ctx.CreateBuffer(MemReadOnly|MemCopyHostPtr, nil)), ErrInvalidBufferSize},
		"create of empty slice":    {createError(r.ctx.CreateBuffer(MemReadOnly|MemUseHostPtr, []byte{})), ErrInvalidBufferSize},
		"create of size 0":         {createError(r.ctx.CreateEmptyBuffer(MemReadOnly, 0)), ErrInvalidBufferSize},
		"create of negative size":  {createError(r.ctx.CreateEmptyBuffer(MemReadOnly, -1)), ErrInvalidBufferSize},
		"create of too large size": {createError(r.ctx.CreateEmptyBuffer(MemReadOnly, 1<<60)), nil},
		"use nil host memory":      {createError(r.ctx.CreateEmptyBuffer(MemUseHostPtr, 64)), ErrInvalidHostPtr},
	} {
		if c.got == nil || c.want != nil && !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
