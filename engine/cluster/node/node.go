// Package node holds the open shards of a node of a cluster, and announces them over NATS.
package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/transport"
)

// Held names a shard that is open.
type Held struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
	Shard int    `json:"shard"`
}

// Node holds open shards. It implements shard.Shards. It is safe for concurrent use.
type Node struct {
	engine *engine.Engine
	mu     sync.Mutex
	all    map[Held]*open
}

// open is a shard with its users. It has an index, which may have a table of attributes, or a table.
type open struct {
	index *engine.Index
	table *engine.Table
	users int
	gone  bool // no user may come; the last one closes it
}

// New returns a node without shards.
func New(e *engine.Engine) *Node { return &Node{engine: e, all: map[Held]*open{}} }

// Load opens the file of a shard, an index (.hdl) or a table (.hdb), beside other epochs, and the
// attribute table of an index, unless its path is empty. A shard that is open stays.
func (n *Node) Load(ctx context.Context, name string, epoch uint64, number int, path, attributes string) (err error) {
	k, x := Held{name, epoch, number}, new(open)
	n.mu.Lock()
	_, ok := n.all[k]
	n.mu.Unlock()
	if ok {
		return nil
	}
	switch filepath.Ext(path) {
	case ".hdl":
		x.index, err = n.engine.OpenIndex(ctx, path, engine.IndexOptions{})
	case ".hdb":
		x.table, err = n.engine.OpenTable(ctx, path, engine.TableOptions{})
	default:
		err = &engine.Error{Code: engine.InvalidOption, Op: "load shard", Err: fmt.Errorf("%s: want a file .hdl or .hdb", path)}
	}
	if err == nil && attributes != "" {
		if x.table, err = n.engine.OpenTable(ctx, attributes, engine.TableOptions{}); err != nil {
			err = errors.Join(err, x.close())
		}
	}
	if err != nil {
		return fmt.Errorf("shard %d of %s, epoch %d: %w", number, name, epoch, err)
	}
	n.mu.Lock()
	if _, ok = n.all[k]; !ok {
		n.all[k] = x
	}
	n.mu.Unlock()
	if ok { // another Load has opened it at the same time
		return x.close()
	}
	return nil
}

// Unload refuses further requests for an epoch, and closes its shards after their last use.
func (n *Node) Unload(name string, epoch uint64) error {
	return n.remove(func(k Held) bool { return k.Name == name && k.Epoch == epoch })
}

// Drop refuses further requests for a shard, and closes it after its last use.
func (n *Node) Drop(name string, epoch uint64, number int) error {
	return n.remove(func(k Held) bool { return k == Held{name, epoch, number} })
}

// remove takes shards out of service.
func (n *Node) remove(which func(Held) bool) error {
	n.mu.Lock()
	var unused []*open
	for k, x := range n.all {
		if which(k) {
			delete(n.all, k)
			x.gone = true
			if x.users == 0 {
				unused = append(unused, x)
			}
		}
	}
	n.mu.Unlock()
	var err error
	for _, x := range unused {
		err = errors.Join(err, x.close())
	}
	return err
}

func (x *open) close() (err error) {
	if x.index != nil {
		err = x.index.Close()
	}
	if x.table != nil {
		err = errors.Join(err, x.table.Close())
	}
	return err
}

// OpenIndex implements shard.Shards.
func (n *Node) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	x, release, err := n.use(Held{name, epoch, number}, func(x *open) bool { return x.index != nil })
	if err != nil {
		return nil, nil, err
	}
	return &shard.Index{Index: x.index, Attributes: x.table}, release, nil
}

// OpenTable implements shard.Shards.
func (n *Node) OpenTable(name string, epoch uint64, number int) (*engine.Table, func(), error) {
	x, release, err := n.use(Held{name, epoch, number}, func(x *open) bool { return x.index == nil })
	if err != nil {
		return nil, nil, err
	}
	return x.table, release, nil
}

func (n *Node) use(k Held, fits func(*open) bool) (*open, func(), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.all[k]
	if x == nil || !fits(x) {
		return nil, nil, fmt.Errorf("shard %d of %s, epoch %d: %w", k.Shard, k.Name, k.Epoch, shard.ErrEpoch)
	}
	x.users++
	return x, func() {
		n.mu.Lock()
		x.users--
		last := x.gone && x.users == 0
		n.mu.Unlock()
		if last {
			_ = x.close() // the shard has no user who could act on the error
		}
	}, nil
}

// Held returns the open shards by name, epoch and number.
func (n *Node) Held() (all []Held) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for k := range n.all {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Shard, b.Shard))
	})
	return all
}

// Announcement is the state of a node, as JSON on subject heddle.announce.NAME.
type Announcement struct {
	Node string `json:"node"`
	PID  int    `json:"pid"`
	// HTTP is the base URL of the node; empty without HTTP.
	HTTP string `json:"http,omitempty"`
	// Running is the number of calls over NATS in progress.
	Running int    `json:"running"`
	Shards  []Held `json:"shards"`
}

// Announce publishes the state of a node at once and after each interval, until ctx ends. It skips
// the times without a connection.
func Announce(ctx context.Context, conn *transport.Conn, every time.Duration, now func() Announcement) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		a := now()
		text, err := json.Marshal(a)
		if err != nil {
			panic(err) // strings and numbers always succeed
		}
		_ = conn.Publish("heddle.announce."+a.Node, text) // the next one follows
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
