package store

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/cluster/fetch"
	"heddle/engine/internal/layout"
)

// reader opens files that have their content, and remembers their parts.
type reader struct {
	content map[string]string // by checksum
	open    map[Part]bool
	dropped int
	lazy    bool // does not read the content
}

func (r *reader) Load(_ context.Context, name string, epoch uint64, shard int, path, attributes string) error {
	for _, p := range []string{path, attributes} {
		if data, err := os.ReadFile(p); p != "" && !r.lazy && (err != nil || string(data) != r.content[sumOf(p)]) {
			return fmt.Errorf("%s has %q, %v", p, data, err)
		}
	}
	r.open[Part{name, epoch, shard}] = true
	return nil
}

func (r *reader) Unload(string, uint64) { clear(r.open) }

func (r *reader) Drop(name string, epoch uint64, shard int) {
	r.dropped++
	delete(r.open, Part{name, epoch, shard})
}

// healing is a cluster of two nodes with one shard, its attributes, and the folder of the publish.
type healing struct {
	*testing.T
	kv      *Memory
	source  string
	names   []string // names of the files of a node
	content map[string]string
	nodes   map[string]*Keeper
	readers map[string]*reader
	damages map[string][]Damage
}

func newHealing(t *testing.T) *healing {
	h := &healing{T: t, kv: &Memory{Nodes: []string{"a", "b"}}, source: t.TempDir(), content: map[string]string{},
		nodes: map[string]*Keeper{}, readers: map[string]*reader{}, damages: map[string][]Damage{}}
	m := &layout.Map{Name: "books", Kind: layout.Index, Docs: 1, Shards: []layout.Shard{{Docs: 1}}}
	for _, name := range []string{"x.hdl", "x.hdb"} {
		if err := os.WriteFile(filepath.Join(h.source, name), []byte("the content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := layout.Describe(filepath.Join(h.source, name), name)
		if err != nil {
			t.Fatal(err)
		}
		h.names, h.content[f.SHA256] = append(h.names, f.SHA256+filepath.Ext(name)), "the content of "+name
		if s := &m.Shards[0]; name == "x.hdl" {
			s.File, s.Bytes, s.SHA256 = f.File, f.Bytes, f.SHA256
		} else {
			s.Attributes = &f
		}
	}
	for _, n := range h.kv.Nodes {
		h.start(n, t.TempDir())
		files := httptest.NewServer(fetch.Handler(h.nodes[n].Find))
		t.Cleanup(files.Close)
		h.nodes[n].URL = files.URL
	}
	if _, err := (Operator{KV: h.kv}).Publish(t.Context(), m, 2, h.source); err != nil {
		t.Fatal(err)
	}
	h.steps(3)
	return h
}

// start begins a process of a node.
func (h *healing) start(n, dir string) {
	h.readers[n] = &reader{content: h.content, open: map[Part]bool{}}
	k := &Keeper{KV: h.kv, Node: n, Dir: dir, Loader: h.readers[n], Damaged: func(d Damage) { h.damages[n] = append(h.damages[n], d) }}
	if old := h.nodes[n]; old != nil {
		k.URL = old.URL
	}
	h.nodes[n] = k
}

// steps lets all nodes take steps, and returns the last errors.
func (h *healing) steps(count int) (errs []error) {
	for range count {
		errs = nil
		for _, n := range h.kv.Nodes {
			if err := h.nodes[n].Step(h.Context()); err != nil {
				errs = append(errs, err)
			}
			h.nodes[n].health.checks.Wait()
		}
	}
	return errs
}

// path is the path of a file of a node.
func (h *healing) path(n string, file int) string {
	return filepath.Join(h.nodes[n].Dir, "files", h.names[file])
}

// write changes a file behind the back of its node.
func (h *healing) write(path, content string) {
	h.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.Fatal(err)
	}
}

// hide changes a file of the same size, and keeps the time of its last change.
func (h *healing) hide(path, content string) {
	h.Helper()
	info, err := os.Stat(path)
	if err == nil {
		h.write(path, content)
		err = os.Chtimes(path, time.Time{}, info.ModTime())
	}
	if err != nil || int(info.Size()) != len(content) {
		h.Fatal(err)
	}
}

// want fails unless node a serves intact files, has the damaged one aside, and has reported both.
func (h *healing) want(file int, damaged string) {
	h.Helper()
	k := h.nodes["a"]
	for i, name := range h.names {
		if data, err := os.ReadFile(h.path("a", i)); string(data) != h.content[sumOf(name)] {
			h.Errorf("%s has %q, %v", name, data, err)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(k.Dir, aside, h.names[file])); string(data) != damaged {
		h.Errorf("the damaged file has %q, want %q", data, damaged)
	}
	if !h.readers["a"].open[Part{"books", 1, 0}] || k.Ready() != nil {
		h.Errorf("the shard is not open: %v", k.Ready())
	}
	d := h.damages["a"]
	if len(d) != 2 || d[0].Healed || !d[1].Healed || d[0].File != h.names[file] || d[1].File != d[0].File || d[0].Error == "" {
		h.Errorf("reports %+v", d)
	}
	s, err := Operator{KV: h.kv}.Status(h.Context())
	if err != nil || !slices.Equal(s.Nodes["a"].Damaged, d[len(d)-1:]) || s.Nodes["b"].Damaged != nil {
		h.Errorf("status %+v, %v", s.Nodes["a"], err)
	}
}

const (
	cutShort = "the con"
	flipped  = "the content oF x.hdl"
)

// TestHeal: a file that is cut, changed, lost or rotten, while it is open or while its node is away, comes back
// from the other node, or from the source of the publish if the other node is away or has the same damage.
func TestHeal(t *testing.T) {
	for name, c := range map[string]struct {
		damage  func(h *healing)
		file    int
		damaged string
	}{
		"cut":        {func(h *healing) { h.write(h.path("a", 0), cutShort) }, 0, cutShort},
		"attributes": {func(h *healing) { h.write(h.path("a", 1), cutShort) }, 1, cutShort},
		"changed":    {func(h *healing) { h.write(h.path("a", 0), flipped) }, 0, flipped},
		"lost":       {func(h *healing) { _ = os.Remove(h.path("a", 0)) }, 0, ""},
		"doubted": {func(h *healing) {
			h.hide(h.path("a", 0), flipped)
			if h.steps(2); len(h.damages["a"]) > 0 {
				h.Error("the test changes the time of the file")
			}
			h.nodes["a"].Doubt(Part{"books", 1, 0})
		}, 0, flipped},
		"regular check": {func(h *healing) { h.hide(h.path("a", 0), flipped); h.nodes["a"].Verify = time.Hour }, 0, flipped},
		"cut while away": {func(h *healing) {
			h.start("a", h.nodes["a"].Dir)
			h.write(h.path("a", 0), cutShort)
		}, 0, cutShort},
		"changed while away": {func(h *healing) {
			h.start("a", h.nodes["a"].Dir)
			h.hide(h.path("a", 0), flipped)
		}, 0, flipped},
		"cut without a trace": {func(h *healing) {
			info, err := os.Stat(h.path("a", 0))
			if err != nil {
				h.Fatal(err)
			}
			h.write(h.path("a", 0), cutShort)
			if err := os.Chtimes(h.path("a", 0), time.Time{}, info.ModTime()); err != nil {
				h.Fatal(err)
			}
		}, 0, cutShort},
		"cut while away, seen late": {func(h *healing) {
			h.start("a", h.nodes["a"].Dir)
			h.readers["a"].lazy = true
			h.write(h.path("a", 0), cutShort)
		}, 0, cutShort},
		"changed while away, seen late": {func(h *healing) {
			h.start("a", h.nodes["a"].Dir)
			h.readers["a"].lazy, h.nodes["a"].Verify = true, time.Hour
			h.hide(h.path("a", 0), flipped)
		}, 0, flipped},
		"source": {func(h *healing) {
			h.kv.Nodes = []string{"a"}
			if err := h.kv.Delete(h.Context(), nodeKey+"b"); err != nil {
				h.Fatal(err)
			}
			h.write(h.path("a", 0), cutShort)
		}, 0, cutShort},
		"other node": {func(h *healing) {
			_ = os.Remove(filepath.Join(h.source, "x.hdl"))
			h.write(h.path("a", 0), cutShort)
		}, 0, cutShort},
		"damaged other node": {func(h *healing) {
			h.kv.Nodes = []string{"a"} // b serves files, but does not inspect them
			h.write(h.path("b", 0), flipped)
			h.write(h.path("a", 0), cutShort)
		}, 0, cutShort},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealing(t)
			if len(h.damages["a"]) > 0 {
				t.Fatalf("intact files: %+v", h.damages)
			}
			if c.damage(h); name == "source" {
				h.nodes["b"] = nil
			}
			if errs := h.steps(4); errs != nil {
				t.Error(errs)
			}
			if h.nodes["b"] == nil {
				h.kv.Nodes, h.nodes["b"] = []string{"a"}, new(Keeper)
				h.kv.Put(t.Context(), nodeKey+"b", []byte("{}"), 0)
			}
			h.want(c.file, c.damaged)
		})
	}
}

