//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cluster/member"
	"heddle/engine/cluster/store"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/collection"
)

// clusterFlags are the flags of all commands that change a cluster.
type clusterFlags struct {
	settings
	timeout time.Duration
	json    bool
	args    []string
	wants   []string // the names of the arguments
}

func (f *clusterFlags) AddFlags(fs *pflag.FlagSet) {
	f.Add(fs, clusterKeys...)
	fs.DurationVar(&f.timeout, "timeout", 10*time.Minute, "wait at most this `DURATION`; the change goes on behind it")
	addJSON(fs, &f.json)
}

func (f *clusterFlags) Validate(args []string) error {
	if len(args) != len(f.wants) {
		return fmt.Errorf("takes %d arguments, %v, found %d", len(f.wants), f.wants, len(args))
	}
	if f.timeout <= 0 {
		return errors.New("--timeout must be positive")
	}
	f.args = args
	return nil
}

// with connects to the cluster for f.
func (f *clusterFlags) with(ctx context.Context, a *App, do func(context.Context, store.Operator) error) error {
	c, log, err := f.load(a)
	if err != nil {
		return err
	}
	if c.Cluster.Servers == "" {
		c.Cluster.Servers = "nats://127.0.0.1:4222"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not complete after %v; the nodes go on: see heddle cluster status", f.timeout))
	defer cancel()
	return member.Operate(ctx, c.Cluster, log, func(o store.Operator) error { return do(ctx, o) })
}

// await waits for an epoch and prints it.
func (f *clusterFlags) await(ctx context.Context, a *App, o store.Operator, name string, epoch uint64) error {
	if err := o.Wait(ctx, name, epoch); err != nil {
		return err
	}
	return a.print(&report.Epoch{Name: name, Epoch: epoch}, f.json)
}

// clusterChange is a command without flags of its own.
type clusterChange struct {
	clusterFlags
	run func(ctx context.Context, a *App, o store.Operator, f *clusterFlags) error
}

func (c *clusterChange) Run(ctx context.Context, a *App) error {
	return c.with(ctx, a, func(ctx context.Context, o store.Operator) error { return c.run(ctx, a, o, &c.clusterFlags) })
}

type clusterPublish struct {
	clusterFlags
	replicas int
	from     []string
}

func newClusterPublish(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "publish DIR [--replicas N] [flags]",
		Short: "Serve the shards of a folder in a cluster",
		Long: `Publish gives each shard of DIR/manifest.json to nodes of a cluster. The nodes copy the files,
check them and open them beside the shards that they serve. When all are ready, the map of
the cluster changes in one step. If a node fails, the old shards stay in service. Publish ends
when all servers of the cluster answer from the new shards, or names the servers that do not.

DIR may be a collection without deleted documents; its segments are then the shards. It must
not change meanwhile.

Nodes copy the files from each other, and from the addresses of --from: URLs of web servers,
or folders that the nodes can read. The default is DIR, as it is on this machine.

The nodes go on if publish ends early. The same command again waits for the same change.`,
		Example: `  heddle cluster split -o books --shards 4 books.hdl
  heddle cluster publish books --replicas 2
  heddle cluster publish books --from http://files.example/books --json`,
	}, &clusterPublish{clusterFlags: clusterFlags{wants: []string{"DIR"}}})
}

func (o *clusterPublish) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.replicas, "replicas", 2, "`NUMBER` of nodes with each shard")
	fs.StringArrayVar(&o.from, "from", nil, "copy from this `URL|DIR`; may be repeated")
	o.clusterFlags.AddFlags(fs)
}

func (o *clusterPublish) Run(ctx context.Context, a *App) error {
	m, err := collection.Shards(o.args[0])
	if err != nil {
		return err
	}
	if len(o.from) == 0 {
		at, err := filepath.Abs(o.args[0])
		if err != nil {
			return err
		}
		o.from = []string{at}
	}
	return o.with(ctx, a, func(ctx context.Context, op store.Operator) error {
		epoch, err := op.Publish(ctx, m, o.replicas, o.from...)
		if err != nil {
			return err
		}
		return o.await(ctx, a, op, m.Name, epoch)
	})
}

