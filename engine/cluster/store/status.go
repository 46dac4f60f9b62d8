package store

import "context"

// Status is the state of a cluster.
type Status struct {
	Collections map[string]*State  `json:"collections"`
	Nodes       map[string]*Report `json:"nodes"`
	Alive       []string           `json:"alive"`
	Cluster     string             `json:"cluster,omitempty"` // identity; "" before the first publish
	Draining    []string           `json:"draining"`
}

// Status reads the state of the cluster.
func (o Operator) Status(ctx context.Context) (s *Status, err error) {
	s = new(Status)
	if s.Collections, err = readAll(ctx, o.KV); err != nil {
		return nil, err
	}
	if s.Nodes, err = Reports(ctx, o.KV); err != nil {
		return nil, err
	}
	if s.Alive, err = o.members(ctx); err != nil {
		return nil, err
	}
	if s.Cluster, err = storedID(ctx, o.KV); err != nil {
		return nil, err
	}
	s.Draining, err = list(ctx, o.KV, drainKey)
	return s, err
}
