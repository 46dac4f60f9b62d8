package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/internal/layout"
)

// Maps gives a coordinator the maps of a store. It remembers them until Refresh or Follow reads newer
// ones. It is safe for concurrent use.
type Maps struct {
	KV KV

	mu   sync.Mutex
	seen map[string]known
}

// known is the newest state of a collection that Maps has read.
type known struct {
	layout          *layout.Map // nil: the collection has been removed
	epoch, revision uint64      // epoch of the map, and revision of the stored state
}

// follows reports whether a state is not older than another one. A store that has lost its data counts its
// revisions anew, but epochs never go back.
func (k known) follows(old known) bool {
	return k.epoch > old.epoch || k.epoch == old.epoch && k.revision >= old.revision
}

// Map returns the map of a collection, which may be an old one.
func (m *Maps) Map(ctx context.Context, name string) (*layout.Map, error) {
	m.mu.Lock()
	found := m.seen[name].layout
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
	now, err := m.read(ctx, name)
	if err == nil && now.layout == nil {
		err = notFound(name)
	}
	return now.layout, err
}

// read reads the state of a collection from the store, and returns the newest state.
func (m *Maps) read(ctx context.Context, name string) (known, error) {
	if CheckName(name) != nil {
		return known{}, nil
	}
	s, revision, err := get(ctx, m.KV, name)
	if err != nil {
		return known{}, unavailable(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, old := known{s.Current, s.Epoch, revision}, m.seen[name]
	if !now.follows(old) {
		return old, nil
	}
	if m.seen == nil {
		m.seen = map[string]known{}
	}
	if revision > 0 {
		m.seen[name] = now
	}
	return now, nil
}

// Served reads the state of a collection again, and returns its place: the answer to Servers.Ask, without
// the names of the server.
func (m *Maps) Served(ctx context.Context, name string) (s Served) {
	now, err := m.read(ctx, name)
	if err != nil {
		return Served{Error: err.Error()}
	}
	if s.Revision = now.revision; now.layout != nil {
		s.Epoch = now.layout.Epoch
	}
	return s
}

// Follow reads the maps again after a change of the store, at which it looks in each interval until ctx
// ends. Without the store the last maps stay in force.
func (m *Maps) Follow(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := uint64(0); ; {
		if now, err := m.KV.Revision(ctx); err == nil && now != last {
			m.mu.Lock()
			names := slices.Collect(maps.Keys(m.seen))
			m.mu.Unlock()
			last = now
			for _, name := range names {
				if _, err := m.read(ctx, name); err != nil {
					last = 0 // again
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// unavailable gives an error of the store a code by which clients try again.
func unavailable(err error) error {
	if err == nil || engine.CodeOf(err) != engine.Internal {
		return err
	}
	return &engine.Error{Code: engine.Unavailable, Op: "map", Err: err}
}
