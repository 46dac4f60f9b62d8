package engine

import (
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// users counts the views of a generation. A single count would be written by every core for
// every query: there are many instead, and each P of the Go runtime keeps to one mostly.
type users struct {
	counts [userCounts]userCount
	left   chan struct{} // holds one where a count has come to nothing
}

type userCount struct {
	n atomic.Int64
	_ [64 - 8]byte // a cache line each
}

const userCounts = 64

// ownCount holds the count that a P used last.
var (
	ownCount  = sync.Pool{New: func() any { i := int(lastCount.Add(1) % userCounts); return &i }}
	lastCount atomic.Uint32
)

// View gives the present index. It is held until the View is closed: Reload waits before
// it closes the old index, and so does Close.
func (e *Engine) View() (View, error) {
	for {
		g := e.now.Load()
		if g == nil {
			return View{}, plan.ErrClosed
		}
		own := ownCount.Get().(*int)
		v := View{e, g, *own}
		ownCount.Put(own)
		g.users.counts[v.count].n.Add(1)
		if e.now.Load() == g { // else exchange may have looked at the count before
			return v, nil
		}
		v.Close()
	}
}

// Close lets the index go. It must be called once, and nothing of the View be used after.
func (v View) Close() {
	u := &v.g.users
	if u.counts[v.count].n.Add(-1) == 0 && v.e.now.Load() != v.g {
		select {
		case u.left <- struct{}{}:
		default: // exchange has not looked yet
		}
	}
}

// exchange makes g the generation of queries to come, nil that of none. It gives the one
// before, when nobody uses it any more. It is called under e.changing.
func (e *Engine) exchange(g *generation) (old *generation) {
	old = e.now.Load()
	u := &old.users
	u.left = make(chan struct{}, 1)
	e.now.Store(g)
	for i := range u.counts { // those who come now see that they come too late
		for u.counts[i].n.Load() > 0 { // queries, whose jobs have ended then
			<-u.left
		}
	}
	return old
}