// TestHealNothing: a file that is touched, or that a query doubts in error, stays open. A damaged file that
// no one else has stays out of service, and the node says so; it goes with its collection.
func TestHealNothing(t *testing.T) {
	h := newHealing(t)
	if err := os.Chtimes(h.path("a", 0), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.nodes["a"].Doubt(Part{"books", 1, 0})
	h.nodes["a"].Doubt(Part{"other", 1, 0})
	h.nodes["a"].Verify = time.Nanosecond
	if errs := h.steps(3); errs != nil || h.readers["a"].dropped > 0 || len(h.damages["a"]) > 0 {
		t.Errorf("%v, %+v", errs, h.damages["a"])
	}
	_ = os.Remove(filepath.Join(h.source, "x.hdl"))
	for _, n := range h.kv.Nodes {
		h.write(h.path(n, 0), cutShort)
	}
	errs := h.steps(3)
	if len(errs) != 2 || !strings.Contains(errs[0].Error(), "x.hdl") || h.nodes["a"].Ready() == nil || len(h.readers["a"].open) > 0 {
		t.Errorf("%v, ready %v", errs, h.nodes["a"].Ready())
	}
	if err := (Operator{KV: h.kv}).Remove(t.Context(), "books"); err != nil {
		t.Fatal(err)
	}
	if errs := h.steps(2); errs != nil {
		t.Error(errs)
	}
	if left, _ := os.ReadDir(filepath.Join(h.nodes["a"].Dir, aside)); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestHealChange: a change that meets a damaged file waits for its repair, and does not fail for it.
func TestHealChange(t *testing.T) {
	h := newHealing(t)
	h.hide(h.path("a", 0), flipped)
	s, _, err := get(t.Context(), h.kv, "books")
	if err != nil {
		t.Fatal(err)
	}
	next := clone(s.Current)
	next.Epoch, next.Length = 0, 7
	if _, err := (Operator{KV: h.kv}).Publish(t.Context(), next, 2, h.source); err != nil {
		t.Fatal(err)
	}
	h.steps(3)
	if s, _, err = get(t.Context(), h.kv, "books"); err != nil || s.Failure != "" || s.Current.Epoch != 2 || len(h.damages["a"]) != 2 {
		t.Errorf("%+v, %v, reports %+v", s, err, h.damages["a"])
	}
}

// TestMostDamage: a report has the latest damages.
func TestMostDamage(t *testing.T) {
	var k Keeper
	for i := range mostDamage + 2 {
		k.note(Damage{File: fmt.Sprint(i)})
	}
	k.note(Damage{File: "3", Healed: true})
	if all := k.health.damages; len(all) != mostDamage || all[0].File != "2" || all[mostDamage-1] != (Damage{File: "3", Healed: true}) {
		t.Errorf("%d damages: %+v", len(all), all)
	}
}

// TestPutAside: a shard whose index or attributes are damaged is not loaded.
func TestPutAside(t *testing.T) {
	for _, damaged := range []string{"index", "attributes"} {
		p, other := Part{"books", 1, 0}, Part{"books", 1, 1}
		l := &loader{open: map[Part]string{p: "", other: ""}}
		k := &Keeper{Dir: t.TempDir(), Loader: l, loaded: map[Part]string{p: "index", other: "other"}, attributes: map[Part]string{p: "attributes", other: "more"}}
		if err := k.putAside(k.path(layout.Index, damaged), errors.New("damaged")); err != nil {
			t.Fatal(err)
		}
		if len(l.open) != 1 || len(k.loaded) != 1 || len(k.attributes) != 1 || k.attributes[other] != "more" {
			t.Errorf("%s: open %v, loaded %v, attributes %v", damaged, l.open, k.loaded, k.attributes)
		}
	}
}
