//go:build !core

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"heddle/engine/cluster/fetch"
	"heddle/engine/cluster/store"
	"heddle/engine/cluster/store/bucket"
	"heddle/engine/cluster/transport"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// opener opens the shards that a node gets.
type opener struct{}

func (opener) Load(_ context.Context, _ string, _ uint64, _ int, path, _ string) error {
	x, err := hdl.Open(path)
	if err != nil {
		return err
	}
	return x.Close()
}

func (opener) Unload(string, uint64) {}

func (opener) Drop(string, uint64, int) {}

// TestClusterChanges runs the commands against a control node and three nodes that copy files.
func TestClusterChanges(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	control, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	control.Start()
	t.Cleanup(func() { control.Shutdown(); control.WaitForShutdown() })
	if !control.ReadyForConnections(20 * time.Second) {
		t.Fatal("the control node does not start")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, node := range []string{"a", "b", "c"} {
		conn, err := transport.Connect(control.ClientURL(), transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kv := bucket.New(conn.Conn, 1)
		k := &store.Keeper{KV: kv, Node: node, Dir: t.TempDir(), Loader: opener{}, Poll: 50 * time.Millisecond}
		files := httptest.NewServer(fetch.Handler(k.Find))
		k.URL = files.URL
		if err := kv.Join(ctx, node, k.Cluster); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); _ = k.Run(ctx, nil) }()
		t.Cleanup(func() { cancel(); <-done; files.Close(); conn.Close() })
	}
	absent := httptest.NewServer(http.NotFoundHandler())
	defer absent.Close()
	try := func(timeout string, args ...string) (int, string) {
		t.Helper()
		var out, errs bytes.Buffer
		app := &App{Stdout: &out, Stderr: &errs}
		code := app.Run(t.Context(), append(append([]string{"cluster"}, args...), "--cluster", control.ClientURL(), "--timeout", timeout))
		return code, out.String() + errs.String()
	}
	run := func(want int, args ...string) string {
		t.Helper()
		got, text := try("60s", args...)
		if got != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, got, want, text)
		}
		return text
	}
	state := func() *layout.Map {
		var s store.Status
		if err := json.Unmarshal([]byte(run(0, "status", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		return s.Collections["books"].Current
	}
	dir := filepath.Join(t.TempDir(), "books")
	tsv, books := filepath.Join(t.TempDir(), "d.tsv"), filepath.Join(t.TempDir(), "books.hdl")
	if err := os.WriteFile(tsv, []byte("a\tloom\nb\theddle loom\nc\twarp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "index", "build", "-o", books, tsv)
	must(t, "cluster", "split", "-o", dir, "--shards", "2", books)
	if got := run(0, "publish", dir); got != "books: epoch 1\n" {
		t.Errorf("publish printed %q", got)
	}
	if got := run(0, "publish", dir, "--json"); !strings.Contains(got, `"epoch": 1`) && !strings.Contains(got, `"epoch":1`) {
		t.Errorf("the second publish printed %q", got)
	}
	on := state().Shards[0].Replicas
	free := slices.DeleteFunc([]string{"a", "b", "c"}, func(n string) bool { return slices.Contains(on, n) })[0]
	run(0, "move", "books", "0", on[0], free)
	if got := state().Shards[0].Replicas; !slices.Contains(got, free) || slices.Contains(got, on[0]) {
		t.Errorf("after the move shard 0 is on %v", got)
	}
	run(1, "move", "books", "9", on[0], free)
	run(0, "drain", free)
	for _, s := range state().Shards {
		if len(s.Replicas) != 2 || slices.Contains(s.Replicas, free) {
			t.Errorf("after the drain a shard is on %v", s.Replicas)
		}
	}
	if got := run(0, "status"); !strings.Contains(got, "node "+free+"  answers, drains") {
		t.Errorf("status printed %q", got)
	}
	run(0, "drain", free, "--undo")
	run(0, "rebalance", "books")
	changing := filepath.Join(t.TempDir(), "changing")
	act(t, "", "collection", "create", changing)
	act(t, "a\tloom\nb\tweft\n", "collection", "add", changing, "--format", "text", "-")
	act(t, "b\tloom\nc\twarp\n", "collection", "add", changing, "--format", "text", "--no-merge", "-")
	if got := run(1, "publish", changing); !strings.Contains(got, "has 1 deleted documents, which a cluster cannot leave out: run heddle collection merge first") {
		t.Errorf("publish of a collection with a deleted document printed %q", got)
	}
	act(t, "", "collection", "merge", changing)
	act(t, "d\tloom\n", "collection", "add", changing, "--format", "text", "--no-merge", "-")
	if got := run(0, "publish", changing); got != "changing: epoch 1\n" {
		t.Errorf("publish of a collection printed %q", got)
	}
	if got := run(0, "status"); !strings.Contains(got, "changing") {
		t.Errorf("status printed %q", got)
	}
	act(t, "e\tloom\n", "collection", "add", changing, "--format", "text", "--no-merge", "-")
	if got := run(0, "publish", changing); got != "changing: epoch 2\n" {
		t.Errorf("publish of the next state of a collection printed %q", got)
	}
	run(0, "remove", "books")
	if m := state(); m != nil {
		t.Errorf("after the removal the map is %v", m)
	}
	for _, c := range []struct{ args, want string }{
		{"remove books", `no collection "books"`},
		{"move books 0 a b", `no collection "books"`},
		{"drain x", "no node is named x: the nodes are [a b c]"},
		{"publish " + dir + " --replicas 4", "at most the number of nodes that answer and do not drain"},
		{"publish " + dir + " --from " + absent.URL, "the server answered 404"},
	} {
		if code, got := try("2s", strings.Fields(c.args)...); code == 0 || !strings.Contains(got, c.want) {
			t.Errorf("%s: exit code %d, %s, want %q", c.args, code, got, c.want)
		}
	}
	run(2, "move", "books")
}
