//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cluster/member"
	"heddle/engine/cluster/split"
	"heddle/engine/cluster/store"
	"heddle/engine/cmd/heddle/internal/control"
	"heddle/engine/cmd/heddle/internal/daemon"
	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/nodes"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/scratch"
	"heddle/engine/server"
)

type clusterDevOptions struct {
	settings
	nodes, replicas, shards int
	noProgress              bool
	paths                   map[string]string // by collection
	order                   []string          // names of the collections in their order
}

func newClusterDev(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "dev [--nodes N] [--replicas N] [--shards N] [flags] X.hdl|X.hdb…",
		Short: "Run a cluster on this machine",
		Long: `Dev starts a control node (NATS with JetStream) and processes of heddle serve --cluster, cuts
each file into shards, gives each shard to nodes, and serves the routes of heddle serve from
them. A file has its base name as its name. Dev prints a line "node NAME pid N" for each node,
"control on nats://ADDRESS" for the commands of heddle cluster, and in the end "listening on
http://ADDRESS".

Queries go on while each shard has a node. Try it: kill -9 the process of a node. Dev reports
the end of a node, and does not start it again.

Shards and their copies are in a temporary folder (variable TMPDIR), which dev deletes in the
end. The nodes end with dev; on Linux also if dev ends by kill -9.`,
		Example: `  heddle cluster dev --nodes 3 --replicas 2 --shards 4 books.hdl
  heddle cluster dev --listen 127.0.0.1:0 books.hdl prices.hdb`,
	}, &clusterDevOptions{})
}

func (o *clusterDevOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.nodes, "nodes", 3, "`NUMBER` of processes that hold shards, 1 to 64")
	fs.IntVar(&o.replicas, "replicas", 2, "`NUMBER` of nodes with each shard, at most --nodes")
	fs.IntVar(&o.shards, "shards", 4, "`NUMBER` of shards of each file, 1 to 1024")
	o.Add(fs, "listen", "admin", "tokens", "cert", "key", "client-ca", "admin-ca", "insecure", "timeout", "drain-delay", "backend", "device", "threads")
	addNoProgress(fs, &o.noProgress)
}

func (o *clusterDevOptions) Validate(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("index or table file is missing")
	case o.nodes < 1 || o.nodes > 64:
		return fmt.Errorf("--nodes is %d; possible are 1 to 64", o.nodes)
	case o.replicas < 1 || o.replicas > o.nodes:
		return fmt.Errorf("--replicas is %d; possible are 1 to %d, the number of nodes", o.replicas, o.nodes)
	case o.shards < 1 || o.shards > 1024:
		return fmt.Errorf("--shards is %d; possible are 1 to 1024", o.shards)
	}
	o.paths = map[string]string{}
	for _, path := range args {
		base := filepath.Base(path)
		name := strings.TrimSuffix(base, filepath.Ext(base))
		if err := addFile(o.paths, name+"="+path); err != nil {
			return err
		}
		if err := store.CheckName(name); err != nil {
			return err
		}
		o.order = append(o.order, name)
	}
	return nil
}

func (o *clusterDevOptions) Run(ctx context.Context, a *App) (err error) {
	defer memlimit.Idle()()
	read := daemon.Look(o.sources(a))
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	defer zerolog.SetGlobalLevel(zerolog.GlobalLevel())
	daemon.SetLevel(c.Log)
	log = log.Level(zerolog.TraceLevel)
	if c.Cluster.Servers+c.Cluster.Node != "" {
		return usageError{errors.New("cluster dev has a cluster of its own: take cluster.servers and cluster.node from the configuration")}
	}
	rules, seen, err := readSynonyms(c)
	if err != nil {
		return usageError{fmt.Errorf("server.synonyms: %w", err)}
	}
	for name := range rules {
		if o.paths[name] == "" {
			return usageError{fmt.Errorf("server.synonyms: no index is named %s", name)}
		}
	}
	work := o.daemon(a, c, log, read)
	work.Synonyms, work.SynonymsRead = readSynonyms, seen
	d, err := daemon.New(ctx, work)
	if err != nil {
		return err
	}
	serving := false
	defer func() {
		if !serving {
			err = errors.Join(err, d.Discard())
		}
	}()
	dir, err := os.MkdirTemp("", "heddle-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.RemoveAll(dir)) }()
	ctl, err := control.Start(filepath.Join(dir, "control"))
	if err != nil {
		return fmt.Errorf("control node: %w", err)
	}
	defer ctl.Stop()
	here := *c
	here.Cluster.Servers = ctl.ClientURL()
	g, err := member.Dial(ctx, &here, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	// The system ends the children with the thread that has started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kids, err := nodes.Start(ctx, a.Environ, a.Stderr, &here, dir, o.nodes, log)
	defer kids.Stop()
	if err != nil {
		return err
	}
	for _, name := range o.order {
		if err := o.publish(ctx, a, g, name, filepath.Join(dir, "shards-"+name)); err != nil {
			return err
		}
	}
	if err := kids.Print(a.Stdout, ctl.ClientURL()); err != nil {
		return err
	}
	opt := server.OptionsOf(&c.Server, log)
	opt.Remote, opt.Cluster, opt.Synonyms = g, g.Describe, rules
	serving = true
	return d.Run(ctx, opt)
}

// publish cuts a file into shards and waits until the nodes serve them.
func (o *clusterDevOptions) publish(ctx context.Context, a *App, g *member.Gateway, name, dir string) error {
	var bar terminal.Progress
	started := false
	m, err := split.File(ctx, o.paths[name], dir, split.Options{Shards: o.shards, Progress: func(done, total uint64) {
		if !started {
			started, bar = true, a.progress("splitting", terminal.UnitValues, int64(total), o.noProgress)
		}
		bar.To(int64(done))
	}})
	bar.End()
	if err != nil {
		return err
	}
	m.Name = name
	op := g.Operator()
	for alive, patience := map[string]string(nil), time.Now().Add(time.Minute); len(alive) != o.nodes; {
		if alive, err = op.KV.Alive(ctx); err != nil { // without the nodes whose answers are late
			return err
		}
		if time.Now().After(patience) {
			return fmt.Errorf("only %v of %d nodes answer", slices.Sorted(maps.Keys(alive)), o.nodes)
		}
	}
	epoch, err := op.Publish(ctx, m, o.replicas, dir)
	if err != nil {
		return err
	}
	return op.Wait(ctx, name, epoch)
}
