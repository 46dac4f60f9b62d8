package serve

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
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

func (g *Generation) generation() *Generation { return g }

// Release ends a use that Current.Acquire began.
func (g *Generation) Release() { g.ReleaseOn(0) }

// ReleaseOn ends a use that Current.AcquireOn began on a shard.
func (g *Generation) ReleaseOn(shard uint) { g.users[shard].RUnlock() }

// Current holds the generation that answers new queries. The zero value holds none. It is
// safe for concurrent use, but calls of Exchange must not overlap.
type Current[T any, G interface {
	*T
	generation() *Generation
}] struct {
	now atomic.Pointer[T]
}

// Load returns the current generation, nil if there is none.
func (c *Current[T, G]) Load() G { return G(c.now.Load()) }

// Acquire returns the current generation, which stays open until Generation.Release; nil if
// there is none.
func (c *Current[T, G]) Acquire() G { return c.AcquireOn(0) }

// AcquireOn is Acquire for many concurrent users, each on a random Shard, until
// Generation.ReleaseOn.
func (c *Current[T, G]) AcquireOn(shard uint) G {
	for {
		g := G(c.now.Load())
		if g == nil {
			return nil
		}
		if g.generation().users[shard].TryRLock() {
			return g
		}
	}
}

// Exchange makes next the generation of new queries; nil is none. It returns the former
// generation when no query uses it any more; nil if there was none.
func (c *Current[T, G]) Exchange(next G) G {
	old := G(c.now.Swap((*T)(next)))
	if old != nil {
		for i := range shards {
			old.generation().users[i].Lock() // for good: Acquire fails on it
		}
	}
	return old
}