func newClusterMove(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "move NAME SHARD FROM TO [flags]",
		Short: "Move a shard from one node to another",
		Long: `Move gives a shard to another node. The node FROM serves it until the node TO is ready, and
for the longest deadline of a query after that.`,
		Example: `  heddle cluster move books 2 node1 node3`,
	}, &clusterChange{clusterFlags{wants: []string{"NAME", "SHARD", "FROM", "TO"}}, func(ctx context.Context, a *App, o store.Operator, f *clusterFlags) error {
		shard, err := strconv.Atoi(f.args[1])
		if err != nil {
			return usageError{fmt.Errorf("SHARD %q is no number", f.args[1])}
		}
		epoch, err := o.Move(ctx, f.args[0], shard, f.args[2], f.args[3])
		if err != nil {
			return err
		}
		return f.await(ctx, a, o, f.args[0], epoch)
	}})
}

func newClusterRebalance(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:     "rebalance NAME [flags]",
		Short:   "Even the bytes on the nodes",
		Long:    `Rebalance moves shards of a collection from full nodes to empty ones, as few as possible.`,
		Example: `  heddle cluster rebalance books`,
	}, &clusterChange{clusterFlags{wants: []string{"NAME"}}, func(ctx context.Context, a *App, o store.Operator, f *clusterFlags) error {
		epoch, err := o.Rebalance(ctx, f.args[0])
		if err != nil {
			return err
		}
		return f.await(ctx, a, o, f.args[0], epoch)
	}})
}

type clusterDrain struct {
	clusterFlags
	undo bool
}

func newClusterDrain(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "drain NODE [flags]",
		Short: "Move all shards away from a node",
		Long: `Drain moves the shards of a node to others, and gives it no new ones. The node may be stopped
when drain has ended and the longest deadline of a query has passed. --undo lets the node take
shards again.`,
		Example: `  heddle cluster drain node2
  heddle cluster drain node2 --undo`,
	}, &clusterDrain{clusterFlags: clusterFlags{wants: []string{"NODE"}}})
}

func (o *clusterDrain) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.undo, "undo", false, "let the node take shards again")
	o.clusterFlags.AddFlags(fs)
}

func (o *clusterDrain) Run(ctx context.Context, a *App) error {
	return o.with(ctx, a, func(ctx context.Context, op store.Operator) error {
		if o.undo {
			return op.Undrain(ctx, o.args[0])
		}
		for {
			left, err := op.Drain(ctx, o.args[0])
			if err != nil || len(left) == 0 {
				return err
			}
			for _, name := range left {
				s, err := op.Status(ctx)
				if err != nil {
					return err
				}
				if err := op.Wait(ctx, name, s.Collections[name].Epoch); err != nil {
					return err
				}
			}
		}
	})
}

type clusterRemove struct {
	clusterFlags
	pending bool
}

func newClusterRemove(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "remove NAME [flags]",
		Short: "End the service of an index or table",
		Long: `Remove takes a collection from the map of the cluster. Nodes delete its files after the longest
deadline of a query. --pending only ends the change under way, and the collection stays.`,
		Example: `  heddle cluster remove books
  heddle cluster remove books --pending`,
	}, &clusterRemove{clusterFlags: clusterFlags{wants: []string{"NAME"}}})
}

func (o *clusterRemove) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.pending, "pending", false, "only end the change under way")
	o.clusterFlags.AddFlags(fs)
}

func (o *clusterRemove) Run(ctx context.Context, a *App) error {
	return o.with(ctx, a, func(ctx context.Context, op store.Operator) error {
		if o.pending {
			return op.Cancel(ctx, o.args[0])
		}
		return op.Remove(ctx, o.args[0])
	})
}
