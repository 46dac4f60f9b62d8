package cluster

import (
	"math/bits"
	"slices"
	"sync"
	"time"
)

// window holds the times of recent calls of a shard, by the size of the call, and their 95th
// percentiles.
type window struct {
	mu      sync.Mutex
	classes [16]class // by the bits of the number of queries
}

const (
	recent = 128 // calls
	enough = 20  // calls before a percentile counts
)

type class struct {
	times [recent]time.Duration
	n     int
	late  time.Duration // the 95th percentile
}

func classOf(size int) int { return min(bits.Len(uint(size)), 15) }

func (w *window) add(size int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.classes[classOf(size)]
	c.times[c.n%recent] = took
	if c.n++; c.n == enough || c.n > enough && c.n%16 == 0 {
		known := slices.Clone(c.times[:min(c.n, recent)])
		slices.Sort(known)
		c.late = known[len(known)*95/100]
	}
}

// leastLate bounds the time before a second request, since timers are not finer.
const leastLate = time.Millisecond

// late returns the time after which a call is late: initial before there are enough calls.
func (w *window) late(size int, initial time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := &w.classes[classOf(size)]; c.n >= enough {
		return max(c.late, leastLate)
	}
	return initial
}
