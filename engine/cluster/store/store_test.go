package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine/cluster/fetch"
	"heddle/engine/internal/layout"
)

var errCrash = errors.New("crash")

// fragile is a store that a process uses. The process ends after some operations: left counts
// them, and the last one may have taken effect.
type fragile struct {
	*Memory
	left    int
	applied bool
}

func (f *fragile) dead() bool { f.left--; return f.left < 0 }

func (f *fragile) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if f.dead() {
		return nil, 0, errCrash
	}
	return f.Memory.Get(ctx, key)
}

func (f *fragile) Put(ctx context.Context, key string, v []byte, r uint64) (uint64, error) {
	if f.dead() {
		if f.left == -1 && f.applied {
			f.Memory.Put(ctx, key, v, r)
		}
		return 0, errCrash
	}
	return f.Memory.Put(ctx, key, v, r)
}

// loader holds the epochs that a process has open, and refuses the file bad.
type loader struct {
	t    *rapid.T
	open map[Part]string
	bad  string
}

func (l *loader) Load(_ context.Context, name string, epoch uint64, shard int, path, attributes string) error {
	if attributes != "" {
		if err := l.check(attributes); err != nil {
			return err
		}
	}
	if err := l.check(path); err != nil {
		return err
	}
	l.open[Part{name, epoch, shard}] = path
	return nil
}

// check reads a file.
func (l *loader) check(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatalf("load: %v", err)
	}
	sum := sha256.Sum256(data)
	if !strings.HasPrefix(filepath.Base(path), hex.EncodeToString(sum[:])) {
		l.t.Fatalf("%s has other bytes", path)
	}
	if string(data) == l.bad {
		return errors.New("bad file")
	}
	return nil
}

func (l *loader) Unload(name string, epoch uint64) {
	for p := range l.open {
		if p.Name == name && p.Epoch == epoch {
			delete(l.open, p)
		}
	}
}

func (l *loader) Drop(name string, epoch uint64, shard int) { delete(l.open, Part{name, epoch, shard}) }

// world is a cluster of nodes with folders, and a clock for each of them.
type world struct {
	t       *rapid.T
	kv      Memory
	folder  string
	keepers map[string]*Keeper
	loaders map[string]*loader
	clock   time.Duration
	skew    map[string]time.Duration
	epoch   uint64 // the last current one
	changed time.Duration
	old     []*layout.Map // maps that were current less than a deadline ago, with its end in ends
	ends    []time.Duration
	up      map[string]time.Duration
	killed  map[string]bool // changes may have completed without these nodes
	id      string          // identity of the cluster, once it has one
	url     string
}

const deadline = 10 * time.Second

var allNodes = []string{"a", "b", "c"}

