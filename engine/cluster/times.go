package cluster

import (
	"math/bits"
	"slices"
	"sync"
	"time"
)

// window holds the times of recent requests, by their work, and their 95th percentiles. The work of a
// request is the number of its queries times the documents of its shards.
type window struct {
	mu      sync.Mutex
	classes [65]*class // by the bits of the work
}

const (
	recent = 128 // requests
	enough = 20  // requests before a percentile counts
)

type class struct {
	times [recent]time.Duration
	n     int
	late  time.Duration // the 95th percentile
}

func (w *window) add(work uint64, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.classes[bits.Len64(work)]
	if c == nil {
		c = new(class)
		w.classes[bits.Len64(work)] = c
	}
	c.times[c.n%recent] = took
	if c.n++; c.n == enough || c.n > enough && c.n%16 == 0 {
		known := slices.Clone(c.times[:min(c.n, recent)])
		slices.Sort(known)
		c.late = known[len(known)*95/100]
	}
}

// leastLate bounds the time before a second request, since timers are not finer.
const leastLate = time.Millisecond

// late returns the time after which a request is late: initial before there are enough requests.
func (w *window) late(work uint64, initial time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.classes[bits.Len64(work)]; c != nil && c.n >= enough {
		return max(c.late, leastLate)
	}
	return initial
}
