package member

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster/store"
	"heddle/engine/cluster/store/bucket"
	"heddle/engine/cluster/transport"
)

// isNATS reports whether a value of --cluster names servers of NATS, not a file.
func isNATS(cluster string) bool {
	return strings.HasPrefix(cluster, "nats://") || strings.HasPrefix(cluster, "tls://")
}

// connectTo opens a connection to the NATS servers of the configuration. With wait, the servers
// may answer later.
func connectTo(c config.Cluster, wait bool, log zerolog.Logger) (*transport.Conn, error) {
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

// Operate calls do with the store of the cluster of the configuration, whose servers must be of NATS.
func Operate(ctx context.Context, c config.Cluster, log zerolog.Logger, do func(store.Operator) error) error {
	if !isNATS(c.Servers) {
		return invalid(fmt.Errorf("--cluster %s: only a cluster with NATS changes: edit the file of any other cluster", c.Servers))
	}
	conn, err := connectTo(c, false, log)
	if err != nil {
		return err
	}
	defer conn.Close()
	kv, err := bucket.Open(ctx, conn.Conn, c.ControlReplicas)
	if err != nil {
		return unreachable(c, err)
	}
	return do(store.Operator{KV: kv})
}

// invalid returns the error of a setting.
func invalid(err error) error { return &engine.Error{Code: engine.InvalidOption, Err: err} }
