//go:build unix && !core

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"heddle/engine/cluster/transport"
	"heddle/engine/plan/testneeds"
)

// TestWithoutNATS: while NATS is away, all queries get their answers over HTTP, and a node starts
// from its last map. When NATS returns without its data, the nodes give the map back to it.
func TestWithoutNATS(t *testing.T) {
	testneeds.Waits(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	before := f.state()
	stop := f.load()
	defer stop()
	f.answers(40)
	f.controls[0].kill()
	f.answers(200)
	late := serve(t, f.flags("--drain-delay", "0s")...) // knows no map yet
	if got := late.ask("/v1/indexes/books/search", fleetQueries[0]); !strings.Contains(got, `"status":503,"detail":"map: there is no connection to NATS"`) {
		t.Errorf("a server that starts without NATS: %s", got)
	}
	f.nodes["n1"].end()
	f.answers(40)
	f.node("n1")
	f.answers(40)
	f.signal("n2", syscall.SIGKILL) // n1 alone answers
	_ = f.nodes["n2"].cmd.Wait()
	f.answers(200)

	text, err := os.ReadFile(f.controls[0].file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, f.controls[0].file, strings.Replace(string(text), `/js"`, `/empty"`, 1))
	f.controls[0].start()
	for s := f.state(); s == nil || s.Collections["books"] == nil || !slices.Contains(s.Alive, "n1"); s = f.state() {
	}
	f.answers(40)
	f.node("n2")
	f.answers(40)
	for late.ask("/v1/indexes/books/search", fleetQueries[0]) != f.want[0] { // up to the time-out of the test
	}
	stop()
	after := f.state()
	if got, want := after.Collections["books"].Current, before.Collections["books"].Current; !reflect.DeepEqual(got, want) {
		t.Errorf("the map is %+v, want %+v", got, want)
	}
	if after.Cluster == "" || after.Cluster != before.Cluster {
		t.Errorf("the identity of the cluster is %q, want %q", after.Cluster, before.Cluster)
	}
	wantFailure(t, heddle(t, "serve", "--cluster", "nats://127.0.0.1:1", "--node", "n3", "--data", "n3", "--listen", "127.0.0.1:0"), exitUnavailable, "NATS servers nats://127.0.0.1:1")
	if _, err := os.Stat(filepath.Join("n3", "maps.json")); err == nil {
		t.Error("a node that does not start has a map")
	}
}

// TestOtherCluster: a node whose folder belongs to another cluster than the NATS servers ends, and
// changes neither.
func TestOtherCluster(t *testing.T) {
	testneeds.Sequential(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	f.nodes["n1"].end()
	f.nodes["n2"].end()
	f.controls[0].kill()
	files := func() (found []string) {
		if err := filepath.WalkDir("n1", func(path string, d fs.DirEntry, err error) error {
			info, statErr := d.Info()
			found = append(found, fmt.Sprint(path, info.Size(), info.ModTime()))
			return errors.Join(err, statErr)
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := files()
	text, err := os.ReadFile(f.controls[0].file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, f.controls[0].file, strings.Replace(string(text), `/js"`, `/empty"`, 1))
	f.controls[0].start()
	f.node("n3")
	f.must("publish", "books", "--replicas", "1")
	want := f.state()
	wantFailure(t, heddle(t, append([]string{"serve"}, f.flags("--node", "n1", "--data", "n1", "--listen", "127.0.0.1:0")...)...), exitFailure, "n1 belongs to cluster ", ", and the NATS servers to cluster "+want.Cluster)
	if got := f.state(); !reflect.DeepEqual(got.Collections, want.Collections) || !slices.Equal(got.Alive, []string{"n3"}) {
		t.Errorf("the state is %+v, want %+v", got, want)
	}
	if after := files(); !slices.Equal(after, before) {
		t.Errorf("the folder has %v, want %v", after, before)
	}
}

// TestNodeFaults: a node drains, stands still, and dies during a publish and a drain. No query fails,
// and no change waits for it. Another server takes the place of one that dies.
func TestNodeFaults(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2", "n3")
	stop := f.load()
	defer stop()
	f.answers(40)
	f.nodes["n1"].end()
	f.answers(100)
	f.node("n1")
	f.answers(100)
	f.signal("n2", syscall.SIGSTOP)
	f.answers(200)
	f.signal("n2", syscall.SIGCONT)
	f.answers(100)

	// The files of the publish come when n3 has died.
	must(t, "cluster", "split", "-o", "more", "--shards", "3", "books.hdl")
	rename(t, "more", "books")
	began, dead := make(chan struct{}, 100), make(chan struct{})
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		select {
		case <-dead:
			http.FileServer(http.Dir("more")).ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	defer source.Close()
	published := make(chan result, 1)
	go func() { published <- f.run("publish", "more", "--from", source.URL) }()
	<-began
	f.signal("n3", syscall.SIGKILL)
	_ = f.nodes["n3"].cmd.Wait()
	close(dead)
	if r := <-published; r.code != 0 {
		t.Errorf("publish with a dead node: %+v", r)
	}
	f.answers(100)
	stop()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for err := error(nil); err == nil; _, err = f.ask(0) {
			}
		})
	}
	f.front.signal(syscall.SIGKILL)
	_ = f.front.cmd.Wait()
	callers.Wait()
	f.front = serve(t, f.flags("--drain-delay", "0s")...)
	stop = f.load()
	defer stop()
	f.answers(40)
	f.must("drain", "n3")
	for i, s := range f.state().Collections["books"].Current.Shards {
		if slices.Contains(s.Replicas, "n3") || len(s.Replicas) != 2 {
			t.Errorf("shard %d is on %v after the drain of n3", i, s.Replicas)
		}
	}
	f.answers(100)
	stop()
}

// TestControlLeaderKilled: the NATS server that leads the store of the map is killed while shards are
// published under load.
func TestControlLeaderKilled(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 3, ""), "n1", "n2")
	stop := f.load()
	defer stop()
	f.answers(40)
	must(t, "cluster", "split", "-o", "more", "--shards", "3", "books.hdl")
	rename(t, "more", "books")
	conn, err := transport.Connect(f.controls[0].url, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn.Conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_heddle")
	if err != nil {
		t.Fatal(err)
	}
	info := stream.CachedInfo()
	if info.Config.Replicas != 3 {
		t.Errorf("the map is on %d control nodes, want 3", info.Config.Replicas)
	}
	published := make(chan result, 1)
	go func() {
		for {
			r := f.run("publish", "more", "--timeout", "60s") // the same command waits for the same change
			if r.code == 0 || t.Context().Err() != nil {
				published <- r
				return
			}
		}
	}()
	killed := false
	for _, c := range f.controls {
		if c.name == info.Cluster.Leader {
			c.kill()
			killed = true
		}
	}
	if !killed {
		t.Fatalf("no control node is the leader: %+v", info.Cluster)
	}
	if r := <-published; r.code != 0 {
		t.Errorf("publish: %+v", r)
	}
	f.answers(100)
	stop()
	if m := f.state().Collections["books"].Current; len(m.Shards) != 3 || m.Epoch < 2 {
		t.Errorf("after the publish the map is %+v", m)
	}
	wantFailure(t, heddle(t, "cluster", "status", "--cluster", f.controls[0].url+","+f.controls[1].url, "--control-replicas", "1"), exitFailure, "it is on 3 control nodes, and cluster.control_replicas is 1")
}

// TestSilentConnections: a connection drops all bytes without an end, between the server and NATS,
// a node and NATS, and the server and a node.
func TestSilentConnections(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	nats := strings.TrimPrefix(f.controls[0].url, "nats://")
	ofServer, ofNode, calls := newProxy(t, nats), newProxy(t, nats), newProxy(t, "")
	calls.to = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	writeFile(t, "n2.toml", fmt.Sprintf("[cluster]\nurl = \"http://%s\"\n", calls.at()))
	f.nodes["n2"].end()
	f.nodes["n2"] = serve(t, "--config", "n2.toml", "--cluster", "nats://"+ofNode.at(), "--node", "n2", "--data", "n2", "--listen", calls.to)
	f.front = serve(t, "--cluster", "nats://"+ofServer.at(), "--drain-delay", "0s")
	stop := f.load()
	defer stop()
	f.answers(40)
	for _, p := range []*proxy{ofServer, ofNode} {
		p.silence(true)
		f.answers(400)
		p.silence(false)
		f.answers(100)
	}
	f.controls[0].kill() // all calls go over HTTP
	f.answers(100)
	calls.silence(true)
	f.answers(100)
	calls.silence(false)
	f.answers(100)
	stop()
}

// TestFullDisk: a publish that does not fit on the disk of a node ends with its reason, and the shards of
// before stay in service.
func TestFullDisk(t *testing.T) {
	testneeds.Sequential(t)
	testneeds.Waits(t)
	inTempDir(t)
	if err := os.Mkdir("n2", 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, newControls(t, 1, ""), "n1", "n3")
	before := f.state().Collections["books"].Current
	smallDisk(t, "n2", 16<<10)
	f.node("n2")
	stop := f.load()
	defer stop()
	f.answers(40)
	r := f.run("publish", "books", "--replicas", "3")
	wantFailure(t, r, exitDisk, "node n2", "the disk is full")
	f.answers(40)
	stop()
	if m := f.state().Collections["books"].Current; !reflect.DeepEqual(m, before) {
		t.Errorf("the map is %+v, want %+v", m, before)
	}
}
