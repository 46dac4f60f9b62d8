// Package member runs the members of a cluster: a Node has shards, a Gateway answers the queries of a server from
// nodes, and Files are shards of a cluster without NATS.
package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster/fetch"
	"heddle/engine/cluster/node"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/store"
	"heddle/engine/cluster/store/bucket"
	"heddle/engine/cluster/transport"
	"heddle/engine/file/auxiliary"
)

// announceEvery is the time between two announcements of a node.
const announceEvery = time.Second

// Node serves the shards that the map of its cluster gives it. Other machines reach it over NATS and HTTP.
type Node struct {
	// Version of the program, which NATS has among the facts of the node. Default: empty, unknown.
	Version string

	config  *config.Config
	log     zerolog.Logger
	keeper  *store.Keeper
	metrics *prometheus.Registry
	lock    io.Closer
	web     *nodeWeb
}

// Events tell of the start of a node. The zero value is the default.
type Events struct {
	// Listening is called when the node answers calls. Default: nil, none.
	Listening func() error
	// Ready is called when the node has opened its shards. Default: nil, none.
	Ready func() error
}

// loader opens and closes shards on behalf of a store.Keeper.
type loader struct {
	*node.Node
	log zerolog.Logger
}

// Unload implements store.Loader.
func (l loader) Unload(name string, epoch uint64) {
	if err := l.Node.Unload(name, epoch); err != nil {
		l.log.Error().Err(err).Str("collection", name).Uint64("epoch", epoch).Msg("unload failed")
	}
}

// Drop implements store.Loader.
func (l loader) Drop(name string, epoch uint64, shard int) {
	if err := l.Node.Drop(name, epoch, shard); err != nil {
		l.log.Error().Err(err).Str("collection", name).Uint64("epoch", epoch).Int("shard", shard).Msg("close failed")
	}
}

// checkNode refuses settings that do not fit a node.
func checkNode(c *config.Config) error {
	v := c.Server
	switch {
	case c.Cluster.Servers == "":
		return errors.New("--node needs --cluster")
	case !isNATS(c.Cluster.Servers):
		return fmt.Errorf("--node needs --cluster nats://HOST:PORT, not %s: --shards serves to clusters without NATS", c.Cluster.Servers)
	case c.Cluster.Data == "":
		return errors.New("--node needs --data")
	case v.Indexes+v.Tables+v.Dev != "":
		return errors.New("--node excludes --index, --table and --dev: the map of the cluster gives the node its shards")
	case v.Admin+v.AdminCa != "":
		return errors.New("--node excludes --admin and --admin-ca: heddle cluster administers nodes")
	}
	return transport.CheckNode(c.Cluster.Node)
}

