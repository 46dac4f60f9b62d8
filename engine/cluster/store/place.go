package store

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/engine/internal/layout"
)

// load is the number of bytes of each node that may take shards.
type load map[string]uint64

// loads counts the bytes of all current maps on the nodes.
func loads(states map[string]*State, nodes []string) load {
	l := load{}
	for _, n := range nodes {
		l[n] = 0
	}
	for _, s := range states {
		if s.Current == nil {
			continue
		}
		for _, shard := range s.Current.Shards {
			for _, n := range shard.Replicas {
				if _, ok := l[n]; ok {
					l[n] += shard.Size()
				}
			}
		}
	}
	return l
}

// least returns the node with the fewest bytes that is not among others; "" if there is none.
func (l load) least(others []string) string {
	best := ""
	for n, bytes := range l {
		if slices.Contains(others, n) {
			continue
		}
		if best == "" || bytes < l[best] || bytes == l[best] && n < best {
			best = n
		}
	}
	return best
}

// place gives each shard its replicas, the largest shards first.
func (l load) place(m *layout.Map, replicas int) error {
	if replicas < 1 || replicas > len(l) {
		return fmt.Errorf("%d replicas: want at least 1, and at most the number of nodes that answer and do not drain, which is %d", replicas, len(l))
	}
	order := make([]int, len(m.Shards))
	for i := range order {
		order[i] = i
		m.Shards[i].Replicas = nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Shards[b].Size(), m.Shards[a].Size()) })
	for _, i := range order {
		s := &m.Shards[i]
		for range replicas {
			n := l.least(s.Replicas)
			s.Replicas, l[n] = append(s.Replicas, n), l[n]+s.Size()
		}
	}
	return nil
}

// clone copies a map with its replicas.
func clone(m *layout.Map) *layout.Map {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	for i := range c.Shards {
		c.Shards[i].Replicas = slices.Clone(c.Shards[i].Replicas)
	}
	return &c
}

// leave moves all shards of a node to other nodes.
func (l load) leave(m *layout.Map, node string) error {
	for i := range m.Shards {
		s := &m.Shards[i]
		at := slices.Index(s.Replicas, node)
		if at < 0 {
			continue
		}
		to := l.least(append(slices.Clone(s.Replicas), node))
		if to == "" {
			return fmt.Errorf("no other node is left for shard %d of %s: start one and repeat the command, or let %s keep its shards with drain --undo", i, m.Name, node)
		}
		s.Replicas[at], l[to] = to, l[to]+s.Size()
	}
	return nil
}

// balance moves single shards from the fullest to the emptiest node, as long as it helps. Nodes
// that take no shards are left.
func (l load) balance(m *layout.Map) {
	for range len(m.Shards) * len(l) {
		best, gain := move{}, uint64(0)
		for i, s := range m.Shards {
			for r, from := range s.Replicas {
				to := l.least(s.Replicas)
				if to == "" || l[to]+s.Size() >= l[from] { // l[from] is 0 for a node that takes no shards
					continue
				}
				if g := min(s.Size(), l[from]-l[to]-s.Size()); g > gain {
					best, gain = move{i, r, to}, g
				}
			}
		}
		if gain == 0 {
			return
		}
		s := &m.Shards[best.shard]
		l[s.Replicas[best.replica]] -= s.Size()
		l[best.to] += s.Size()
		s.Replicas[best.replica] = best.to
	}
}

type move struct {
	shard, replica int
	to             string
}
