package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/layout"
)

// noLoader opens nothing.
type noLoader struct{}

func (noLoader) Load(context.Context, string, uint64, int, string, string) error { return nil }

func (noLoader) Unload(string, uint64) {}

func (noLoader) Drop(string, uint64, int) {}

// published returns a store with a map of one shard on node a, and a folder of this node.
func published(t *testing.T) (*Memory, *Keeper) {
	t.Helper()
	kv := &Memory{Nodes: []string{"a"}}
	k := &Keeper{KV: kv, Node: "a", Dir: t.TempDir(), Loader: noLoader{}, Poll: time.Millisecond}
	kv.Cluster = func(string) string { id, _ := k.Cluster(); return id }
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &layout.Map{Name: "books", Kind: layout.Index, Docs: 1, Shards: []layout.Shard{{File: "x", Docs: 1, Bytes: 1, SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}}
	if _, err := (Operator{KV: kv}).Publish(t.Context(), m, 1, source); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := k.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return kv, k
}

// TestForeign: a node of one cluster does nothing to the store of another one.
func TestForeign(t *testing.T) {
	_, mine := published(t)
	other, _ := published(t)
	before := other.revision
	again := &Keeper{KV: other, Node: "a", Dir: mine.Dir, Loader: noLoader{}, Poll: time.Millisecond}
	err := again.Run(t.Context(), nil)
	foreign, is := errors.AsType[*ForeignError](err)
	if !is || foreign.Mine == foreign.Stores || !strings.Contains(err.Error(), mine.Dir+" belongs to cluster "+foreign.Mine) {
		t.Errorf("error %v", err)
	}
	if other.revision != before || mine.Find("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881") == "" {
		t.Error("the node has changed the store, or has lost a file")
	}
	mine.KV = other // NATS comes back as another one: the node goes on with its shards
	if err := mine.Step(t.Context()); !errors.As(err, &foreign) || mine.Ready() != nil || other.revision != before {
		t.Errorf("%v, ready %v", err, mine.Ready())
	}
}

// TestLostMap: a store has lost the map of a collection. Changes that end without effect there do not end the
// collection; a removal does, also where the store then loses the data again.
func TestLostMap(t *testing.T) {
	const sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	other := &layout.Map{Name: "books", Kind: layout.Index, Docs: 1, Shards: []layout.Shard{{File: "y", Docs: 1, Bytes: 1, SHA256: hash('1')}}}
	for cancelled := range 3 {
		for _, removed := range []bool{false, true} {
			kv, k := published(t)
			lose := func() {
				*kv = Memory{Nodes: kv.Nodes, Cluster: kv.Cluster}
			}
			o, ctx := Operator{KV: kv}, t.Context()
			lose()
			for range cancelled {
				if _, err := o.Publish(ctx, other, 1); err != nil {
					t.Fatal(err)
				}
				if err := o.Cancel(ctx, "books"); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := k.Step(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if removed {
				if err := o.Remove(ctx, "books"); err != nil {
					t.Fatal(err)
				}
				if err := k.Step(ctx); err != nil {
					t.Fatal(err)
				}
				lose()
				if err := k.Step(ctx); err != nil {
					t.Fatal(err)
				}
			}
			s, _, err := get(ctx, kv, "books")
			if err != nil || (s.Current == nil) != removed || s.Intent != nil || !removed && k.Find(sum) == "" {
				t.Errorf("%d cancelled, removed %v: %+v, error %v", cancelled, removed, s, err)
			}
		}
	}
}

// TestLostRemoval: a node gives the map of a collection back to a store that has lost its data, and has missed the
// removal. Another node knows it, and the collection ends. A collection that is published again stays.
func TestLostRemoval(t *testing.T) {
	kv, late := published(t)
	kv.Nodes = []string{"a", "b"}
	k, o, ctx := &Keeper{KV: kv, Node: "b", Dir: t.TempDir(), Loader: noLoader{}, Poll: time.Millisecond}, Operator{KV: kv}, t.Context()
	step := func(all ...*Keeper) {
		t.Helper()
		for _, k := range all {
			if err := k.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	served := func() bool {
		t.Helper()
		s, _, err := get(ctx, kv, "books")
		if err != nil {
			t.Fatal(err)
		}
		return s.Current != nil
	}
	lose := func() { *kv = Memory{Nodes: kv.Nodes, Cluster: kv.Cluster} }
	step(k)
	s, _, err := get(ctx, kv, "books")
	if err != nil {
		t.Fatal(err)
	}
	m := clone(s.Current)
	if err := o.Remove(ctx, "books"); err != nil {
		t.Fatal(err)
	}
	step(k)
	lose()
	step(late)
	if !served() {
		t.Fatal("the late node has not given the map back")
	}
	step(k, late, k, late)
	if file := late.Find(m.Shards[0].SHA256); served() || file != "" {
		t.Errorf("the removed collection is served, file %q", file)
	}

	m.Epoch = 9
	lose()
	if _, err := put(ctx, kv, "books", &State{Epoch: 9, Current: m, Failure: lost}, 0); err != nil {
		t.Fatal(err)
	}
	step(k)
	if !served() {
		t.Error("the collection that was published again is not served")
	}
}

// TestLostIdentity: a publish to a store that has lost its data takes the identity of its nodes. Nodes of
// two clusters end it.
func TestLostIdentity(t *testing.T) {
	kv, k := published(t)
	id, err := k.Cluster()
	if err != nil || !ids().MatchString(id) {
		t.Fatalf("%q, %v", id, err)
	}
	*kv = Memory{Nodes: []string{"a", "b"}, Cluster: func(node string) string { return map[string]string{"a": id}[node] }}
	o := Operator{KV: kv}
	if err := o.found(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := storedID(t.Context(), kv); err != nil || got != id {
		t.Errorf("%q, %v, want %q", got, err, id)
	}
	*kv = Memory{Nodes: []string{"a", "b"}, Cluster: func(node string) string { return node }}
	if err := o.found(t.Context()); err == nil || !strings.Contains(err.Error(), "nodes of two clusters answer") {
		t.Errorf("error %v", err)
	}
}

// TestWrongIdentity: a damaged identity ends the step before the node follows a map.
func TestWrongIdentity(t *testing.T) {
	kv, k := published(t)
	if err := os.WriteFile(filepath.Join(k.Dir, idFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := &Keeper{KV: kv, Node: "a", Dir: k.Dir, Loader: noLoader{}}
	if err := again.Step(t.Context()); err == nil || !strings.Contains(err.Error(), `cluster: "x" is no identity`) {
		t.Errorf("error %v", err)
	}
}

// TestTwoProcesses: two processes that report under one name notice each other. A process that starts again
// elsewhere does not.
func TestTwoProcesses(t *testing.T) {
	kv, k := published(t)
	k.URL = "http://first"
	for range 2 {
		if err := k.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again := &Keeper{KV: kv, Node: "a", Dir: k.Dir, Loader: noLoader{}, URL: "http://second"}
	for range 2 {
		if err := again.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "another process, at http://second, reports as node a") {
		t.Errorf("error %v", err)
	}
	if err := again.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "at http://first") {
		t.Errorf("error %v", err)
	}
}