// OpenNode locks the folder of a node and opens its address: sections [cluster] and [server] of the configuration have
// the settings. The caller closes the node.
func OpenNode(ctx context.Context, c *config.Config, log zerolog.Logger) (*Node, error) {
	if err := checkNode(c); err != nil {
		return nil, invalid(err)
	}
	keeper, metrics, err := newKeeper(c, log)
	if err != nil {
		return nil, err
	}
	lock, err := auxiliary.Lock(filepath.Join(keeper.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("cluster.data %s: %w: each node needs a folder of its own", keeper.Dir, err)
	}
	web, err := openNodeWeb(ctx, c, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	keeper.URL = web.url
	return &Node{config: c, log: log, keeper: keeper, metrics: metrics, lock: lock, web: web}, nil
}

// At returns the URL of the node on this machine.
func (n *Node) At() string { return n.web.at() }

// Close closes the address and unlocks the folder.
func (n *Node) Close() error {
	err := n.web.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, n.lock.Close())
}

// Serve serves the shards on the processors of an engine until ctx ends, and then ends the running calls.
func (n *Node) Serve(ctx context.Context, e *engine.Engine, on Events) error {
	c, log, keeper, web := n.config, n.log, n.keeper, n.web
	shards := node.New(e)
	keeper.Loader = loader{shards, log}
	control, err := connectTo(c.Cluster, keeper.Known(), log)
	if err != nil {
		return err
	}
	defer control.Close()
	calls, err := connectTo(c.Cluster, keeper.Known(), log) // connection of the service alone
	if err != nil {
		return err
	}
	defer calls.Close()
	kv := bucket.New(control.Conn, c.Cluster.ControlReplicas)
	if !keeper.Known() { // the node can do nothing without the store
		if kv, err = bucket.Open(ctx, control.Conn, c.Cluster.ControlReplicas); err != nil {
			return unreachable(c.Cluster, err)
		}
	}
	keeper.KV = kv
	// Without NATS the check comes later, with the first map.
	if foreign, is := errors.AsType[*store.ForeignError](keeper.Belong(ctx)); is {
		return foreign
	}
	join := func(ctx context.Context) error { return kv.Join(ctx, c.Cluster.Node, keeper.Cluster) }
	joined := control.IsConnected()
	if joined {
		if err := join(ctx); err != nil {
			return err
		}
	}
	rpc := connect.NewServer(doubting(keeper))
	shard.Register(rpc, shards)
	serving, err := transport.Service{Node: c.Cluster.Node, Server: rpc, Version: n.Version}.Serve(calls)
	if err != nil {
		return err
	}
	web.use(rpc, keeper, n.metrics)
	failed := make(chan error, 4)
	go func() { failed <- web.serve() }()
	running, stop := context.WithCancel(ctx)
	defer stop()
	var tasks sync.WaitGroup
	tasks.Go(func() {
		if err := keeper.Run(running, kv.Watch(running)); running.Err() == nil {
			failed <- err
		}
	})
	tasks.Go(func() { web.follow(running) })
	tasks.Go(func() {
		if err := awaitReady(running, keeper, on.Ready); err != nil {
			failed <- err
		}
	})
	tasks.Go(func() {
		node.Announce(running, control, announceEvery, func() node.Announcement {
			return node.Announcement{Node: c.Cluster.Node, PID: os.Getpid(), HTTP: web.url, Running: serving.Running(), Shards: shards.Held()}
		})
	})
	if !joined {
		tasks.Go(func() {
			if err := joinLater(running, control, join); err != nil {
				failed <- err
			}
		})
	}
	if on.Listening != nil {
		err = on.Listening()
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	web.draining.Store(true)
	stop()
	tasks.Wait()
	control.Close() // the node gets no further shards
	last, over := context.WithTimeout(context.WithoutCancel(ctx), c.Server.Timeout)
	defer over()
	return errors.Join(err, drained(calls, serving.Stop(last)), web.server.Shutdown(last))
}

// joinLater joins when NATS answers. Only a name that another process has is an error.
func joinLater(ctx context.Context, conn *transport.Conn, join func(context.Context) error) error {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !conn.IsConnected() {
			continue
		}
		err := join(ctx)
		if _, taken := errors.AsType[*bucket.TakenError](err); taken || err == nil {
			return err
		}
	}
}

// awaitReady calls ready when the node has opened its shards.
func awaitReady(ctx context.Context, k *store.Keeper, ready func() error) error {
	if ready == nil {
		return nil
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for k.Ready() != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return ready()
}

// newKeeper returns the keeper of a node, without its store, its URL and its loader, and its metrics.
func newKeeper(c *config.Config, log zerolog.Logger) (*store.Keeper, *prometheus.Registry, error) {
	data, err := filepath.Abs(c.Cluster.Data)
	if err == nil {
		err = os.MkdirAll(data, 0o755)
	}
	if err != nil {
		return nil, nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.Protocols = nil, new(http.Protocols)
	t.Protocols.SetHTTP1(true) // which costs less than HTTP/2 for large files
	peers, err := identity(c.Cluster).Client(&http.Client{Transport: t})
	if err != nil {
		return nil, nil, err
	}
	metrics, damaged := nodeMetrics(log)
	return &store.Keeper{
		Node: c.Cluster.Node, Dir: data, Deadline: c.Server.Timeout, Peers: fetch.Client{HTTP: peers}, Verify: c.Cluster.Verify, Damaged: damaged,
		Log: func(err error) {
			if err != nil {
				log.Error().Err(err).Msg("the node does not follow the map: it tries again")
				return
			}
			log.Info().Msg("the node follows the map again")
		},
	}, metrics, nil
}

// drained leaves out the error of a drain without a connection: no call can come or be answered.
func drained(conn *transport.Conn, err error) error {
	if !conn.IsConnected() {
		return nil
	}
	return err
}
