package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/cluster"
	"heddle/engine/cluster/node"
	"heddle/engine/cluster/store"
	"heddle/engine/cluster/store/bucket"
	"heddle/engine/cluster/transport"
)

// clusterKeys are the flags of all programs of a cluster: the address of NATS, and their identity to them.
var clusterKeys = []string{"cluster", "cluster-nkey", "cluster-credentials", "cluster-ca", "cluster-cert", "cluster-key", "control-replicas"}

// connectCluster opens a connection to the NATS servers of the configuration. With wait, the servers
// may answer later.
func connectCluster(c config.Cluster, wait bool, log zerolog.Logger) (*transport.Conn, error) {
	conn, err := transport.Connect(c.Servers, transport.Options{
		Name: "heddle " + c.Node, NKey: c.Nkey, Credentials: c.Credentials, CA: c.Ca, Cert: c.Cert, Key: c.Key, Wait: wait,
		Lost: func(err error) {
			if err != nil {
				log.Warn().Err(err).Msg("no connection to NATS: the last map stays in force")
				return
			}
			log.Info().Msg("connected to NATS")
		},
		Refused: func(err error) { log.Error().Err(err).Msg("NATS refuses") },
	})
	if err != nil {
		return nil, unreachable(c, err)
	}
	return conn, nil
}

// unreachable names the NATS servers of a cluster in an error.
func unreachable(c config.Cluster, err error) error {
	return fmt.Errorf("NATS servers %s: %w", c.Servers, err)
}

// identity are the files by which a program of the cluster proves itself to nodes.
func identity(c config.Cluster) transport.Identity {
	i := transport.Identity{CA: c.Ca, Cert: c.Cert, Key: c.Key, Token: c.Token}
	if c.Trusted != "" {
		i.Trusted = strings.Split(c.Trusted, ",")
	}
	return i
}

// gateway answers the queries of a server from the nodes of a cluster.
type gateway struct {
	*cluster.Coordinator
	conn  *transport.Conn
	kv    *bucket.KV
	peers *node.Peers
	end   context.CancelFunc // ends the task that follows the maps
	ended chan struct{}
}

// followEvery is the time between two looks of a server at the maps.
const followEvery = time.Second

// dialCluster connects to the cluster of the configuration.
func dialCluster(ctx context.Context, c *config.Config, log zerolog.Logger) (g *gateway, err error) {
	client, err := identity(c.Cluster).Client(transport.NewClient())
	if err != nil {
		return nil, err
	}
	g = new(gateway)
	if g.conn, err = connectCluster(c.Cluster, false, log); transport.Unreachable(err) {
		g.conn, err = connectCluster(c.Cluster, true, log)
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
	g.Coordinator = cluster.New(maps, &transport.NATS{Conn: g.conn, HTTP: g.peers}, cluster.Options{Timeout: c.Server.Timeout})
	return g, nil
}

// learn adds the URLs of the nodes that the store knows. Announcements come within a second.
func (g *gateway) learn(ctx context.Context) error {
	reports, err := store.Reports(ctx, g.kv)
	for name, r := range reports {
		g.peers.Add(name, r.URL)
	}
	return err
}

// Close ends the connection.
func (g *gateway) Close() error {
	if g.end != nil {
		g.end()
		<-g.ended
	}
	err := g.peers.Close()
	g.conn.Close()
	return err
}
