package pool

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// Generation counts the users of one content of an index or a table. It is embedded in the
// content.
type Generation struct{ users [shards]users }

// users counts a part of the users, so that cores do not wait for one counter.
type users struct {
	sync.RWMutex
	_ [64]byte // apart from the next one in the cache
}

const shards = 16

// Shard returns a random part of the users, for AcquireOn and ReleaseOn.
func Shard() uint { return uint(rand.Uint32() % shards) }

// Uses returns the counts of users that a content embeds.
func (g *Generation) Uses() *Generation { return g }

// Release ends a use that Opened.Acquire began.
func (g *Generation) Release() { g.ReleaseOn(0) }

// ReleaseOn ends a use that Opened.AcquireOn began on a shard.
func (g *Generation) ReleaseOn(shard uint) { g.users[shard].RUnlock() }

// Content is the content of an index or a table: a pointer to T, which embeds a Generation.
type Content[T any] interface {
	*T
	Uses() *Generation
	// Retire closes the stores and the file of a content that no query uses any more: see
	// Pool.Retire.
	Retire() error
}

// Opened is an open index or table, from generation to generation. It is embedded in the index or
// table, which calls Start once. It is safe for concurrent use.
type Opened[T any, G Content[T]] struct {
	Pool *Pool

	what     string // "index" or "table"
	now      atomic.Pointer[T]
	changing sync.Mutex // held by Change and Close
	closed   func()     // called after Close; nil: nothing
}

// Start makes g the first generation of an index or table, as what says, and lets the pool close it.
// closed is called when it is closed, unless nil. The caller is between Pool.Use and done.
func (o *Opened[T, G]) Start(g G, what string, closed func()) {
	o.what, o.closed = what, closed
	o.now.Store((*T)(g))
	o.Pool.own(o)
}

// errClosed is the error of calls after Close.
func (o *Opened[T, G]) errClosed() error { return fmt.Errorf("the %s is %w", o.what, plan.ErrClosed) }

// Current returns the generation of new queries, nil if there is none.
func (o *Opened[T, G]) Current() G { return G(o.now.Load()) }

// Acquire returns the current generation, which stays open until Generation.Release, or
// plan.ErrClosed.
func (o *Opened[T, G]) Acquire() (G, error) { return o.AcquireOn(0) }

// AcquireOn is Acquire for many concurrent users, each on a random Shard, until
// Generation.ReleaseOn.
func (o *Opened[T, G]) AcquireOn(shard uint) (G, error) {
	for {
		g := o.Current()
		if g == nil {
			return nil, o.errClosed()
		}
		if g.Uses().users[shard].TryRLock() {
			return g, nil
		}
	}
}

// Change calls f with the current generation, which f may replace. It returns plan.ErrClosed after Close.
func (o *Opened[T, G]) Change(f func(now G) error) error {
	o.changing.Lock()
	defer o.changing.Unlock()
	now := o.Current()
	if now == nil {
		return o.errClosed()
	}
	return f(now)
}

// Replace makes g the generation of new queries, waits for the queries on the former one and retires it. An error of
// retiring is logged. Its caller is the function that Change calls.
func (o *Opened[T, G]) Replace(g G) {
	if err := o.exchange(g).Retire(); err != nil {
		o.Pool.Log().Warn().Err(err).Msg("the old " + o.what + " is not closed")
	}
}

// exchange makes next the generation of new queries; nil is none. It returns the former generation
// when no query uses it any more.
func (o *Opened[T, G]) exchange(next G) G {
	old := G(o.now.Swap((*T)(next)))
	for i := range shards {
		old.Uses().users[i].Lock() // for good: Acquire fails on it
	}
	return old
}

// Close refuses further queries with plan.ErrClosed, waits for running queries, and releases stores
// and file. A second Close returns plan.ErrClosed. If a device hangs, the error is
// schedule.ErrHung too.
func (o *Opened[T, G]) Close() error {
	return o.Change(func(G) error {
		defer o.Pool.disown(o)
		if o.closed != nil {
			defer o.closed()
		}
		return o.exchange(nil).Retire()
	})
}
