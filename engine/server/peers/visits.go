package peers

import (
	"container/list"
	"context"
	"sync"
)

// Visits are the running requests of callers without a proof of their identity: probes, and requests that
// the server refuses. The oldest one ends when there are too many: only a watch of the health service, or a
// peer that sends or reads slowly, lasts long. The zero value is ready. It is safe for concurrent use.
type Visits struct {
	mu  sync.Mutex
	all list.List // elements are func(), the oldest visit first
}

// Enter begins a visit. When it must end, Enter calls cut and ends the context with a cause. Room reports that
// another visit ended for it. The caller calls leave.
func (v *Visits) Enter(ctx context.Context, most int, cause error, cut func()) (_ context.Context, leave func(), room bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	v.mu.Lock()
	at := v.all.PushBack(func() {
		cancel(cause)
		cut()
	})
	if room = v.all.Len() > most; room {
		v.all.Remove(v.all.Front()).(func())() // before its leave, behind which its connection may serve another request
	}
	v.mu.Unlock()
	return ctx, func() {
		v.mu.Lock()
		v.all.Remove(at) // does nothing if it has made room
		v.mu.Unlock()
		cancel(nil)
	}, room
}

// Running returns the number of visits.
func (v *Visits) Running() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all.Len()
}
