//go:build !core

package main

import "github.com/spf13/cobra"

func newCluster(a *App) *cobra.Command {
	return group("cluster", "Divide an index or table between machines",
		`Cluster works on indexes and tables that are larger than one machine. A shard is a
complete file with a part of the documents or rows.`,
		newClusterSplit(a), newClusterPublish(a), newClusterStatus(a), newClusterMove(a),
		newClusterDrain(a), newClusterRemove(a), newClusterRebalance(a), newClusterPlan(a), newClusterDev(a))
}
