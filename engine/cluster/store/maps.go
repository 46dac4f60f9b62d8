package store

import (
	"context"
	"sync"

	"heddle/engine"
	"heddle/engine/cluster/layout"
)

// Maps gives a coordinator the maps of a store. It remembers them until Refresh.
type Maps struct {
	KV KV

	mu   sync.Mutex
	seen map[string]*layout.Map
}

// Map returns the map of a collection, which may be an old one.
func (m *Maps) Map(ctx context.Context, name string) (*layout.Map, error) {
	m.mu.Lock()
	found := m.seen[name]
	m.mu.Unlock()
	if found != nil {
		return found, nil
	}
	return m.Refresh(ctx, name)
}

// Names returns the names of all collections in the store.
func (m *Maps) Names(ctx context.Context) ([]string, error) {
	names, err := list(ctx, m.KV, mapKey)
	return names, unavailable(err)
}

// Refresh reads the map of a collection from the store. Epochs never go back.
func (m *Maps) Refresh(ctx context.Context, name string) (*layout.Map, error) {
	if CheckName(name) != nil {
		return nil, notFound(name)
	}
	s, _, err := get(ctx, m.KV, name)
	if err != nil {
		return nil, unavailable(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.seen[name]
	if old != nil && s.Epoch < old.Epoch {
		return old, nil
	}
	if s.Current == nil {
		delete(m.seen, name)
		return nil, notFound(name)
	}
	if m.seen == nil {
		m.seen = map[string]*layout.Map{}
	}
	m.seen[name] = s.Current
	return s.Current, nil
}

// unavailable gives an error of the store a code by which clients try again.
func unavailable(err error) error {
	if err == nil || engine.CodeOf(err) != engine.Internal {
		return err
	}
	return &engine.Error{Code: engine.NoDevice, Op: "map", Err: err}
}
