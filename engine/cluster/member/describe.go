package member

import (
	"context"
	"maps"
	"slices"

	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/cluster/store"
	"heddle/engine/internal/layout"
)

// Describe describes the cluster as its maps, its nodes and the calls of this server show it.
func (g *Gateway) Describe(ctx context.Context) (*api.Cluster, error) {
	if g.conn == nil {
		return g.mapsOnly(ctx)
	}
	s, err := store.Operator{KV: g.kv}.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.Cluster{Present: true}
	for _, name := range slices.Sorted(maps.Keys(s.Collections)) {
		out.Collections = append(out.Collections, collectionOf(name, s))
	}
	loads := g.Loads()
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		r := s.Nodes[name]
		n := nodeOf(name, loads[name])
		n.Alive, n.Draining, n.Free, n.Shards = slices.Contains(s.Alive, name), slices.Contains(s.Draining, name), r.Free, uint32(len(r.Loaded))
		for _, f := range r.Failed {
			n.Errors = append(n.Errors, f.Name+": "+f.Error)
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}

// collectionOf describes a collection with the epochs that its nodes have open.
func collectionOf(name string, s *store.Status) *api.Collection {
	state := s.Collections[name]
	c := &api.Collection{Name: name, Failure: state.Failure}
	if m := state.Current; m != nil {
		addMap(c, m, func(shard int, node string) *api.Replica { return replicaOf(s.Nodes[node], m, shard, node) })
	}
	if i := state.Intent; i != nil {
		c.Intent = &api.Intent{Verb: i.Verb, Epoch: i.Target.Epoch}
		for shard, x := range i.Target.Shards {
			for _, node := range x.Replicas {
				c.Intent.Total++
				if r := replicaOf(s.Nodes[node], i.Target, shard, node); r.Epoch == i.Target.Epoch {
					c.Intent.Ready++
				}
			}
		}
	}
	return c
}

// replicaOf returns the newest epoch of a shard that a node has open, up to the epoch of the map.
func replicaOf(r *store.Report, m *layout.Map, shard int, node string) *api.Replica {
	out := &api.Replica{Node: node}
	if r == nil {
		return out
	}
	for _, p := range r.Loaded {
		if p.Name == m.Name && p.Shard == shard && p.Epoch <= m.Epoch {
			out.Epoch = max(out.Epoch, p.Epoch)
		}
	}
	if out.Epoch > 0 {
		out.Lag = m.Epoch - out.Epoch
	}
	for _, f := range r.Failed {
		if f.Name == m.Name && f.Shard == shard && f.Epoch == m.Epoch {
			out.Error = f.Error
		}
	}
	return out
}

func addMap(c *api.Collection, m *layout.Map, replica func(shard int, node string) *api.Replica) {
	c.Kind, c.Epoch, c.Documents = string(m.Kind), m.Epoch, m.Docs
	for i, x := range m.Shards {
		shard := &api.Shard{Documents: x.Docs, Bytes: x.Size()}
		for _, node := range x.Replicas {
			shard.Replicas = append(shard.Replicas, replica(i, node))
		}
		c.Shards = append(c.Shards, shard)
	}
}

func nodeOf(name string, l cluster.Load) *api.ClusterNode {
	return &api.ClusterNode{Name: name, Running: uint64(l.Running), LatencyMs: float64(l.Recent.Nanoseconds()) / 1e6}
}

// mapsOnly describes a cluster without NATS: the maps of its file. Every replica counts as open, and
// every node as alive, because nodes report nothing there.
func (g *Gateway) mapsOnly(ctx context.Context) (*api.Cluster, error) {
	all, err := g.Maps(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.Cluster{Present: true}
	shards, loads := map[string]uint32{}, g.Loads()
	for _, m := range all {
		c := &api.Collection{Name: m.Name}
		addMap(c, m, func(_ int, node string) *api.Replica {
			shards[node]++
			return &api.Replica{Node: node, Epoch: m.Epoch}
		})
		out.Collections = append(out.Collections, c)
	}
	for _, name := range slices.Sorted(maps.Keys(shards)) {
		n := nodeOf(name, loads[name])
		n.Alive, n.Shards = true, shards[name]
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}
