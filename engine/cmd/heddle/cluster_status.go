package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/engine/cluster/store"
	"heddle/engine/cmd/heddle/internal/terminal"
)

func newClusterStatus(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "status [flags]",
		Short: "Show the maps, changes and nodes of a cluster",
		Long: `Status prints the shards of each collection with their nodes, the change under way, the reason
of the last failure, and the nodes with their errors and their damaged files.`,
		Example: `  heddle cluster status
  heddle cluster status --json`,
	}, &clusterChange{run: func(ctx context.Context, a *App, o store.Operator, f *clusterFlags) error {
		s, err := o.Status(ctx)
		if err != nil {
			return err
		}
		return a.print((*clusterState)(s), f.json)
	}})
}

// changed is the outcome of a change.
type changed struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
}

func (c *changed) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: epoch %d\n", c.Name, c.Epoch)
	return err
}

// clusterState prints a cluster as text.
type clusterState store.Status

func (s *clusterState) Write(w io.Writer) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Collections)) {
		c := s.Collections[name]
		if c.Current != nil {
			fmt.Fprintf(&b, "%s  %s, epoch %d, %d documents\n", name, c.Current.Kind, c.Current.Epoch, c.Current.Docs)
			for i, shard := range c.Current.Shards {
				fmt.Fprintf(&b, "  shard %d  %s  %s\n", i, terminal.Bytes(shard.Size()), strings.Join(shard.Replicas, " "))
			}
		}
		if c.Intent != nil {
			fmt.Fprintf(&b, "%s  %s of epoch %d is under way\n", name, c.Intent.Verb, c.Intent.Target.Epoch)
		}
		if c.Failure != "" {
			fmt.Fprintf(&b, "%s  the last change failed: %s\n", name, c.Failure)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		n, state := s.Nodes[name], "answers"
		if !slices.Contains(s.Alive, name) {
			state = "does not answer"
		}
		if slices.Contains(s.Draining, name) {
			state += ", drains"
		}
		fmt.Fprintf(&b, "node %s  %s, %d shards open, %s free\n", name, state, len(n.Loaded), terminal.Bytes(n.Free))
		for _, f := range n.Failed {
			fmt.Fprintf(&b, "  %s, epoch %d, shard %d: %s\n", f.Name, f.Epoch, f.Shard, f.Error)
		}
		for _, d := range n.Damaged {
			state := "is damaged"
			if d.Healed {
				state = "was damaged and is healed"
			}
			fmt.Fprintf(&b, "  %s %s: %s\n", d.File, state, d.Error)
		}
	}
	if b.Len() == 0 {
		b.WriteString("no collections and no nodes\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
