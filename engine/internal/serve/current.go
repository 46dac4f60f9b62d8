package serve

import (
	"sync"
	"sync/atomic"
)

// Generation counts the users of one content of an index or a table. It is embedded in the
// content.
type Generation struct{ users sync.RWMutex }

func (g *Generation) generation() *Generation { return g }

// Release ends a use that Current.Acquire began.
func (g *Generation) Release() { g.users.RUnlock() }

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
func (c *Current[T, G]) Acquire() G {
	for {
		g := G(c.now.Load())
		if g == nil {
			return nil
		}
		if g.generation().users.TryRLock() {
			return g
		}
	}
}

// Exchange makes next the generation of new queries; nil is none. It returns the former
// generation when no query uses it any more; nil if there was none.
func (c *Current[T, G]) Exchange(next G) G {
	old := G(c.now.Swap((*T)(next)))
	if old != nil {
		old.generation().users.Lock() // for good: Acquire fails on it
	}
	return old
}
