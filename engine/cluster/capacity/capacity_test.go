package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/internal/layout"
)

// TestErlang compares with the formula of Erlang as a sum.
func TestErlang(t *testing.T) {
	for cores := 1; cores < 20; cores++ {
		for _, load := range []float64{0.1, 0.5, 0.9} {
			offered, term, sum := load*float64(cores), 1.0, 0.0
			for i := range cores {
				sum += term
				term *= offered / float64(i+1)
			}
			want := term / (1 - load) / (sum + term/(1-load))
			if got := erlang(cores, load); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d cores, load %v: %v, want %v", cores, load, got, want)
			}
		}
	}
}

// TestNew: each bound of a plan decides where it is the tightest.
func TestNew(t *testing.T) {
	for reason, change := range map[string]func(*Input){
		"memory of a machine":        func(in *Input) { in.Memory = 1e9 },
		"time of a query on a shard": func(*Input) {},
		"documents of a shard":       func(in *Input) { in.Docs, in.Cost, in.DocBytes = 50e9, 1e-9, 1e-3 },
		"one shard is enough":        func(in *Input) { in.Docs = 1e6 },
	} {
		in := Default()
		change(&in)
		if p, err := New(in); err != nil || p.Reason != reason {
			t.Errorf("%+v, %v, want %s", p, err, reason)
		}
	}
	in := Default()
	in.Load = math.NaN()
	if _, err := New(in); err == nil || !strings.Contains(err.Error(), "load is NaN") {
		t.Error(err)
	}
	in = Default()
	in.Docs = 1e18
	if _, err := New(in); err == nil || !strings.Contains(err.Error(), "shards are necessary") {
		t.Error(err)
	}
}

// TestBounds: every plan keeps the bounds of its input, and more load never needs fewer machines.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Default()
		in.Docs = math.Exp(rapid.Float64Range(0, math.Log(1e11)).Draw(t, "docs"))
		in.QPS = math.Exp(rapid.Float64Range(0, math.Log(1e5)).Draw(t, "qps"))
		in.MinReplicas, in.Cores = rapid.IntRange(1, 4).Draw(t, "replicas"), rapid.IntRange(1, 128).Draw(t, "cores")
		in.Load = rapid.Float64Range(0.1, 0.85).Draw(t, "load")
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		if p.Load > in.Load+1e-9 || p.ShardSize > in.Memory*in.MemoryShare+1 || p.ShardDocs > MaxShardDocs || p.Replicas < float64(in.MinReplicas) {
			t.Errorf("plan %+v of %+v", p, in)
		}
		if !(p.CallP50 <= p.P50 && p.P50 <= p.P99) {
			t.Errorf("latencies of %+v", p)
		}
		in.QPS *= 2
		if more, err := New(in); err != nil || more.Machines < p.Machines {
			t.Errorf("twice the load: %+v, %v, before %+v", more, err, p)
		}
	})
}

// TestSecond: a second request delays no call, and all of several calls take longer than one.
func TestSecond(t *testing.T) {
	c := Call{Service: 0.002, Sigma: 0.4, Cores: 8, Load: 0.5, Copies: 2, Slow: 0.01, Delay: 0.1, Network: 0.001}
	one := c.Latency()
	second, all := one.Second(0), one.All(10)
	for i := range 1000 {
		share := float64(i) / 1000
		if q := one.Quantile(share); second.Quantile(share) > q || all.Quantile(share) < q {
			t.Errorf("share %v: one call %v s, with a second request %v s, ten calls %v s", share, q, second.Quantile(share), all.Quantile(share))
		}
	}
	if a, b := one.Quantile(0.995), second.Quantile(0.995); a < 0.1 || b > 0.02 {
		t.Errorf("99.5 %% of calls within %v s, with a second request within %v s", a, b)
	}
}

// TestMapBytes compares the sizes with a real map.
func TestMapBytes(t *testing.T) {
	m := layout.Map{Name: "collection", Kind: layout.Index, Epoch: 12, Docs: 50e9, Length: 17e12}
	for i := range 500 {
		m.Shards = append(m.Shards, layout.Shard{
			File: "collection-00001-0123456789ab.hdl", First: uint64(i) * 100e6, Docs: 100e6, Bytes: 50e9, SHA256: strings.Repeat("0", 64),
			Replicas: []string{"rack-7-node-0001", "rack-8-node-0002"},
		})
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := mapBytes + 500*(shardBytes+2*replicaBytes)
	if got := len(data); math.Abs(float64(got-want)) > 0.15*float64(got) {
		t.Errorf("a map of 500 shards has %d bytes, the model says %d", got, want)
	}
}
