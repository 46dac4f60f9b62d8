//go:build !core

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cluster/capacity"
	"heddle/engine/cmd/heddle/internal/report"
)

type clusterPlanOptions struct {
	flagsOnly
	in   capacity.Input
	json bool
}

func newClusterPlan(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "plan [flags]",
		Short: "Estimate the machines and the latency of a cluster",
		Long: `Plan computes the shards and machines that a collection and its load need, the latency of
queries, and the costs of the map, of a publish and of NATS. engine/cluster/PLAN.md explains
the model. Measure --doc-bytes and --cost with a sample of the collection: bytes of the index
file per document, and CPU time of a query per million documents.

Every query asks all shards. A machine has one shard. A load of 0.5 leaves the other half
for short peaks; "one failed" is the load of the other replicas after a machine failed.`,
		Example: `  heddle cluster plan --docs 50e9 --qps 100e3
  heddle cluster plan --docs 200e6 --qps 500 --cores 16 --memory 64e9 --batch 10`,
	}, &clusterPlanOptions{in: capacity.Default()})
}

func (o *clusterPlanOptions) AddFlags(fs *pflag.FlagSet) {
	number := func(p *float64, name, usage string) { fs.Float64Var(p, name, *p, usage) }
	number(&o.in.Docs, "docs", "`NUMBER` of documents")
	number(&o.in.QPS, "qps", "`NUMBER` of queries per second")
	number(&o.in.DocBytes, "doc-bytes", "`BYTES` of the index per document")
	number(&o.in.Cost, "cost", "`SECONDS` of a core for a query on a million documents")
	number(&o.in.Service, "service", "greatest time of a core for a query on a shard, `SECONDS`")
	number(&o.in.Sigma, "sigma", "spread of this time: standard deviation of its `LOGARITHM`")
	number(&o.in.Batch, "batch", "`NUMBER` of queries per request")
	fs.IntVar(&o.in.Cores, "cores", o.in.Cores, "`NUMBER` of cores of a machine")
	number(&o.in.Memory, "memory", "`BYTES` of memory of a machine")
	number(&o.in.MemoryShare, "memory-share", "`SHARE` of the memory for one generation of a shard; a publish loads a second one")
	number(&o.in.Bandwidth, "bandwidth", "network of a machine, `BYTES` per second")
	number(&o.in.Load, "load", "greatest `SHARE` of the time that cores are busy")
	fs.IntVar(&o.in.MinReplicas, "replicas", o.in.MinReplicas, "least `NUMBER` of replicas of a shard")
	number(&o.in.Slow, "slow", "`SHARE` of calls that are delayed, by pauses and losses")
	number(&o.in.Delay, "delay", "delay of these calls, `SECONDS`")
	number(&o.in.Network, "network", "round trip, `SECONDS`")
	number(&o.in.Messages, "messages", "`NUMBER` of messages per second of one NATS server")
	number(&o.in.Servers, "servers", "`NUMBER` of servers of a NATS cluster")
	number(&o.in.Nodes, "nodes", "greatest `NUMBER` of nodes of a NATS cluster")
	addJSON(fs, &o.json)
}

func (o *clusterPlanOptions) Run(_ context.Context, a *App) error {
	p, err := capacity.New(o.in)
	if err != nil {
		return usageError{err}
	}
	return a.print(report.Plan{Plan: p}, o.json)
}
