// Package cluster answers queries from the shards of indexes and tables on many nodes. Its
// answers equal the answers of one index or table with all documents: the same documents, the
// same scores, the same order.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax"
)

// Maps is the source of the maps of collections.
type Maps interface {
	// Map returns the map of a collection. The error of an unknown name has code engine.NotFound.
	Map(ctx context.Context, name string) (*layout.Map, error)
	// Refresh bypasses caches, after a node has refused an epoch.
	Refresh(ctx context.Context, name string) (*layout.Map, error)
	// Names returns the names of all collections.
	Names(ctx context.Context) ([]string, error)
}

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
	maps    Maps
	dial    Dialer
	service api.ShardServiceClient // the service of this process, which has all shards; nil: nodes have them
	opt     Options

	mu          sync.Mutex
	nodes       map[string]*node
	collections map[string]*collection
	credit      float64 // second requests that the share allows now, guarded by mu
}

// New returns a coordinator.
func New(maps Maps, dial Dialer, opt Options) *Coordinator {
	opt.Second = cmp.Or(opt.Second, 10*time.Millisecond)
	opt.SecondShare = cmp.Or(opt.SecondShare, 0.05)
	opt.Silence = cmp.Or(opt.Silence, 500*time.Millisecond)
	opt.Timeout = cmp.Or(opt.Timeout, 30*time.Second)
	return &Coordinator{maps: maps, dial: dial, opt: opt, nodes: map[string]*node{}, collections: map[string]*collection{}, credit: mostCredit}
}

// collection is an epoch of an index or table, with the facts that hold as long as the epoch.
type collection struct {
	layout *layout.Map
	terms  terms    // statistics of terms in all shards together
	shards []*terms // statistics of terms in each shard that has answered alone; epochs share them
	times  struct{ searches, terms, names, facets, selections, aggregations, descriptions window }
}

// collection returns the collection of a map.
func (c *Coordinator) collection(m *layout.Map) *collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.collections[m.Name]
	if x == nil || x.layout.Epoch != m.Epoch {
		old := x
		x = &collection{layout: m}
		share(x, old)
		c.collections[m.Name] = x
	}
	return x
}

// node returns the client of a node.
func (c *Coordinator) node(name string) (*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[name]; n != nil {
		return n, nil
	}
	t, err := c.dial.Dial(name)
	if err != nil {
		return nil, &engine.Error{Code: engine.NoDevice, Op: "call", Device: name, Err: err}
	}
	n := &node{name: name, client: api.NewShardServiceClient(connect.NewClient(t))}
	c.nodes[name] = n
	return n, nil
}

// attempts of a query, each with the map of that time.
const attempts = 3

// run calls f with the collection of a name, and again with a newer map while nodes refuse the
// epoch. All parts of an answer so belong to one epoch.
func (c *Coordinator) run(ctx context.Context, name string, kind layout.Kind, f func(context.Context, *collection) error) error {
	m, err := c.maps.Map(ctx, name)
	for try := 1; ; try++ {
		if err == nil && m.Kind != kind || engine.CodeOf(err) == engine.NotFound {
			err = &engine.Error{Code: engine.NotFound, Op: "find " + string(kind), Err: fmt.Errorf("no %s is named %s", kind, syntax.Quote(name))}
		}
		if err != nil {
			return err
		}
		if err = f(ctx, c.collection(m)); !errors.Is(err, errEpoch) {
			return err
		}
		if try == attempts { // the map and the nodes still differ
			return &engine.Error{Code: engine.NoDevice, Op: "call", Err: err}
		}
		m, err = c.maps.Refresh(ctx, name)
	}
}
