package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectinprocess"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// machines are nodes in process. A node may be changed while calls run.
type machines struct {
	mu     sync.Mutex
	nodes  map[string]*shard.Memory
	before map[string]func(context.Context) error // runs before each call of a node; may be nil
	calls  map[string]int
	damage map[string]func(reply any) // changes each reply of a node; may be nil. The map must not change.
	all    shard.Memory               // the shards of all nodes
	layout *layout.Map                // the newest
	stale  *layout.Map                // that Map returns, unless nil
	old    map[string]bool            // nodes of a version without groups
}

func newMachines() *machines {
	return &machines{nodes: map[string]*shard.Memory{}, before: map[string]func(context.Context) error{}, calls: map[string]int{}}
}

func (m *machines) node(name string) *shard.Memory {
	if m.nodes[name] == nil {
		m.nodes[name] = &shard.Memory{}
	}
	return m.nodes[name]
}

// set changes the fault of a node.
func (m *machines) set(name string, before func(context.Context) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before[name] = before
}

// Dial implements Dialer.
func (m *machines) Dial(name string) (connect.Transport, error) {
	s := connect.NewServer(func(next connect.ServerFunc) connect.ServerFunc {
		return func(ctx context.Context, spec connect.Spec, stream connect.ServerStream) error {
			m.mu.Lock()
			before := m.before[name]
			m.calls[name]++
			m.mu.Unlock()
			if before != nil {
				if err := before(ctx); err != nil {
					return err
				}
			}
			if m.old[name] {
				stream = oldStream{stream}
			}
			if damage := m.damage[name]; damage != nil {
				stream = damagedStream{stream, damage}
			}
			return next(ctx, spec, stream)
		}
	})
	shard.Register(s, m.nodes[name])
	return connectinprocess.New(s), nil
}

// damagedStream changes the replies of a node.
type damagedStream struct {
	connect.ServerStream
	damage func(reply any)
}

// Send implements connect.ServerStream.
func (s damagedStream) Send(reply any) error {
	s.damage(reply)
	return s.ServerStream.Send(reply)
}

// oldStream takes the shards of a group from requests, as a node does that does not know the field.
type oldStream struct{ connect.ServerStream }

// Receive implements connect.ServerStream.
func (s oldStream) Receive(request any) error {
	err := s.ServerStream.Receive(request)
	switch r := request.(type) {
	case *api.ShardSearchRequest:
		r.More = nil
	case *api.ShardTermsRequest:
		r.More = nil
	case *api.ShardDocumentsRequest:
		r.More = nil
	}
	return err
}

// Map implements Maps.
func (m *machines) Map(context.Context, string) (*layout.Map, error) {
	if m.stale != nil {
		return m.stale, nil
	}
	return m.layout, nil
}

// Refresh implements Maps.
func (m *machines) Refresh(context.Context, string) (*layout.Map, error) { return m.layout, nil }

// Names implements Maps.
func (m *machines) Names(context.Context) ([]string, error) { return []string{m.layout.Name}, nil }

// Part implements coordinator.Parts by the shards of all nodes.
func (m *machines) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	x, _, err := m.all.OpenIndex(name, epoch, number)
	if err != nil {
		return nil, nil, err
	}
	g, err := x.Internal().Acquire()
	if err != nil {
		return nil, nil, err
	}
	p := &part.Part{Generation: g}
	if x.Attributes != nil {
		p.Attributes = x.Attributes.Internal()
	}
	return p, g.Release, nil
}

// newEngine returns an engine in pure Go.
func newEngine(t testing.TB) *engine.Engine {
	t.Helper()
	return limitedEngine(t, engine.Limits{})
}

func limitedEngine(t testing.TB, limits engine.Limits) *engine.Engine {
	t.Helper()
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// corpus returns documents of words, of which few are frequent, so that many scores are equal.
func corpus(n int) (lines []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		words := []string{}
		for range 3 + r.IntN(12) {
			words = append(words, fmt.Sprintf("w%d", int(r.ExpFloat64()*6)))
		}
		lines = append(lines, fmt.Sprintf("doc%d\t%s", i, strings.Join(words, " ")))
	}
	return lines
}

// openIndex builds and opens an index of documents.
func openIndex(t testing.TB, e *engine.Engine, lines []string) *engine.Index {
	t.Helper()
	dir := t.TempDir()
	docs, file := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(docs, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), file, []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), file, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// openTable builds and opens a table of rows with the columns a and b.
func openTable(t testing.TB, e *engine.Engine, rows []string) *engine.Table {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.hdb")
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader("a,b\n" + strings.Join(rows, "\n") + "\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, file, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenTable(t.Context(), file, engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// place puts the shards of an index on at most three nodes, with a number of replicas. A fourth shard so
// shares its node.
func place(t testing.TB, e *engine.Engine, lines []string, cuts []int, replicas int) *machines {
	t.Helper()
	m := newMachines()
	m.layout = &layout.Map{Name: "x", Kind: layout.Index, Epoch: 1, Docs: uint64(len(lines))}
	for i := range len(cuts) - 1 {
		x := openIndex(t, e, lines[cuts[i]:cuts[i+1]])
		m.all.AddIndex("x", 1, i, x)
		s := layout.Shard{First: uint64(cuts[i]), Docs: uint64(cuts[i+1] - cuts[i]), SHA256: fmt.Sprintf("%064d", i)}
		for r := range replicas {
			name := fmt.Sprintf("n%d", (i+r)%max(replicas, min(3, len(cuts)-1)))
			m.node(name).AddIndex("x", 1, i, x)
			s.Replicas = append(s.Replicas, name)
		}
		m.layout.Shards = append(m.layout.Shards, s)
	}
	return m
}