func newWorld(t *rapid.T, url string, folder string) *world {
	w := &world{t: t, folder: folder, keepers: map[string]*Keeper{}, loaders: map[string]*loader{}, skew: map[string]time.Duration{}, up: map[string]time.Duration{}, killed: map[string]bool{}, url: url}
	w.kv.Nodes = allNodes
	w.kv.Cluster = func(node string) string {
		id, err := w.keepers[node].Cluster()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for i, n := range allNodes {
		w.skew[n] = time.Duration(i-1) * time.Hour
		w.start(n)
	}
	return w
}

// start begins a new process of a node with the folder of the old one.
func (w *world) start(n string) {
	w.loaders[n] = &loader{t: w.t, open: map[Part]string{}, bad: "bad"}
	w.up[n] = w.clock
	w.keepers[n] = &Keeper{KV: &w.kv, Node: n, Dir: filepath.Join(w.folder, n), URL: w.url + "/" + filepath.Base(w.folder) + "/" + n, Loader: w.loaders[n],
		Deadline: deadline, now: func() time.Time { return time.Unix(1e9, 0).Add(w.clock + w.skew[n]) }}
}

// manifest writes the files of a collection and returns its manifest.
func (w *world) manifest(contents ...string) *layout.Map {
	m := &layout.Map{Name: "books", Kind: layout.Index}
	for i, c := range contents {
		sum := sha256.Sum256([]byte(c))
		s := layout.Shard{File: fmt.Sprintf("%s-%d.hdl", c, i), First: m.Docs, Docs: 1, Bytes: uint64(len(c)), SHA256: hex.EncodeToString(sum[:])}
		if err := os.WriteFile(filepath.Join(w.folder, s.File), []byte(c), 0o600); err != nil {
			w.t.Fatal(err)
		}
		if len(contents) == 3 {
			text := "attributes of " + c
			sum := sha256.Sum256([]byte(text))
			s.Attributes = &layout.File{File: s.File + ".hdb", Bytes: uint64(len(text)), SHA256: hex.EncodeToString(sum[:])}
			if err := os.WriteFile(filepath.Join(w.folder, s.Attributes.File), []byte(text), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}
		m.Docs++
		m.Shards = append(m.Shards, s)
	}
	return m
}

// check states the properties that hold at every moment.
func (w *world) check() {
	s, _, err := get(w.t.Context(), &w.kv, "books")
	if err != nil {
		w.t.Fatalf("invalid state: %v", err)
	}
	if id, err := storedID(w.t.Context(), &w.kv); err != nil || id != "" && w.id != "" && id != w.id {
		w.t.Fatalf("the cluster %s has become %s, error %v", w.id, id, err)
	} else if id != "" {
		w.id = id
	}
	if s.Current == nil {
		return
	}
	if s.Current.Epoch < w.epoch {
		w.t.Fatalf("epoch %d after %d", s.Current.Epoch, w.epoch)
	}
	if s.Current.Epoch > w.epoch {
		w.epoch, w.changed = s.Current.Epoch, w.clock
		w.old, w.ends = append(w.old, s.Current), append(w.ends, 1<<62)
		if n := len(w.ends); n > 1 {
			w.ends[n-2] = w.clock + deadline
		}
	}
	for i, m := range w.old {
		if w.clock >= w.ends[i] {
			continue
		}
		for n, shard := range m.Shards {
			for _, node := range shard.Replicas {
				k := w.keepers[node]
				_, open := w.loaders[node].open[Part{"books", m.Epoch, n}]
				if w.up[node] == 0 && !open {
					w.t.Fatalf("node %s no longer has shard %d of epoch %d, which queries may ask for", node, n, m.Epoch)
				}
				for _, f := range shard.Files() {
					if m == s.Current && !w.killed[node] && k.Find(f.SHA256) == "" {
						w.t.Fatalf("node %s has lost %s of shard %d of the current epoch", node, f.File, n)
					}
				}
			}
		}
		if m.Epoch == s.Current.Epoch {
			w.old[i] = s.Current
		}
	}
}

// TestCrashes: two operators and three nodes whose clocks differ by hours take steps in any order
// and end at any operation. No epoch is used twice, no shard is lost, queries of the last deadline
// find their epoch, and at the end all is as the maps say.
func TestCrashes(t *testing.T) {
	root := t.TempDir()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		part := strings.Split(r.URL.Path, "/") // /WORLD/NODE/files/SUM
		k := Keeper{Dir: filepath.Join(root, part[1], part[2])}
		fetch.Handler(k.Find).ServeHTTP(rw, r)
	}))
	defer server.Close()
	rapid.Check(t, func(t *rapid.T) {
		folder, err := os.MkdirTemp(root, "w")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		w, ctx := newWorld(t, server.URL, folder), t.Context()
		manifests := []*layout.Map{w.manifest("one", "two"), w.manifest("one", "three", "four"), w.manifest("bad", "two")}
		node := rapid.SampledFrom(allNodes)
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			broken := &fragile{Memory: &w.kv, left: 1 << 30}
			if rapid.IntRange(0, 2).Draw(t, "crashes") == 0 {
				broken.left, broken.applied = rapid.IntRange(0, 12).Draw(t, "after"), rapid.Bool().Draw(t, "applied")
			}
			o := Operator{KV: broken} // a crash is an error of these calls
			switch rapid.SampledFrom([]string{"step", "step", "round", "round", "publish", "publish", "move", "drain", "undrain", "rebalance", "cancel", "time", "kill", "revive", "lose"}).Draw(t, "action") {
			case "publish":
				_, _ = o.Publish(ctx, rapid.SampledFrom(manifests).Draw(t, "manifest"), rapid.IntRange(1, 2).Draw(t, "replicas"), folder)
			case "move":
				_, _ = o.Move(ctx, "books", rapid.IntRange(0, 2).Draw(t, "shard"), node.Draw(t, "from"), node.Draw(t, "to"))
			case "drain":
				_, _ = o.Drain(ctx, node.Draw(t, "node"))
			case "undrain":
				_ = o.Undrain(ctx, node.Draw(t, "node"))
			case "rebalance":
				_, _ = o.Rebalance(ctx, "books")
			case "cancel":
				_ = o.Cancel(ctx, "books")
			case "round": // all nodes, without a crash
				w.round(ctx)
			case "kill": // for longer than a change waits
				if n := node.Draw(t, "node"); len(w.kv.Nodes) == 3 {
					w.kv.Nodes = slices.DeleteFunc(slices.Clone(w.kv.Nodes), func(x string) bool { return x == n })
					w.start(n)
					w.up[n], w.killed[n] = 1, true // its memory is gone
				}
			case "revive":
				w.kv.Nodes = allNodes
			case "lose": // all that the store has, when its nodes have seen the last change
				w.round(ctx)
				if s, _, err := get(ctx, &w.kv, "books"); err == nil && len(w.kv.Nodes) == 3 && s.Epoch > 0 && s.Intent == nil {
					w.round(ctx)
					w.kv = Memory{Nodes: w.kv.Nodes, Cluster: w.kv.Cluster}
				}
			case "time":
				w.clock += time.Duration(rapid.IntRange(1, 15).Draw(t, "seconds")) * time.Second
			case "step":
				n := node.Draw(t, "node")
				if !slices.Contains(w.kv.Nodes, n) {
					continue
				}
				w.keepers[n].KV = broken
				_ = w.keepers[n].Step(ctx)
				w.keepers[n].KV = &w.kv
				if broken.left < 0 { // the process ended
					w.start(n)
					w.up[n] = 1 // its memory is gone
				}
			}
			w.check()
		}
		w.settle(ctx)
	})
}

