package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/transport"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/plan/testneeds"
)

// eight returns eight shards on three nodes, a coordinator that sends no second requests, and the answer
// of query.
func eight(t *testing.T, replicas int) (*machines, *Coordinator, api.Hits) {
	m := place(t, newEngine(t), corpus(200), []int{0, 20, 40, 60, 110, 120, 150, 180, 200}, replicas)
	c := New(m, m, Options{Second: time.Hour, Silence: time.Hour})
	h, _, err := c.Search(t.Context(), "x", sample, api.Ask{Names: true})
	if err != nil || len(h.IDs) != sample.K {
		t.Fatal(h, err)
	}
	return m, c, h
}

// count returns the number of calls of all nodes that f causes.
func (m *machines) count(f func()) int {
	clear(m.calls)
	f()
	n := 0
	for _, calls := range m.calls {
		n += calls
	}
	return n
}

// TestGroup: a node has one request for all its shards, for ranked queries, counts, documents up to a
// limit, and the statistics of new terms.
func TestGroup(t *testing.T) {
	m, c, _ := eight(t, 1)
	for _, test := range []struct {
		q    engine.Query
		ask  api.Ask
		want int
	}{
		{sample, api.Ask{}, 3},
		{engine.Query{Text: "w1", CountOnly: true}, api.Ask{}, 3},
		{engine.Query{Text: "w1"}, api.Ask{Limit: 5}, 3},
		{engine.Query{Text: "w1"}, api.Ask{}, 8},
		{sample, api.Ask{Explain: true}, 8},
		{engine.Query{Text: "w3 w4", K: 3}, api.Ask{}, 6}, // new terms
		{engine.Query{Text: "w3", K: 3, Filter: &engine.Filter{Docs: []uint32{1, 3, 50, 90, 170}}}, api.Ask{}, 3},
	} {
		var h api.Hits
		var err error
		if n := m.count(func() { h, _, err = c.Search(t.Context(), "x", test.q, test.ask) }); err != nil || n != test.want {
			t.Errorf("%+v: %d calls, want %d; %+v, %v", test.q, n, test.want, h, err)
		}
	}
}

// TestNames: a batch asks for names last, with one request to each node that has some. Old nodes, and a
// shard that its node lacks, do not change the names.
func TestNames(t *testing.T) {
	m, c, want := eight(t, 1)
	batch, of := slices.Repeat([]engine.Query{sample}, 128), map[string]bool{}
	for _, id := range want.IDs {
		of[m.layout.Shards[m.layout.Find(id)].Replicas[0]] = true
	}
	for _, ask := range []api.Ask{{Names: true}, {Names: true, AllowPartial: true}} {
		calls := 3 + len(of)
		if ask.AllowPartial {
			calls = 3
		}
		var hits []api.Hits
		var err error
		if n := m.count(func() { hits, _, err = c.SearchAll(t.Context(), "x", batch, ask) }); err != nil || n != calls {
			t.Fatalf("%+v: %d calls, want %d, %v", ask, n, calls, err)
		}
		for _, h := range hits {
			same(t, sample, h, want)
		}
	}
	m, _, _ = eight(t, 2)
	m.old = map[string]bool{"n1": true}
	shard := m.layout.Find(want.IDs[0])
	x, _, err := m.all.OpenIndex("x", 1, shard)
	if err != nil {
		t.Fatal(err)
	}
	lost := m.nodes[m.layout.Shards[shard].Replicas[0]]
	m.damage = map[string]func(any){m.layout.Shards[shard].Replicas[0]: func(reply any) {
		if _, ok := reply.(*api.ShardSearchResponse); ok {
			lost.Remove("x", 1, shard)
		}
	}}
	for range 10 { // each order of the replicas
		lost.AddIndex("x", 1, shard, x.Index)
		hits, _, err := New(m, m, Options{Second: time.Hour, Silence: time.Hour}).SearchAll(t.Context(), "x", batch, api.Ask{Names: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, sample, hits[0], want)
	}
}

// TestManyTerms: the answer of a node for many terms in many shards fits into a message of NATS.
func TestManyTerms(t *testing.T) {
	cuts := make([]int, 33)
	for i := range cuts {
		cuts[i] = i * 2
	}
	m := place(t, newEngine(t), corpus(64), cuts, 1)
	most := 0
	size := func(reply any) { most = max(most, proto.Size(reply.(proto.Message))) }
	m.damage = map[string]func(any){"n0": size}
	terms, want := []string{"w1"}, 0
	for i := range 30_000 {
		terms = append(terms, fmt.Sprintf("term%d", i))
	}
	for _, line := range corpus(64) {
		if slices.Contains(strings.Fields(line), "w1") {
			want++
		}
	}
	st, err := New(m, m, Options{}).Statistics(t.Context(), "x", terms...)
	if err != nil || st.Docs != 64 || st.DF["w1"] != uint64(want) || st.DF["term7"] != 0 || len(st.DF) != len(terms) {
		t.Errorf("%d documents, %d with w1, %d terms, %v", st.Docs, st.DF["w1"], len(st.DF), err)
	}
	if most == 0 || most > 1<<20 {
		t.Errorf("an answer of %d bytes", most)
	}
}

// TestOldNode: nodes that know no groups answer for one shard at a time, and the coordinator remembers it.
func TestOldNode(t *testing.T) {
	m, _, want := eight(t, 1)
	m.old = map[string]bool{"n0": true, "n2": true}
	c := New(m, m, Options{Second: time.Hour, Silence: time.Hour})
	for _, first := range []bool{true, false} {
		var h api.Hits
		var err error
		n := m.count(func() { h, _, err = c.Search(t.Context(), "x", sample, api.Ask{Names: true}) })
		if same(t, sample, h, want); err != nil || !first && n != 3+1+2 {
			t.Errorf("%d calls, want 3 of n0, one of n1 and 2 of n2; %v", n, err)
		}
	}
}

// TestLeftOut: a shard that a node of a group cannot answer for comes from its other replica, or is the
// only one that is missing.
func TestLeftOut(t *testing.T) {
	m, c, want := eight(t, 2)
	all := m.layout.Shards
	m.nodes[all[4].Replicas[0]].Remove("x", 1, 4)
	for range 20 { // each order of the replicas
		h, _, err := c.Search(t.Context(), "x", sample, api.Ask{Names: true})
		if same(t, sample, h, want); err != nil {
			t.Fatal(err)
		}
	}
	m.nodes[all[4].Replicas[1]].Remove("x", 1, 4)
	if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); !errors.Is(err, part.ErrEpoch) {
		t.Errorf("error %v", err)
	}
}

