package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Errors of a KV.
var (
	ErrNotFound = errors.New("no such key")
	ErrConflict = errors.New("another process has changed the key")
)

// KV is a store of keys with compare-and-set.
type KV interface {
	// Get returns a value and its revision, or ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Put replaces the value of a revision; revision 0 creates the key. Otherwise it returns
	// ErrConflict and changes nothing.
	Put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Delete removes a key, if it is there.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys with a prefix.
	Keys(ctx context.Context, prefix string) ([]string, error)
	// Alive returns the nodes that answer now, each with the identity of its cluster, or "".
	Alive(ctx context.Context) (map[string]string, error)
	// Servers begins a conversation with all servers.
	Servers() (Servers, error)
	// Revision returns the revision of the newest change of any key.
	Revision(ctx context.Context) (uint64, error)
}

// Prefixes of keys.
const (
	mapKey   = "map."
	nodeKey  = "node."
	drainKey = "drain."
)

// Memory is a KV in memory. The zero value is ready.
type Memory struct {
	mu       sync.Mutex
	values   map[string]entry
	revision uint64
	// Nodes are the nodes that Alive returns, and Cluster their identities; nil is none.
	Nodes   []string
	Cluster func(node string) string
}

type entry struct {
	value    []byte
	revision uint64
}

// Get implements KV.
func (m *Memory) Get(_ context.Context, key string) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.values[key]
	if !ok {
		return nil, 0, ErrNotFound
	}
	return slices.Clone(e.value), e.revision, nil
}

// Put implements KV.
func (m *Memory) Put(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[key].revision != revision {
		return 0, ErrConflict
	}
	if m.values == nil {
		m.values = map[string]entry{}
	}
	m.revision++
	m.values[key] = entry{slices.Clone(value), m.revision}
	return m.revision, nil
}

// Delete implements KV.
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

// Keys implements KV.
func (m *Memory) Keys(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Sorted(maps.Keys(m.values))
	return slices.DeleteFunc(all, func(k string) bool { return !strings.HasPrefix(k, prefix) }), nil
}

// Alive implements KV.
func (m *Memory) Alive(context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, n := range m.Nodes {
		if all[n] = ""; m.Cluster != nil {
			all[n] = m.Cluster(n)
		}
	}
	return all, nil
}

// Servers implements KV: there are none.
func (m *Memory) Servers() (Servers, error) { return make(noServers, 1), nil }

// Revision implements KV.
func (m *Memory) Revision(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision, nil
}

// noServers is a conversation without servers: a question gets ErrNoServer.
type noServers chan struct{}

func (n noServers) Ask(context.Context, string) error {
	select {
	case n <- struct{}{}:
	default: // an answer waits
	}
	return nil
}

func (n noServers) Next(ctx context.Context) (Served, error) {
	select {
	case <-n:
		return Served{}, ErrNoServer
	case <-ctx.Done():
		return Served{}, ctx.Err()
	}
}

func (noServers) Close() {}

// get returns the state of a collection; an empty one with revision 0 if there is none.
func get(ctx context.Context, kv KV, name string) (*State, uint64, error) {
	data, revision, err := kv.Get(ctx, mapKey+name)
	if errors.Is(err, ErrNotFound) {
		return new(State), 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	s, err := decode(data)
	if err != nil {
		return nil, 0, fmt.Errorf("map of %s: %w", name, err)
	}
	return s, revision, nil
}

// put replaces the state of a collection, and returns its revision.
func put(ctx context.Context, kv KV, name string, s *State, revision uint64) (next uint64, err error) {
	if err := s.Validate(); err != nil {
		return 0, fmt.Errorf("map of %s: %w", name, err)
	}
	data, err := json.Marshal(s)
	if err == nil {
		next, err = kv.Put(ctx, mapKey+name, data, revision)
	}
	return next, err
}

// list returns the names after a prefix of keys.
func list(ctx context.Context, kv KV, prefix string) ([]string, error) {
	keys, err := kv.Keys(ctx, prefix)
	for i, k := range keys {
		keys[i] = strings.TrimPrefix(k, prefix)
	}
	return keys, err
}

// Reports returns the reports of all nodes.
func Reports(ctx context.Context, kv KV) (map[string]*Report, error) {
	nodes, err := list(ctx, kv, nodeKey)
	all := make(map[string]*Report, len(nodes))
	for _, node := range nodes {
		data, _, getErr := kv.Get(ctx, nodeKey+node)
		if errors.Is(getErr, ErrNotFound) {
			continue
		}
		r := new(Report)
		if err = errors.Join(err, getErr); err == nil {
			err = json.Unmarshal(data, r)
		}
		if err != nil {
			return nil, fmt.Errorf("report of node %s: %w", node, err)
		}
		all[node] = r
	}
	return all, err
}
