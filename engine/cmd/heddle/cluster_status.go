//go:build !core

package main

import (
	"context"

	"github.com/spf13/cobra"

	"heddle/engine/cluster/store"
	"heddle/engine/cmd/heddle/internal/report"
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
		return a.print((*report.Cluster)(s), f.json)
	}})
}
