package cl

import "unsafe"

// EnqueueWriteBuffer copies dataSize bytes at dataPtr to the buffer. The package
// page describes the memory that a non-blocking transfer may use.
func (q *CommandQueue) EnqueueWriteBuffer(buffer *MemObject, blocking bool, offset, dataSize int, dataPtr unsafe.Pointer, eventWaitList []*Event) (*Event, error) {
	return q.transfer(clEnqueueWriteBuffer, buffer, blocking, offset, dataSize, dataPtr, eventWaitList)
}

// EnqueueReadBuffer copies dataSize bytes of the buffer to dataPtr. The package
// page describes the memory that a non-blocking transfer may use.
func (q *CommandQueue) EnqueueReadBuffer(buffer *MemObject, blocking bool, offset, dataSize int, dataPtr unsafe.Pointer, eventWaitList []*Event) (*Event, error) {
	return q.transfer(clEnqueueReadBuffer, buffer, blocking, offset, dataSize, dataPtr, eventWaitList)
}

func (q *CommandQueue) transfer(f *function, buffer *MemObject, blocking bool, offset, size int, data unsafe.Pointer, wait []*Event) (*Event, error) {
	list, err := q.prepare(wait, offset, size)
	if err != nil {
		return nil, err
	}
	e := new(Event)
	err = status(f.call(q.id, buffer.handle(), clBool(blocking), uintptr(offset), uintptr(size), uintptr(data),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id))))
	return enqueued(e, err)
}

// EnqueueCopyBuffer copies bytes between buffers, or within one where the regions
// do not overlap.
func (q *CommandQueue) EnqueueCopyBuffer(srcBuffer, dstBuffer *MemObject, srcOffset, dstOffset, byteCount int, eventWaitList []*Event) (*Event, error) {
	list, err := q.prepare(eventWaitList, srcOffset, dstOffset, byteCount)
	if err != nil {
		return nil, err
	}
	e := new(Event)
	err = status(clEnqueueCopyBuffer.call(q.id, srcBuffer.handle(), dstBuffer.handle(), uintptr(srcOffset), uintptr(dstOffset), uintptr(byteCount),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id))))
	return enqueued(e, err)
}

// EnqueueFillBuffer repeats the pattern (1 to 128 bytes, a power of two; it is
// copied) over size bytes of the buffer; offset and size are multiples of its size.
func (q *CommandQueue) EnqueueFillBuffer(buffer *MemObject, pattern unsafe.Pointer, patternSize, offset, size int, eventWaitList []*Event) (*Event, error) {
	list, err := q.prepare(eventWaitList, patternSize, offset, size)
	if err != nil {
		return nil, err
	}
	e := new(Event)
	err = status(clEnqueueFillBuffer.call(q.id, buffer.handle(), uintptr(pattern), uintptr(patternSize), uintptr(offset), uintptr(size),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id))))
	return enqueued(e, err)
}

// EnqueueMapBuffer maps size bytes of the buffer into the host's address space. A
// mapping that is not blocking may be used when its event is complete.
func (q *CommandQueue) EnqueueMapBuffer(buffer *MemObject, blocking bool, flags MapFlag, offset, size int, eventWaitList []*Event) (*MappedMemObject, *Event, error) {
	list, err := q.prepare(eventWaitList, offset, size)
	if err != nil {
		return nil, nil, err
	}
	e := new(Event)
	var code int32
	addr := clEnqueueMapBuffer.call(q.id, buffer.handle(), clBool(blocking), uintptr(flags), uintptr(offset), uintptr(size),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id)), uintptr(unsafe.Pointer(&code)))
	if err := created(addr, code); err != nil {
		return nil, nil, err
	}
	// The address is not Go's; a plain conversion of it would look like arithmetic.
	return &MappedMemObject{ptr: *(*unsafe.Pointer)(unsafe.Pointer(&addr)), size: size}, e, nil
}

// EnqueueUnmapMemObject gives a mapped region back to the device.
func (q *CommandQueue) EnqueueUnmapMemObject(buffer *MemObject, mappedObj *MappedMemObject, eventWaitList []*Event) (*Event, error) {
	list, err := q.prepare(eventWaitList)
	if err != nil {
		return nil, err
	}
	if mappedObj == nil {
		return nil, ErrInvalidValue
	}
	e := new(Event)
	err = status(clEnqueueUnmapMemObject.call(q.id, buffer.handle(), uintptr(mappedObj.ptr),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id))))
	return enqueued(e, err)
}

func clBool(b bool) uintptr {
	if b {
		return 1
	}
	return 0
}