// replica is the behaviour of a node on a request for a shard.
type replica int

const (
	works  replica = iota
	single         // has another unit of scores than other shards: a group can only begin with it
	fails
)

// TestSpread: whatever nodes do, each shard is in one answer, of a replica that works, or is missing if
// it has none.
func TestSpread(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		wait, local := map[string]time.Duration{}, transport.Local{}
		var names []string
		for i := range nodes {
			name := fmt.Sprint("n", i)
			names, local[name] = append(names, name), connect.NewServer()
			wait[name] = rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, 30 * time.Millisecond, time.Second, -1}).Draw(t, "time")
		}
		m, does := &layout.Map{Name: "x", Epoch: 1}, map[string][]replica{}
		for i := range rapid.IntRange(1, 9).Draw(t, "shards") {
			own := rapid.Permutation(names).Draw(t, "replicas")
			m.Shards = append(m.Shards, layout.Shard{First: uint64(i), Docs: 1, Replicas: own[:rapid.IntRange(1, min(2, nodes)).Draw(t, "number")]})
			for _, name := range names {
				does[name] = append(does[name], rapid.SampledFrom([]replica{works, works, works, single, fails}).Draw(t, "does"))
			}
		}
		c := New(nil, local, Options{})
		r := &coordinator.Reach{Collection: &coordinator.Collection{Layout: m}, Partial: rapid.Bool().Draw(t, "partial")}
		ask := func(ctx context.Context, n *node, shards []int) (string, []int, error) {
			answered := make(<-chan time.Time)
			if wait[n.name] >= 0 {
				answered = time.After(wait[n.name])
			}
			select {
			case <-answered:
			case <-ctx.Done():
				return "", nil, ctx.Err()
			}
			var have []int
			for _, i := range shards {
				if d := does[n.name][i]; d == works || d == single && have == nil {
					have = append(have, i)
				}
			}
			if have == nil {
				return "", nil, errors.New("broken")
			}
			return n.name, have, nil
		}
		var pieces []coordinator.Piece[string]
		var err error
		testneeds.VirtualTime(outer, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			pieces, err = coordinator.Spread(ctx, r, coordinator.Fan{Size: 1, Groups: true}, func(ctx context.Context, f *coordinator.Fan) ([]coordinator.Piece[string], []error) {
				return spread(ctx, c.network, new(window), f, ask)
			})
		})
		found := map[int]bool{}
		for _, p := range pieces {
			for _, i := range p.Shards {
				if found[i] || does[p.Answer][i] == fails || !slices.Contains(m.Shards[i].Replicas, p.Answer) {
					t.Errorf("shard %d of %s, %v", i, p.Answer, p.Shards)
				}
				found[i] = true
			}
		}
		answerable := map[int]bool{}
		for i, s := range m.Shards {
			for _, name := range s.Replicas {
				if wait[name] >= 0 && does[name][i] != fails {
					answerable[i] = true
				}
			}
		}
		if err == nil && !maps.Equal(found, answerable) || (err != nil) != (len(answerable) < len(m.Shards) && (!r.Partial || len(answerable) == 0)) {
			t.Errorf("found %v, want %v, %v", found, answerable, err)
		}
	})
}
