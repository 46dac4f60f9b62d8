//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/cluster/member"
	"heddle/engine/cmd/heddle/internal/daemon"
	"heddle/engine/cmd/heddle/internal/machine"
)

// clusterKeys are the flags of all programs of a cluster: the address of NATS, and their identity to them.
var clusterKeys = []string{"cluster", "cluster-nkey", "cluster-credentials", "cluster-ca", "cluster-cert", "cluster-key", "control-replicas"}

// serveNode serves the shards of a node until ctx ends.
func (o *serveOptions) serveNode(ctx context.Context, a *App, c *config.Config, log zerolog.Logger) (err error) {
	if len(o.indexes)+len(o.tables)+len(o.shards) > 0 {
		return usageError{errors.New("--node excludes --index, --table and --shards")}
	}
	opt, err := machine.Options(c, log)
	if err != nil {
		return err
	}
	n, err := member.OpenNode(ctx, c, log)
	if err != nil {
		return err
	}
	defer n.Close()
	n.Version = thisBuild().Version
	e, err := a.Engine(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return n.Serve(ctx, e, member.Events{
		Listening: func() error { _, err := fmt.Fprintf(a.Stdout, "listening on %s\n", n.At()); return err },
		Ready:     func() error { return daemon.Notify(a.Getenv("NOTIFY_SOCKET"), "READY=1") },
	})
}