// round lets all live nodes take a step, without a crash.
func (w *world) round(ctx context.Context) {
	for _, n := range w.kv.Nodes {
		_ = w.keepers[n].Step(ctx) // a bad file is an error
		w.check()
	}
}

// TestReusedEpoch: a store without its data gives an epoch to another map. The node closes its shards of
// the epoch if that map gives it other shards, or other files.
func TestReusedEpoch(t *testing.T) {
	mine, other := []string{"a"}, []string{"b"}
	for name, shards := range map[string][]layout.Shard{
		"another node": {{SHA256: "one", Replicas: mine}, {SHA256: "two", Replicas: other}},
		"another file": {{SHA256: "one", Replicas: mine}, {SHA256: "three", Replicas: mine}},
		"fewer shards": {{SHA256: "one", Replicas: mine}},
		"attributes":   {{SHA256: "one", Replicas: mine, Attributes: &layout.File{SHA256: "three"}}, {SHA256: "two", Replicas: mine}},
		"":             {{SHA256: "one", Replicas: mine}, {SHA256: "two", Replicas: mine}},
	} {
		l := &loader{open: map[Part]string{{"books", 1, 0}: "", {"books", 1, 1}: "", {"books", 2, 0}: ""}}
		k := &Keeper{Node: "a", Loader: l, loaded: map[Part]string{{"books", 1, 0}: "one", {"books", 1, 1}: "two", {"books", 2, 0}: "two"}}
		k.replace(&layout.Map{Name: "books", Epoch: 1, Shards: shards})
		want := 3
		if name != "" {
			want = 1 // one shard, of the other epoch
		}
		if len(l.open) != want || len(k.loaded) != want {
			t.Errorf("%s: open %v, noted %v", name, l.open, k.loaded)
		}
	}
}

// waits tells whether a change without sources needs a file that no live node has: a move from a node that is down.
func (w *world) waits(e *Intent) bool {
	return len(e.Sources) == 0 && slices.ContainsFunc(e.Target.Shards, func(s layout.Shard) bool {
		return slices.ContainsFunc(s.Files(), func(f layout.File) bool {
			return !slices.ContainsFunc(w.kv.Nodes, func(n string) bool { return w.keepers[n].Find(f.SHA256) != "" })
		})
	})
}

// settle lets the live nodes run without crashes until all changes have ended that do not wait for another node, then all
// nodes. Nothing is left of old epochs.
func (w *world) settle(ctx context.Context) {
	for range 8 {
		w.round(ctx)
		w.clock += ask
	}
	if s, _, err := get(ctx, &w.kv, "books"); err != nil || s.Intent != nil && !w.waits(s.Intent) {
		w.t.Fatalf("with the nodes %v the change does not end: %+v, error %v", w.kv.Nodes, s, err)
	}
	w.kv.Nodes = allNodes
	w.round(ctx) // the others may ask for a file before its node reports it
	for range 8 {
		for _, n := range w.kv.Nodes {
			if err := w.keepers[n].Step(ctx); err != nil && !strings.Contains(err.Error(), "bad file") {
				w.t.Fatal(err)
			}
			w.check()
		}
		w.clock += deadline
	}
	s, _, err := get(ctx, &w.kv, "books")
	if err != nil || s.Intent != nil {
		w.t.Fatalf("the change does not end: %+v, error %v", s, err)
	}
	for _, n := range w.kv.Nodes {
		var want, wantFiles []string
		if s.Current != nil {
			for i, shard := range s.Current.Shards {
				if slices.Contains(shard.Replicas, n) {
					want, wantFiles = append(want, fmt.Sprint(s.Current.Epoch, i)), append(wantFiles, shard.SHA256+".hdl")
					if shard.Attributes != nil {
						wantFiles = append(wantFiles, shard.Attributes.SHA256+".hdb")
					}
				}
			}
		}
		var have, files []string
		for p := range w.loaders[n].open {
			have = append(have, fmt.Sprint(p.Epoch, p.Shard))
		}
		found, err := os.ReadDir(filepath.Join(w.folder, n, "files"))
		for _, f := range found {
			files = append(files, f.Name())
		}
		slices.Sort(have)
		slices.Sort(files)
		slices.Sort(wantFiles)
		if err != nil || !slices.Equal(have, want) || !slices.Equal(files, slices.Compact(wantFiles)) {
			w.t.Fatalf("node %s has %v and %v, want %v and %v, error %v", n, have, files, want, wantFiles, err)
		}
	}
}
