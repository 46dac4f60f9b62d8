// Package capacity models a cluster: its shards, machines and memory, the latency of queries that
// ask every shard, the cost of its map and of a publish, and the load on NATS. PLAN.md explains the
// model and compares it with a simulation (package simulate) and with measurements.
package capacity

import (
	"fmt"
	"math"
)

// Input describes the collection, the load and the machines. Times are in seconds, sizes in bytes.
type Input struct {
	Docs        float64 `json:"docs"`
	DocBytes    float64 `json:"doc_bytes"`    // bytes of an index for each document
	QPS         float64 `json:"qps"`          // queries per second
	Cost        float64 `json:"cost"`         // time of a core for a query on a million documents
	Sigma       float64 `json:"sigma"`        // see Call
	Cores       int     `json:"cores"`        // cores of a machine
	Memory      float64 `json:"memory"`       // memory of a machine, in bytes
	MemoryShare float64 `json:"memory_share"` // part of the memory that one generation of a shard may take, 0 to 1
	Bandwidth   float64 `json:"bandwidth"`    // network bandwidth of a machine, in bytes per second
	Load        float64 `json:"load"`         // greatest share of the time that cores are busy
	MinReplicas int     `json:"min_replicas"`
	Service     float64 `json:"service"` // greatest time of a core for a query on a shard
	Batch       float64 `json:"batch"`   // queries per request
	Slow        float64 `json:"slow"`    // see Call
	Delay       float64 `json:"delay"`
	Network     float64 `json:"network"`
	Messages    float64 `json:"messages"` // per second, of one NATS server
	Servers     float64 `json:"servers"`  // servers of a NATS cluster
	Nodes       float64 `json:"nodes"`    // nodes of one NATS cluster
}

// Default is a collection of web pages on machines of 64 cores and 512 GiB.
func Default() Input {
	return Input{
		Docs: 1e9, DocBytes: 500, QPS: 1000, Cost: 200e-6, Sigma: 0.4, Cores: 64, Memory: 512 << 30, MemoryShare: 0.4,
		Bandwidth: 2.5e9, Load: 0.5, MinReplicas: 2, Service: 0.02, Batch: 1, Slow: 0.001, Delay: 0.1, Network: 200e-6,
		Messages: 1e6, Servers: 3, Nodes: 1000,
	}
}

// The cost of a call to a machine beside its work, over all processes: of a request, and of a query
// in it. Both follow from measurements: eight queries at a time take 0.9 ms each for requests to three
// processes, and queries in batches of 1,000 take 30 µs each for eight shards.
const (
	requestCost = 300e-6
	queryCost   = 3.8e-6
)

// Sizes of a map: JSON of the whole, of a shard, and of the name of a replica.
const (
	mapBytes     = 150
	shardBytes   = 190
	replicaBytes = 20
	maxMessage   = 1 << 20 // greatest size of a message of NATS, in bytes
)

// MaxShardDocs is the greatest number of documents of a shard.
const MaxShardDocs = math.MaxUint32

// Plan is the cluster that an Input needs.
type Plan struct {
	Shards    float64 `json:"shards"`
	Reason    string  `json:"reason"` // reason for the number of shards
	ShardDocs float64 `json:"shard_docs"`
	ShardSize float64 `json:"shard_bytes"`
	Replicas  float64 `json:"replicas"` // replicas of each shard, each on a machine of its own
	Machines  float64 `json:"machines"`
	Load      float64 `json:"load"`       // share of the time that cores are busy
	QueryCost float64 `json:"query_cost"` // time of cores for a query, over all machines
	CallShare float64 `json:"call_share"` // fraction of QueryCost that calls take, 0 to 1

	CallP50       float64 `json:"call_p50"`
	P50           float64 `json:"p50"` // median latency of queries, in seconds
	P99           float64 `json:"p99"`
	Second        float64 `json:"second"` // time until a second request
	P50Second     float64 `json:"p50_second"`
	P99Second     float64 `json:"p99_second"`
	LoadOneFailed float64 `json:"load_one_failed"` // load of the other replicas of a shard after the failure of one machine

	MapBytes    float64 `json:"map_bytes"`
	MapKeys     float64 `json:"map_keys"`     // so that none is above the limit of a message
	MapTraffic  float64 `json:"map_traffic"`  // bytes to all nodes for one change
	PublishTime float64 `json:"publish_time"` // if all machines fetch at the same time
	PublishSize float64 `json:"publish_bytes"`

	Messages float64 `json:"messages"` // per second
	Groups   float64 `json:"groups"`   // clusters of NATS
	GroupFor string  `json:"group_reason"`
}

