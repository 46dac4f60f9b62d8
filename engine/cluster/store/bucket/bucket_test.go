package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"heddle/engine/cluster/store"
)

// start starts n control nodes that form one cluster, and connects to them.
func start(t *testing.T, n int) ([]*server.Server, *nats.Conn) {
	t.Helper()
	var routes, urls []string
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, fmt.Sprintf("nats://%s", l.Addr()))
		l.Close()
	}
	var all []*server.Server
	for i := range n {
		o := &server.Options{ServerName: fmt.Sprint("control", i), Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, PingInterval: time.Second, MaxPingsOut: 2}
		if n > 1 {
			o.Cluster = server.ClusterOpts{Name: "heddle", Host: "127.0.0.1", Port: ports[i]}
			o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		all = append(all, s)
	}
	for _, s := range all {
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("a control node does not start")
		}
		urls = append(urls, s.ClientURL())
	}
	conn, err := nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return all, conn
}

// again repeats f until it succeeds: an election may be under way.
func again(t *testing.T, f func(context.Context) error) {
	t.Helper()
	last := ""
	start := time.Now()
	for limit := 3 * time.Second; ; limit = min(2*limit, time.Minute) {
		ctx, end := context.WithTimeout(t.Context(), limit)
		err := f(ctx)
		end()
		if err == nil {
			return
		}
		if last != err.Error() {
			last = err.Error()
			t.Log(err)
		}
		if time.Since(start) > 5*time.Minute {
			t.Fatal("no success within 5 minutes: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestKV: the bucket behaves as the store in memory does.
func TestKV(t *testing.T) {
	_, conn := start(t, 1)
	bucket, err := Open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Join(t.Context(), "a", func() (string, error) { return "X", nil }); err != nil {
		t.Fatal(err)
	}
	for name, kv := range map[string]store.KV{"bucket": bucket, "memory": &store.Memory{Nodes: []string{"a"}, Cluster: func(string) string { return "X" }}} {
		ctx := t.Context()
		if _, _, err := kv.Get(ctx, "map.x"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: absent key: %v", name, err)
		}
		first, err := kv.Put(ctx, "map.x", []byte("1"), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := kv.Put(ctx, "map.x", []byte("2"), 0); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: create twice: %v", name, err)
		}
		second, err := kv.Put(ctx, "map.x", []byte("3"), first)
		if err != nil || second <= first {
			t.Errorf("%s: revision %d after %d, error %v", name, second, first, err)
		}
		if _, err := kv.Put(ctx, "map.x", []byte("4"), first); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: old revision: %v", name, err)
		}
		if v, r, err := kv.Get(ctx, "map.x"); err != nil || string(v) != "3" || r != second {
			t.Errorf("%s: %q of revision %d, error %v", name, v, r, err)
		}
		if _, err := kv.Put(ctx, "node.a", []byte("5"), 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if keys, err := kv.Keys(ctx, "map."); err != nil || !slices.Equal(keys, []string{"map.x"}) {
			t.Errorf("%s: keys %v, error %v", name, keys, err)
		}
		if err := errors.Join(kv.Delete(ctx, "map.x"), kv.Delete(ctx, "map.y")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if keys, err := kv.Keys(ctx, "map."); err != nil || len(keys) != 0 {
			t.Errorf("%s: keys %v, error %v", name, keys, err)
		}
		if _, err := kv.Put(ctx, "map.x", []byte("6"), 0); err != nil {
			t.Errorf("%s: create after delete: %v", name, err)
		}
		if nodes, err := kv.Alive(ctx); err != nil || !maps.Equal(nodes, map[string]string{"a": "X"}) {
			t.Errorf("%s: nodes %v, error %v", name, nodes, err)
		}
	}
}

// TestJoin: a second process with the name of a node is refused, and changes nothing. The name is free when
// the first one has ended.
func TestJoin(t *testing.T) {
	servers, conn := start(t, 1)
	id := func() (string, error) { return "X", nil }
	first := New(conn, 1)
	if err := first.Join(t.Context(), "a", id); err != nil {
		t.Fatal(err)
	}
	again, err := nats.Connect(servers[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	second := New(again, 1)
	if _, taken := errors.AsType[*TakenError](second.Join(t.Context(), "a", id)); !taken {
		t.Error("a name has two processes")
	}
	if all, err := second.ask(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d answers, %v", len(all), err)
	}
	if err := second.Join(t.Context(), "b", id); err != nil {
		t.Error(err)
	}
	conn.Close()
	again.Close()
	third, err := nats.Connect(servers[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := New(third, 1).Join(t.Context(), "a", id); err != nil {
		t.Error(err)
	}
}

// TestLeader: counting by compare-and-set loses no step when the leader of the bucket ends in
// the midst of it.
func TestLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("elections take seconds")
	}
	servers, conn := start(t, 3)
	var kv *KV
	again(t, func(ctx context.Context) (err error) { kv, err = Open(ctx, conn, 3); return err })
	const key = "map.count"
	ended := false
	for want := byte(0); want < 40; want++ {
		again(t, func(ctx context.Context) error {
			v, revision, err := kv.Get(ctx, key)
			if errors.Is(err, store.ErrNotFound) {
				v, err = []byte{0}, nil
			}
			if err != nil {
				return err
			}
			if v[0] != want && v[0] != want+1 {
				t.Fatalf("the count is %d after step %d", v[0], want)
			}
			if v[0] == want+1 {
				return nil // an answer was lost, not the step
			}
			_, err = kv.Put(ctx, key, []byte{want + 1}, revision)
			return err
		})
		if want == 20 {
			for _, s := range servers {
				if s.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, "KV_"+Name) {
					s.Shutdown()
					ended = true
					break // the next one may lead by now, and one node alone is no majority
				}
			}
		}
	}
	if !ended {
		t.Fatal("no control node was the leader")
	}
}
