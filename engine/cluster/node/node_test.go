package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats-server/v2/server"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/split"
	"heddle/engine/cluster/transport"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/layout"
)

const patience = time.Minute

type fixed struct{ m *layout.Map }

func (f fixed) Map(context.Context, string) (*layout.Map, error)     { return f.m, nil }
func (f fixed) Refresh(context.Context, string) (*layout.Map, error) { return f.m, nil }
func (f fixed) Names(context.Context) ([]string, error)              { return []string{f.m.Name}, nil }

func dial(t *testing.T, b *server.Server) *transport.Conn {
	t.Helper()
	c, err := transport.Connect(b.ClientURL(), transport.Options{Ping: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestNodes: three nodes over NATS answer like the whole index. One of them ends without a
// farewell, and no query fails.
func TestNodes(t *testing.T) {
	b, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	b.Start()
	defer func() { b.Shutdown(); b.WaitForShutdown() }()
	if !b.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	dir := t.TempDir()
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("d%d\tfaith w%d w%d", i, i%7, i%11))
	}
	docs, file := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(docs, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), file, []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		t.Fatal(err)
	}
	whole, err := e.OpenIndex(t.Context(), file, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := split.File(t.Context(), file, filepath.Join(dir, "parts"), split.Options{Shards: 4})
	if err != nil {
		t.Fatal(err)
	}
	m.Name, m.Epoch = "x", 1

	names := []string{"n1", "n2", "n3"}
	conns := map[string]*transport.Conn{}
	said, err := dial(t, b).SubscribeSync("heddle.announce.>")
	if err == nil {
		err = said.SetPendingLimits(-1, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		n := New(e)
		for s := range m.Shards {
			if s%3 == i || (s+1)%3 == i {
				m.Shards[s].Replicas = append(m.Shards[s].Replicas, name)
				if err := n.Load(t.Context(), "x", 1, s, filepath.Join(dir, "parts", m.Shards[s].File), ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		rpc := connect.NewServer()
		shard.Register(rpc, n)
		conns[name] = dial(t, b)
		v, err := transport.Service{Node: name, Server: rpc}.Serve(conns[name])
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var announcing sync.WaitGroup
		announcing.Go(func() {
			Announce(ctx, conns[name], time.Hour, func() Announcement { return Announcement{Node: name, Shards: n.Held(), Running: v.Running()} })
		})
		heard, err := said.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		end()
		announcing.Wait()
		var a Announcement
		if err := json.Unmarshal(heard.Data, &a); err != nil || a.Node != name || !reflect.DeepEqual(a.Shards, n.Held()) {
			t.Errorf("announcement %s, %v", heard.Data, err)
		}
		defer func() {
			stopping, over := context.WithTimeout(context.Background(), patience)
			defer over()
			if err := v.Stop(stopping); err != nil && conns[name].IsConnected() {
				t.Error(err)
			}
			if err := n.Unload("x", 1); err != nil || len(n.Held()) != 0 {
				t.Errorf("unload: %v", err)
			}
		}()
	}

	c := cluster.New(fixed{m}, &transport.NATS{Conn: dial(t, b), Probe: time.Second}, cluster.Options{})
	var done atomic.Int64
	var callers sync.WaitGroup
	killed := make(chan struct{})
	for i := range 8 {
		callers.Go(func() {
			for j := 0; j < 20 || i == 0 && !closed(killed); j++ {
				q := engine.Query{Text: fmt.Sprintf("w%d OR w%d", (i+j)%7, j%11), K: 20}
				want, err := whole.Search(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				got, _, err := c.Search(t.Context(), "x", q, api.Ask{})
				if err != nil {
					t.Errorf("%s: %v", q.Text, err)
					return
				}
				if fmt.Sprint(got.IDs) != fmt.Sprint(want.Docs) || fmt.Sprint(got.Scores) != fmt.Sprint(want.Scores) {
					t.Errorf("%s: %v %v, want %v %v", q.Text, got.IDs, got.Scores, want.Docs, want.Scores)
				}
				if done.Add(1) == 40 {
					conns["n2"].Close()
					close(killed)
				}
			}
		})
	}
	callers.Wait()
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestUse: a shard closes after its last use, and refuses others with ErrEpoch.
func TestUse(t *testing.T) {
	n := New(nil)
	if err := n.Load(t.Context(), "x", 1, 0, "x.txt", ""); engine.CodeOf(err) != engine.InvalidOption {
		t.Errorf("a file of another kind: %v", err)
	}
	n.all[Held{"x", 1, 0}] = &open{index: new(engine.Index)}
	_, _, err := n.OpenIndex("x", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Unload("x", 1); err != nil { // an open shard without an engine would panic
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error { _, _, err := n.OpenIndex("x", 1, 0); return err }(),
		func() error { _, _, err := n.OpenTable("x", 2, 0); return err }(),
	} {
		if !errors.Is(err, shard.ErrEpoch) {
			t.Errorf("error %v", err)
		}
	}
}

// TestDrop: one shard goes, and its neighbours stay.
func TestDrop(t *testing.T) {
	n := New(nil)
	gone := Held{"x", 1, 1}
	kept := []Held{{"x", 1, 0}, {"x", 2, 1}, {"y", 1, 1}}
	for _, k := range append(slices.Clone(kept), gone) {
		n.all[k] = &open{index: new(engine.Index), users: 1}
	}
	for range 2 { // the second time it is not there
		if err := n.Drop(gone.Name, gone.Epoch, gone.Shard); err != nil || !slices.Equal(n.Held(), kept) {
			t.Errorf("open are %v, error %v", n.Held(), err)
		}
	}
}