// Validate returns an error that names the first value out of range.
func (in *Input) Validate() error {
	for _, x := range []struct {
		name       string
		value      float64
		least, end float64 // the end may be reached
	}{
		{"docs", in.Docs, 1, 1e18}, {"doc-bytes", in.DocBytes, 1e-3, 1e9}, {"qps", in.QPS, 1e-6, 1e12}, {"cost", in.Cost, 1e-12, 1e3},
		{"sigma", in.Sigma, 0, 2}, {"cores", float64(in.Cores), 1, 1 << 16}, {"memory", in.Memory, 1, 1e18}, {"memory-share", in.MemoryShare, 1e-3, 1},
		{"bandwidth", in.Bandwidth, 1, 1e15}, {"load", in.Load, 1e-3, 0.9}, {"replicas", float64(in.MinReplicas), 1, 64},
		{"service", in.Service, 1e-9, 1e3}, {"batch", in.Batch, 1, 1e6}, {"slow", in.Slow, 0, 1}, {"delay", in.Delay, 0, 1e3},
		{"network", in.Network, 0, 10}, {"messages", in.Messages, 1, 1e12}, {"servers", in.Servers, 1, 100}, {"nodes", in.Nodes, 1, 1e6},
	} {
		if !(x.value >= x.least && x.value <= x.end) { // NaN too
			return fmt.Errorf("%s is %v; possible are %v to %v", x.name, x.value, x.least, x.end)
		}
	}
	return nil
}

// New computes the plan.
func New(in Input) (*Plan, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{Shards: 1, Reason: "one shard is enough"}
	for _, x := range []struct {
		shards float64
		reason string
	}{
		{in.Docs * in.DocBytes / (in.Memory * in.MemoryShare), "memory of a machine"},
		{in.Docs / 1e6 * in.Cost / in.Service, "time of a query on a shard"},
		{in.Docs / MaxShardDocs, "documents of a shard"},
	} {
		if n := math.Ceil(x.shards); n > p.Shards {
			p.Shards, p.Reason = n, x.reason
		}
	}
	if p.Shards > 1e6 {
		return nil, fmt.Errorf("%.0f shards are necessary (%s); the model ends at 1000000", p.Shards, p.Reason)
	}
	p.ShardDocs, p.ShardSize = in.Docs/p.Shards, in.Docs*in.DocBytes/p.Shards
	work, calls := p.ShardDocs/1e6*in.Cost, requestCost/in.Batch+queryCost
	p.QueryCost, p.CallShare = p.Shards*(work+calls), calls/(work+calls)
	p.Replicas = max(float64(in.MinReplicas), math.Ceil(in.QPS*(work+calls)/(float64(in.Cores)*in.Load)))
	p.Machines = p.Shards * p.Replicas
	p.Load = in.QPS * (work + calls) / (float64(in.Cores) * p.Replicas)
	if p.Replicas > 1 {
		p.LoadOneFailed = p.Load * p.Replicas / (p.Replicas - 1)
	}
	p.latency(&in, work+calls)
	p.coordination(&in)
	return p, nil
}

// latency sets the times of queries, for calls with a mean service time.
func (p *Plan) latency(in *Input, mean float64) {
	call := Call{
		Service: mean / math.Exp(in.Sigma*in.Sigma/2), Sigma: in.Sigma, Cores: in.Cores, Load: p.Load, Copies: int(p.Replicas),
		Slow: in.Slow, Delay: in.Delay, Network: in.Network,
	}
	one := call.Latency()
	all := one.All(int(p.Shards))
	p.CallP50, p.P50, p.P99 = one.Quantile(0.5), all.Quantile(0.5), all.Quantile(0.99)
	if p.Replicas < 2 {
		return
	}
	p.Second = one.Quantile(1 - MaxSecond)
	call.Load *= 1 + MaxSecond
	all = call.Latency().Second(p.Second).All(int(p.Shards))
	p.P50Second, p.P99Second = all.Quantile(0.5), all.Quantile(0.99)
}

// coordination sets the costs of the map, of a publish and of NATS.
func (p *Plan) coordination(in *Input) {
	p.MapBytes = mapBytes + p.Shards*(shardBytes+replicaBytes*p.Replicas)
	p.MapKeys = math.Ceil(p.MapBytes / maxMessage)
	p.MapTraffic = p.MapBytes * p.Machines
	p.PublishSize = in.Docs * in.DocBytes * p.Replicas
	p.PublishTime = p.ShardSize / in.Bandwidth
	p.Messages = 2 * in.QPS * p.Shards / in.Batch
	p.Groups, p.GroupFor = 1, "one cluster of NATS is enough"
	for _, x := range []struct {
		groups float64
		reason string
	}{
		{p.Messages / (in.Messages * in.Servers), "messages per second"},
		{p.Machines / in.Nodes, "nodes of a cluster"},
	} {
		if n := math.Ceil(x.groups); n > p.Groups {
			p.Groups, p.GroupFor = n, x.reason
		}
	}
}
