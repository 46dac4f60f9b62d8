package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/node"
	"heddle/engine/cluster/store"
	"heddle/engine/cluster/store/bucket"
	"heddle/engine/cluster/transport"
)

// Gateway answers the queries of a server from the nodes of a cluster. It implements server.Remote.
type Gateway struct {
	*cluster.Coordinator
	conn  *transport.Conn // nil, as all further fields: a file names the nodes
	kv    *bucket.KV
	peers *node.Peers
	end   context.CancelFunc // ends the task that follows the maps
	ended chan struct{}
}

// followEvery is the time between two looks of a server at the maps.
const followEvery = time.Second

// Dial connects to the cluster of the configuration: the NATS servers or the file that cluster.servers names. The
// caller closes the gateway.
func Dial(ctx context.Context, c *config.Config, log zerolog.Logger) (*Gateway, error) {
	if isNATS(c.Cluster.Servers) {
		return dialNATS(ctx, c, log)
	}
	return dialFile(c.Cluster, cluster.Options{Timeout: c.Server.Timeout, Limits: limits(c)})
}

// dialFile answers queries from the nodes that a file names.
func dialFile(c config.Cluster, opt cluster.Options) (*Gateway, error) {
	if strings.Contains(c.Servers, "://") {
		return nil, invalid(fmt.Errorf("--cluster %s: want nats://HOST:PORT, tls://HOST:PORT, or the file of a cluster", c.Servers))
	}
	s, err := cluster.Open(c.Servers)
	if err == nil {
		i := identity(c)
		i.Configured = true
		s.Client, err = i.Client(s.Client)
	}
	if err != nil {
		return nil, err
	}
	return &Gateway{Coordinator: cluster.New(s, s, opt)}, nil
}

// limits are the limits of the coordinator.
func limits(c *config.Config) engine.Limits { return engine.Limits{Expansions: c.Limits.Expansions} }

// dialNATS answers queries from the nodes that announce themselves over NATS.
func dialNATS(ctx context.Context, c *config.Config, log zerolog.Logger) (g *Gateway, err error) {
	client, err := identity(c.Cluster).Client(transport.NewClient())
	if err != nil {
		return nil, err
	}
	g = new(Gateway)
	if g.conn, err = connectTo(c.Cluster, false, log); transport.Unreachable(err) {
		g.conn, err = connectTo(c.Cluster, true, log)
	}
	if err != nil {
		return nil, err
	}
	g.kv = bucket.New(g.conn.Conn, c.Cluster.ControlReplicas)
	g.peers, err = node.Listen(g.conn, client, identity(c.Cluster).Accept, func(name string, err error) {
		log.Error().Err(err).Str("node", name).Msg("the URL of a node is refused: calls to the node go over NATS alone")
	})
	if err == nil && g.conn.IsConnected() {
		err = g.learn(ctx)
	}
	if err != nil {
		g.conn.Close()
		return nil, unreachable(c.Cluster, err)
	}
	maps := &store.Maps{KV: g.kv}
	if err := g.kv.Answer(maps.Served); err != nil {
		return nil, errors.Join(unreachable(c.Cluster, err), g.Close())
	}
	following, end := context.WithCancel(context.WithoutCancel(ctx)) // also while the server drains
	g.end, g.ended = end, make(chan struct{})
	go func() {
		defer close(g.ended)
		maps.Follow(following, followEvery)
	}()
	g.Coordinator = cluster.New(maps, &transport.NATS{Conn: g.conn, HTTP: g.peers}, cluster.Options{Timeout: c.Server.Timeout, Limits: limits(c)})
	return g, nil
}

// learn adds the URLs of the nodes that the store knows. Announcements come within a second.
func (g *Gateway) learn(ctx context.Context) error {
	reports, err := store.Reports(ctx, g.kv)
	for name, r := range reports {
		g.peers.Add(name, r.URL)
	}
	return err
}

// Operator changes the cluster, whose servers must be of NATS.
func (g *Gateway) Operator() store.Operator { return store.Operator{KV: g.kv} }

// Close ends the connection.
func (g *Gateway) Close() error {
	if g.conn == nil {
		return nil
	}
	if g.end != nil {
		g.end()
		<-g.ended
	}
	err := g.peers.Close()
	g.conn.Close()
	return err
}
