package shard

import (
	"sync"

	"heddle/engine"
	"heddle/engine/api"
)

// Memory holds open shards by name, epoch and number. The caller closes indexes and tables after
// their last use. The zero value is empty. It is safe for concurrent use.
type Memory struct {
	mu      sync.RWMutex
	indexes map[key]*engine.Index
	tables  map[key]*engine.Table
	// attributes are the attribute tables of indexes.
	attributes map[key]*engine.Table
}

type key struct {
	name  string
	epoch uint64
	shard int
}

// AddIndex adds a shard of an index.
func (m *Memory) AddIndex(name string, epoch uint64, shard int, x *engine.Index) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.indexes == nil {
		m.indexes = map[key]*engine.Index{}
	}
	m.indexes[key{name, epoch, shard}] = x
}

// AddAttributes adds the attribute table of a shard of an index.
func (m *Memory) AddAttributes(name string, epoch uint64, shard int, t *engine.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.attributes == nil {
		m.attributes = map[key]*engine.Table{}
	}
	m.attributes[key{name, epoch, shard}] = t
}

// AddTable adds a shard of a table.
func (m *Memory) AddTable(name string, epoch uint64, shard int, t *engine.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tables == nil {
		m.tables = map[key]*engine.Table{}
	}
	m.tables[key{name, epoch, shard}] = t
}

// Remove refuses further requests for a shard.
func (m *Memory) Remove(name string, epoch uint64, shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.indexes, key{name, epoch, shard})
	delete(m.tables, key{name, epoch, shard})
	delete(m.attributes, key{name, epoch, shard})
}

// OpenIndex implements Shards.
func (m *Memory) OpenIndex(name string, epoch uint64, shard int) (*Index, func(), error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	x, release, err := find(m.indexes, key{name, epoch, shard})
	return &Index{Index: x, Attributes: m.attributes[key{name, epoch, shard}]}, release, err
}

// OpenTable implements Shards.
func (m *Memory) OpenTable(name string, epoch uint64, shard int) (*engine.Table, func(), error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return find(m.tables, key{name, epoch, shard})
}

func find[T any](all map[key]*T, k key) (*T, func(), error) {
	x, ok := all[k]
	if !ok {
		return nil, nil, missing(&api.ShardTarget{Collection: k.name, Epoch: k.epoch, Shard: uint32(k.shard)})
	}
	return x, func() {}, nil
}
