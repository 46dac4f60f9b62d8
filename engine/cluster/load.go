package cluster

import (
	"context"
	"time"

	"heddle/engine/internal/layout"
)

// Load is the load of a node as a coordinator sees it.
type Load struct {
	Running int64         // calls that wait for the node
	Recent  time.Duration // mean time of recent calls; 0 before the first
}

// Loads returns the loads of the nodes that the coordinator has called, by name.
func (m *network) Loads() map[string]Load {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]Load, len(m.nodes))
	for name, n := range m.nodes {
		all[name] = Load{n.running.Load(), time.Duration(n.recent.Load())}
	}
	return all
}

// Maps returns the maps of all collections in the order of their names.
func (c *Coordinator) Maps(ctx context.Context) ([]*layout.Map, error) { return c.all.Layouts(ctx) }
