// Package resultcache keeps answers, so that a repeated query does not run again.
//
// A Cache is bounded in bytes, and never exceeds the bound. S3-FIFO (Yang et al. 2023, "FIFO
// queues are all you need for cache eviction") chooses the answers to keep: an answer first
// waits in a small queue. An answer with two requests there goes on to the main queue. The
// rest leave the cache, and only their fingerprint is remembered for a while: a query that
// comes back in that time goes to the main queue at once. Queries that come once, the
// usual case, pass by without evicting useful answers.
//
// A Key is the normal form of a query: queries with the same meaning on the same index have
// the same key. A replaced index has another checksum, so old answers are not found for it.
package resultcache

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

const (
	// Overhead is the memory of an answer beside its value and its key, in bytes: its place
	// in a queue and in a map.
	Overhead = 128
	// Share is the part of a cache's capacity that one answer may take at most: 1/Share.
	Share = 16

	smallShare = 10 // the small queue has a tenth
	shards     = 64
	mostUses   = 3 // an answer that was used more often counts as used so often
	mostSteps  = 1000
)

// Cache keeps answers of type V by Key. It is safe for concurrent use. Get takes a read lock
// of one of many shards; Put takes one lock for all. It has no goroutines and needs no
// Close. A nil Cache keeps nothing and counts nothing.
//
// All callers share the values: they must not write to the memory of a value.
type Cache[V any] struct {
	seed   maphash.Seed
	shards [shards]shard[V]

	mu           sync.Mutex // taken before the lock of a shard
	capacity     uint64     // greatest size of the queues together, in bytes
	small, main  queue[V]
	gone         ghosts
	evicted, not uint64 // not kept
}

type shard[V any] struct {
	mu      sync.RWMutex
	entries map[string]*entry[V]
	hits    atomic.Uint64
	misses  atomic.Uint64
	_       [80]byte // 128 bytes in all: counters of two shards share no cache line
}

type entry[V any] struct {
	key   string
	hash  uint64
	value V
	bytes uint64
	uses  atomic.Uint32 // since it came, or since main gave it another round; at most mostUses
	next  *entry[V]     // put after it
}

// New returns a cache that takes at most the given number of bytes. An answer takes Overhead beside
// its value and key. Of bytes a 128th is for fingerprints.
func New[V any](bytes uint64) *Cache[V] {
	c := &Cache[V]{seed: maphash.MakeSeed(), gone: newGhosts(bytes / 128)}
	c.capacity = bytes - c.gone.bytes()
	for i := range c.shards {
		c.shards[i].entries = make(map[string]*entry[V])
	}
	return c
}

// Get returns the answer of k. It does not allocate.
func (c *Cache[V]) Get(k Key) (v V, ok bool) {
	if c == nil {
		return v, false
	}
	s := &c.shards[maphash.Bytes(c.seed, k)%shards]
	s.mu.RLock()
	e := s.entries[string(k)]
	s.mu.RUnlock()
	if e == nil {
		s.misses.Add(1)
		return v, false
	}
	s.hits.Add(1)
	if n := e.uses.Load(); n < mostUses {
		e.uses.CompareAndSwap(n, n+1) // one that loses to another is not missed
	}
	return e.value, true
}

// Takes tells whether Put keeps a value of the given number of bytes as the answer of k.
func (c *Cache[V]) Takes(k Key, bytes uint64) bool {
	if c == nil {
		return false
	}
	limit := c.capacity / Share
	return bytes <= limit && bytes+uint64(len(k))+Overhead <= limit
}

// Put keeps v, which takes the given number of bytes, as the answer of k, and tells whether it did: a
// value is refused if with its overhead it would take more than 1/Share of the whole. The
// first value of a key stays: another one would be equal. k may be changed afterwards.
func (c *Cache[V]) Put(k Key, v V, bytes uint64) bool {
	if c == nil {
		return false
	}
	if !c.Takes(k, bytes) {
		c.mu.Lock()
		c.not++
		c.mu.Unlock()
		return false
	}
	hash := maphash.Bytes(c.seed, k)
	s := &c.shards[hash%shards]
	e := &entry[V]{key: string(k), hash: hash, value: v, bytes: bytes + uint64(len(k)) + Overhead}

	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.RLock()
	_, there := s.entries[e.key]
	s.mu.RUnlock()
	if there {
		return true
	}
	for steps := 0; c.small.bytes+c.main.bytes+e.bytes > c.capacity; steps++ {
		c.evict(steps > mostSteps)
	}
	if c.gone.take(hash, c.main.n) {
		c.main.push(e)
	} else {
		c.small.push(e)
	}
	s.mu.Lock()
	s.entries[e.key] = e
	s.mu.Unlock()
	return true
}

// evict takes one step towards more room: an answer leaves, moves from small to main, or
// loses one use in main. With force an answer leaves: concurrent requests may add uses as
// fast as evict removes them.
func (c *Cache[V]) evict(force bool) {
	if c.small.bytes > c.capacity/smallShare || c.main.n == 0 {
		e := c.small.pop()
		if !force && e.uses.Load() > 1 {
			e.uses.Store(0)
			c.main.push(e)
			return
		}
		c.gone.add(e.hash)
		c.remove(e)
		return
	}
	e := c.main.pop()
	if n := e.uses.Load(); !force && n > 0 {
		e.uses.Store(n - 1)
		c.main.push(e)
		return
	}
	c.remove(e)
}

// remove forgets e, which is in no queue.
func (c *Cache[V]) remove(e *entry[V]) {
	s := &c.shards[e.hash%shards]
	s.mu.Lock()
	delete(s.entries, e.key)
	s.mu.Unlock()
	c.evicted++
}

// Clear forgets all answers; counters stay.
func (c *Cache[V]) Clear() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.entries = make(map[string]*entry[V]) // maps do not shrink
		s.mu.Unlock()
	}
	c.small, c.main = queue[V]{}, queue[V]{}
}

// Stats is a snapshot of the content and the history of a cache.
type Stats struct {
	Capacity, Bytes uint64 // Bytes is never more
	Entries         int
	// Since it was made:
	Hits, Misses uint64
	Evicted      uint64
	Refused      uint64 // values that were too large
}

// Stats returns a snapshot.
func (c *Cache[V]) Stats() (s Stats) {
	if c == nil {
		return s
	}
	for i := range c.shards {
		s.Hits += c.shards[i].hits.Load()
		s.Misses += c.shards[i].misses.Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Capacity = c.capacity + c.gone.bytes()
	s.Bytes = c.small.bytes + c.main.bytes + c.gone.bytes()
	s.Entries = c.small.n + c.main.n
	s.Evicted, s.Refused = c.evicted, c.not
	return s
}
