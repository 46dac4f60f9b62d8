package cl

import (
	"sync"
	"unsafe"
)

// Event stands for a command or, made by CreateUserEvent, for the caller.
type Event struct {
	id     uintptr
	marked *CommandQueue // of a kernel whose event is a marker, which the first use enqueues
	mark   sync.Mutex
}

// CommmandExecStatus is the state of a command; the name is upstream's.
type CommmandExecStatus int

const (
	CommmandExecStatusComplete  CommmandExecStatus = 0
	CommmandExecStatusRunning   CommmandExecStatus = 1
	CommmandExecStatusSubmitted CommmandExecStatus = 2
	CommmandExecStatusQueued    CommmandExecStatus = 3
)

// ProfilingInfo is a moment in the life of a command.
type ProfilingInfo int

const (
	ProfilingInfoCommandQueued ProfilingInfo = 0x1280 // the host enqueued it
	ProfilingInfoCommandSubmit ProfilingInfo = 0x1281 // the host gave it to the device
	ProfilingInfoCommandStart  ProfilingInfo = 0x1282 // the device began it
	ProfilingInfoCommandEnd    ProfilingInfo = 0x1283 // the device ended it
)

// GetEventProfilingInfo gives the device's time of that moment in nanoseconds. The
// command must be complete and its queue made with CommandQueueProfilingEnable.
func (e *Event) GetEventProfilingInfo(paramName ProfilingInfo) (int64, error) {
	if e.handle() == 0 {
		return 0, ErrInvalidEvent
	}
	var ns int64
	err := status(clGetEventProfilingInfo.call(e.id, uintptr(paramName), unsafe.Sizeof(ns), uintptr(unsafe.Pointer(&ns)), 0))
	return ns, err
}

// SetUserEventStatus completes a user event: CommmandExecStatusComplete, or a
// negative value, which fails the commands that wait for it. It works once.
func (e *Event) SetUserEventStatus(status int) error {
	if e.handle() == 0 {
		return ErrInvalidEvent
	}
	return toError(int32(clSetUserEventStatus.call(e.id, uintptr(status))))
}

// WaitForEvents blocks until all events are complete; at least one is needed. The
// error is ErrExecStatusErrorForEventsInWaitList when a command failed.
func WaitForEvents(events []*Event) error {
	if len(events) == 0 {
		return ErrInvalidValue
	}
	list, err := waitList(events)
	if err != nil {
		return err
	}
	return status(clWaitForEvents.call(uintptr(len(list)), uintptr(unsafe.Pointer(&list[0]))))
}

// Release gives the event back.
func (e *Event) Release() {
	if e != nil {
		e.marked = nil
		release(clReleaseEvent, &e.id)
	}
}

func (e *Event) handle() uintptr {
	if e == nil {
		return 0
	}
	if q := e.marked.handle(); q != 0 {
		e.mark.Lock()
		defer e.mark.Unlock()
		if e.id == 0 && clEnqueueMarkerWithWait.call(q, 0, 0, uintptr(unsafe.Pointer(&e.id))) == 0 {
			clFlush.call(q) // another queue may wait for the marker
		}
	}
	return e.id
}

// waitList returns the handles of the events, nil when there are none.
func waitList(events []*Event) ([]uintptr, error) {
	if len(events) == 0 {
		return nil, nil
	}
	list := make([]uintptr, len(events))
	for i, e := range events {
		if list[i] = e.handle(); list[i] == 0 {
			return nil, ErrInvalidEventWaitList
		}
	}
	return list, nil
}
