package cluster

import (
	"context"
	"time"

	"heddle/engine"
	"heddle/engine/internal/layout"
)

// Load is the load of a node as a coordinator sees it.
type Load struct {
	Running int64         // calls that wait for the node
	Recent  time.Duration // mean time of recent calls; 0 before the first
}

// Loads returns the loads of the nodes that the coordinator has called, by name.
func (c *Coordinator) Loads() map[string]Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]Load, len(c.nodes))
	for name, n := range c.nodes {
		all[name] = Load{n.running.Load(), time.Duration(n.recent.Load())}
	}
	return all
}

// Maps returns the maps of all collections in the order of their names.
func (c *Coordinator) Maps(ctx context.Context) (all []*layout.Map, err error) {
	names, err := c.maps.Names(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := c.maps.Map(ctx, name)
		if engine.CodeOf(err) == engine.NotFound { // removed in between
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
