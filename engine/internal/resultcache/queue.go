package resultcache

import "math/bits"

// queue is first in, first out.
type queue[V any] struct {
	first, last *entry[V]
	n           int
	bytes       uint64
}

func (q *queue[V]) push(e *entry[V]) {
	if q.first == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
	q.n++
	q.bytes += e.bytes
}

// pop must not be called on an empty queue.
func (q *queue[V]) pop() *entry[V] {
	e := q.first
	q.first, e.next = e.next, nil
	q.n--
	q.bytes -= e.bytes
	return e
}

// ghosts remembers keys that have left the small queue, by a fingerprint each, in a table
// with one place for all hashes with the same low bits: the later one stays. A wrong
// match, one in 2^32, does no harm.
type ghosts struct {
	table []ghost // a power of two of them, or none
	n     uint32  // added so far
}

type ghost struct {
	print uint32
	at    uint32 // ghosts.n when it came
}

const (
	ghostBytes = 8
	mostGhosts = 1 << 20
)

// newGhosts returns ghosts that take at most the given number of bytes.
func newGhosts(bytes uint64) ghosts {
	n := min(bytes/ghostBytes, mostGhosts)
	if n == 0 {
		return ghosts{}
	}
	return ghosts{table: make([]ghost, 1<<(bits.Len64(n)-1))}
}

func (g *ghosts) bytes() uint64 { return uint64(len(g.table)) * ghostBytes }

func (g *ghosts) place(hash uint64) *ghost { return &g.table[hash/shards&uint64(len(g.table)-1)] }

func (g *ghosts) add(hash uint64) {
	if len(g.table) > 0 {
		g.n++
		*g.place(hash) = ghost{uint32(hash >> 32), g.n}
	}
}

// take tells whether hash is among the last added, as many as given, and forgets it.
func (g *ghosts) take(hash uint64, last int) bool {
	if len(g.table) == 0 {
		return false
	}
	p := g.place(hash)
	if p.at == 0 || p.print != uint32(hash>>32) || uint64(g.n-p.at) >= uint64(last) {
		return false
	}
	*p = ghost{}
	return true
}
