package cl

import "unsafe"

// CommandQueueProperty is a set of properties of a queue.
type CommandQueueProperty int

const (
	CommandQueueOutOfOrderExecModeEnable CommandQueueProperty = 1 << 0
	CommandQueueProfilingEnable          CommandQueueProperty = 1 << 1
)

// CommandQueue is a queue of commands for one device.
type CommandQueue struct {
	id      uintptr
	inOrder bool // without times: a marker behind a command can stand for it
}

// Flush gives all commands to the device and does not wait for them.
func (q *CommandQueue) Flush() error {
	if q.handle() == 0 {
		return ErrInvalidCommandQueue
	}
	return status(clFlush.call(q.id))
}

// Finish blocks until all commands are complete.
func (q *CommandQueue) Finish() error {
	if q.handle() == 0 {
		return ErrInvalidCommandQueue
	}
	return status(clFinish.call(q.id))
}

// EnqueueNDRangeKernel runs the kernel over one to three dimensions. The offset may
// be empty for zero, the local size for the driver's choice. Without properties of the queue
// and without a wait list, the event is complete when all commands are that the queue has at
// the first use of the event.
func (q *CommandQueue) EnqueueNDRangeKernel(kernel *Kernel, globalWorkOffset, globalWorkSize, localWorkSize []int, eventWaitList []*Event) (*Event, error) {
	list, err := q.prepare(eventWaitList)
	dim := len(globalWorkSize)
	switch {
	case err != nil:
		return nil, err
	case kernel.handle() == 0:
		return nil, ErrInvalidKernel
	case dim < 1 || dim > 3:
		return nil, ErrInvalidWorkDimension
	case negative(globalWorkSize):
		return nil, ErrInvalidGlobalWorkSize
	case negative(globalWorkOffset) || len(globalWorkOffset) != 0 && len(globalWorkOffset) != dim:
		return nil, ErrInvalidGlobalOffset
	case negative(localWorkSize) || len(localWorkSize) != 0 && len(localWorkSize) != dim:
		return nil, ErrInvalidWorkGroupSize
	}
	// On the 64-bit architectures that the loader knows, an int is a size_t.
	e := new(Event)
	event := &e.id
	if q.inOrder && len(list) == 0 {
		e.marked, event = q, nil // drivers take microseconds for an event, and few are used
	}
	err = status(clEnqueueNDRangeKernel.call(q.id, kernel.id, uintptr(dim),
		uintptr(unsafe.Pointer(first(globalWorkOffset))), uintptr(unsafe.Pointer(&globalWorkSize[0])), uintptr(unsafe.Pointer(first(localWorkSize))),
		uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(event))))
	return enqueued(e, err)
}

// EnqueueBarrierWithWaitList makes all later commands wait for the events, or for
// all earlier commands when there are none.
func (q *CommandQueue) EnqueueBarrierWithWaitList(eventWaitList []*Event) (*Event, error) {
	return q.synchronize(clEnqueueBarrierWithWait, eventWaitList)
}

// EnqueueMarkerWithWaitList gives an event that is complete when the events are,
// or all earlier commands when there are none.
func (q *CommandQueue) EnqueueMarkerWithWaitList(eventWaitList []*Event) (*Event, error) {
	return q.synchronize(clEnqueueMarkerWithWait, eventWaitList)
}

func (q *CommandQueue) synchronize(f *function, wait []*Event) (*Event, error) {
	list, err := q.prepare(wait)
	if err != nil {
		return nil, err
	}
	e := new(Event)
	err = status(f.call(q.id, uintptr(len(list)), uintptr(unsafe.Pointer(first(list))), uintptr(unsafe.Pointer(&e.id))))
	return enqueued(e, err)
}

// Release gives the queue back; its commands are still run.
func (q *CommandQueue) Release() {
	if q != nil {
		release(clReleaseCommandQueue, &q.id)
	}
}

func (q *CommandQueue) handle() uintptr {
	if q == nil {
		return 0
	}
	return q.id
}

// prepare checks the queue and the sizes and offsets of a command, of which none
// may be negative, and returns the handles of its wait list.
func (q *CommandQueue) prepare(wait []*Event, sizes ...int) ([]uintptr, error) {
	if q.handle() == 0 {
		return nil, ErrInvalidCommandQueue
	}
	if negative(sizes) {
		return nil, ErrInvalidValue
	}
	return waitList(wait)
}

func negative(sizes []int) bool {
	for _, s := range sizes {
		if s < 0 {
			return true
		}
	}
	return false
}

// enqueued returns the event of a command that the driver has taken.
func enqueued(e *Event, err error) (*Event, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}
