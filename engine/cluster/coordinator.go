// Package cluster answers queries from the shards of indexes and tables on many nodes. Its
// answers equal the answers of one index or table with all documents: the same documents, the
// same scores, the same order.
package cluster

import (
	"cmp"
	"sync"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/limit"
)

// Maps is the source of the maps of collections.
type Maps = coordinator.Maps

// Dialer returns the transport to a node.
type Dialer interface {
	Dial(node string) (connect.Transport, error)
}

// Options rule a coordinator. The zero value is the default.
type Options struct {
	// Second is the time before a second request, until the coordinator has measured the 95th
	// percentile of the shard. Default: 10 ms.
	Second time.Duration
	// SecondShare is the largest share of second requests among all calls. Default: 0.05.
	SecondShare float64
	// Silence is the time after which a node counts as silent: a second request goes elsewhere
	// whatever their share. Default: 500 ms.
	Silence time.Duration
	// Timeout of a query without a time-out of its own. Default: 30 s. Negative: none.
	Timeout time.Duration
	// Limits of the groups and values of an aggregation. Default: see engine.Limits.
	Limits engine.Limits
}

// Coordinator answers queries from shards. It implements server.Remote. It is safe for concurrent
// use. It keeps no connection of its own: the Dialer does.
type Coordinator struct {
	all *coordinator.Coordinator
	*network
	limits limit.Limits
}

// network is the nodes of a cluster. It implements coordinator.Shards.
type network struct {
	dial Dialer
	opt  Options

	mu     sync.Mutex
	nodes  map[string]*node
	recent map[string]*times // by collection
	credit float64           // second requests that the share allows now, guarded by mu
}

// times are the times of recent requests on a collection.
type times struct{ searches, terms, names, documents, facets, selections, aggregations, descriptions window }

// New returns a coordinator.
func New(maps Maps, dial Dialer, opt Options) *Coordinator {
	opt.Second = cmp.Or(opt.Second, 10*time.Millisecond)
	opt.SecondShare = cmp.Or(opt.SecondShare, 0.05)
	opt.Silence = cmp.Or(opt.Silence, 500*time.Millisecond)
	m := &network{dial: dial, opt: opt, nodes: map[string]*node{}, recent: map[string]*times{}, credit: mostCredit}
	limits := limit.Limits(opt.Limits)
	return &Coordinator{coordinator.New(maps, m, coordinator.Options{Timeout: opt.Timeout, Limits: limits}), m, limits}
}

// Within returns a coordinator of parts that this process holds: see coordinator.Within. It has no tables.
func Within(maps Maps, parts coordinator.Parts, opt Options) *Coordinator {
	limits := limit.Limits(opt.Limits)
	return &Coordinator{coordinator.Within(maps, parts, coordinator.Options{Timeout: opt.Timeout, Limits: limits}), nil, limits}
}

// timesOf returns the times of requests on a collection.
func (m *network) timesOf(collection string) *times {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.recent[collection]
	if t == nil {
		t = new(times)
		m.recent[collection] = t
	}
	return t
}

// node returns the client of a node.
func (m *network) node(name string) (*node, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.nodes[name]; n != nil {
		return n, nil
	}
	t, err := m.dial.Dial(name)
	if err != nil {
		return nil, &engine.Error{Code: engine.Unavailable, Op: "call", Device: name, Err: err}
	}
	n := &node{name: name, client: api.NewShardServiceClient(connect.NewClient(t))}
	m.nodes[name] = n
	return n, nil
}
