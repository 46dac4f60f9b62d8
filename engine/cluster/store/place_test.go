package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine/internal/layout"
)

// TestBalance: after balance no single move would even the nodes, and no better state was spoilt. Shards on nodes
// that take none stay there, and no node has a shard twice.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "nodes")]
		most := rapid.IntRange(1, len(nodes)).Draw(t, "replicas")
		m := &layout.Map{}
		for range rapid.IntRange(0, 8).Draw(t, "shards") {
			on := rapid.Permutation(append([]string{"gone"}, nodes...)).Draw(t, "on")[:most]
			m.Shards = append(m.Shards, layout.Shard{Bytes: uint64(rapid.IntRange(1, 9).Draw(t, "bytes")), Replicas: on})
		}
		count := func(m *layout.Map) map[string]uint64 {
			l := map[string]uint64{}
			for _, n := range nodes {
				l[n] = 0
			}
			for _, s := range m.Shards {
				for _, n := range s.Replicas {
					if _, ok := l[n]; ok {
						l[n] += s.Bytes
					}
				}
			}
			return l
		}
		old := clone(m)
		before := count(m)
		l := load(maps.Clone(before))
		l.balance(m)
		after := count(m)
		if !maps.Equal(after, map[string]uint64(l)) {
			t.Fatalf("it counts %v, the map has %v", l, after)
		}
		spread := func(l map[string]uint64) (sum uint64) {
			for _, bytes := range l {
				sum += bytes * bytes
			}
			return sum
		}
		if changed := fmt.Sprint(old) != fmt.Sprint(m); changed && spread(after) >= spread(before) {
			t.Fatalf("%v becomes %v", before, after)
		}
		for i, s := range m.Shards {
			for r, n := range s.Replicas {
				if _, ok := after[n]; !ok && (n != "gone" || old.Shards[i].Replicas[r] != n) || slices.Contains(s.Replicas[:r], n) {
					t.Fatalf("shard %d is on %q, before on %q", i, s.Replicas, old.Shards[i].Replicas)
				}
				for to, bytes := range after {
					if from, ok := after[n]; ok && !slices.Contains(s.Replicas, to) && bytes+s.Bytes < from {
						t.Fatalf("shard %d of %d bytes can move from %s to %s: %v", i, s.Bytes, n, to, after)
					}
				}
			}
		}
	})
}

// TestPulse: a node counts as dead when it has not answered for the time silence, not earlier, and once. The
// first question of a change begins anew.
func TestPulse(t *testing.T) {
	kv := &Memory{Nodes: []string{"a", "b"}}
	var p pulse
	now := time.Unix(1000, 0)
	dead := func(after time.Duration, want ...string) {
		t.Helper()
		now = now.Add(after)
		got, err := p.dead(t.Context(), kv, []string{"a", "b", "a", "c"}, now)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("after %v: %q, %v, want %q", after, got, err, want)
		}
	}
	dead(0)
	kv.Nodes = []string{"b"}
	for passed := time.Duration(0); passed+ask < silence; passed += ask {
		dead(ask)
	}
	dead(ask - 1)
	dead(1, "a", "c")
	kv.Nodes = []string{"a", "b"}
	dead(ask-1, "a", "c") // not asked yet
	dead(1, "c")
	kv.Nodes = nil
	dead(ask, "c")
	dead(silence) // node of an earlier change
}

// TestMembers: nodes of another cluster take no shards; nodes without a cluster do.
func TestMembers(t *testing.T) {
	kv := &Memory{Nodes: []string{"fresh", "mine", "other"}, Cluster: func(node string) string {
		return map[string]string{"mine": "ID", "other": "XX"}[node]
	}}
	if err := storeID(t.Context(), kv, "ID"); err != nil {
		t.Fatal(err)
	}
	if got, err := (Operator{KV: kv}).members(t.Context()); err != nil || !slices.Equal(got, []string{"fresh", "mine"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := kv.Put(t.Context(), drainKey+"mine", nil, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := (Operator{KV: kv}).free(t.Context()); err != nil || !slices.Equal(got, []string{"fresh"}) {
		t.Errorf("%q may take shards, %v", got, err)
	}
}

// failing is a Loader that refuses some attempts.
type failing struct {
	noLoader
	left int
}

func (f *failing) Load(context.Context, string, uint64, int, string, string) error {
	if f.left--; f.left >= 0 {
		return fmt.Errorf("refused, %d to come", f.left)
	}
	return nil
}

// TestLastingFailure: a node tries a shard of the present map again, whatever the reason of its failure. A change
// ends at once if another attempt would fail the same way.
func TestLastingFailure(t *testing.T) {
	kv, k := published(t)
	again := &Keeper{KV: kv, Node: "a", Dir: k.Dir, Loader: &failing{left: 2}}
	for range 2 {
		if again.Step(t.Context()) == nil || again.Ready() == nil {
			t.Fatal("the node is ready")
		}
		if r, err := Reports(t.Context(), kv); err != nil || len(r["a"].Failed) != 1 || r["a"].Failed[0].Final {
			t.Errorf("report %+v, %v", r["a"], err)
		}
	}
	if err := again.Step(t.Context()); err != nil || again.Ready() != nil {
		t.Errorf("%v, ready %v", err, again.Ready())
	}
	s, _, err := get(t.Context(), kv, "books")
	if err != nil {
		t.Fatal(err)
	}
	next := clone(s.Current)
	next.Epoch, next.Docs, next.Shards[0].Docs = 0, 2, 2 // another map with the same file
	change := func(loader Loader, sources ...string) *State {
		t.Helper()
		if _, err := (Operator{KV: kv}).Publish(t.Context(), next, 1, sources...); err != nil {
			t.Fatal(err)
		}
		again.Loader = loader
		_ = again.Step(t.Context())
		s, _, err := get(t.Context(), kv, "books")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := change(&failing{left: 1}); s.Intent != nil || s.Current.Epoch != 1 || s.Failure == "" {
		t.Errorf("after a refusal: %+v", s)
	}
	next.Shards[0].SHA256 = "0" + next.Shards[0].SHA256[1:]
	if s := change(noLoader{}, t.TempDir()); s.Intent == nil || s.Failure != "" { // the file may come
		t.Errorf("without the file: %+v", s)
	}
}

// TestMonotonic: the times of silent nodes and of closed epochs have readings of the monotonic clock, so that a jump
// of the wall clock ends no wait.
func TestMonotonic(t *testing.T) {
	kv, k := published(t)
	if err := (Operator{KV: kv}).Remove(t.Context(), "books"); err != nil {
		t.Fatal(err)
	}
	k.Deadline = time.Hour
	if err := k.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.pulse.dead(t.Context(), kv, []string{"a"}, k.now()); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{k.retired[collection{"books", 1}], k.pulse.seen["a"], k.pulse.asked} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%v has no monotonic reading", at)
		}
	}
}

// TestLeave: the shards of a node move to nodes that have them not; without one, the node keeps them.
func TestLeave(t *testing.T) {
	m := &layout.Map{Shards: []layout.Shard{{Bytes: 5, Replicas: []string{"a", "b"}}, {Bytes: 3, Replicas: []string{"b", "c"}}}}
	l := load{"a": 5, "b": 8, "c": 3}
	if err := l.leave(m, "a"); err != nil {
		t.Fatal(err)
	}
	if got := m.Shards[0].Replicas; !slices.Equal(got, []string{"c", "b"}) || l["c"] != 8 {
		t.Errorf("replicas %q, %v", got, l)
	}
	delete(l, "a")
	if err := l.leave(m, "b"); err == nil {
		t.Errorf("no node is left, and the replicas are %q", m.Shards[0].Replicas)
	}
}

// TestOvertaken: a wait for a change ends when another change has taken its place.
func TestOvertaken(t *testing.T) {
	kv := &Memory{Nodes: []string{"a"}}
	o := Operator{kv}
	m := &layout.Map{Name: "books", Kind: layout.Index, Docs: 1, Shards: []layout.Shard{{File: "0.hdl", SHA256: strings.Repeat("0", 64), Bytes: 1, Docs: 1}}}
	first, err := o.Publish(t.Context(), m, 1, "http://source")
	if err == nil {
		err = o.Cancel(t.Context(), m.Name)
	}
	if err == nil {
		_, err = o.Publish(t.Context(), m, 1, "http://source")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := o.Wait(ctx, m.Name, first); err == nil || ctx.Err() != nil {
		t.Errorf("the wait for epoch %d: %v", first, err)
	}
}

// TestSourcesOfRepeat: a publish that is repeated with other sources has these.
func TestSourcesOfRepeat(t *testing.T) {
	kv := &Memory{Nodes: []string{"a"}}
	m := &layout.Map{Name: "books", Kind: layout.Index, Docs: 1, Shards: []layout.Shard{{File: "0.hdl", SHA256: strings.Repeat("0", 64), Bytes: 1, Docs: 1}}}
	for _, source := range []string{"http://one", "http://two"} {
		epoch, err := Operator{kv}.Publish(t.Context(), m, 1, source)
		s, _, getErr := get(t.Context(), kv, m.Name)
		if err != nil || getErr != nil || epoch != 1 || !slices.Equal(s.Intent.Sources, []string{source}) {
			t.Fatalf("%s: epoch %d, %v, %v, %+v", source, epoch, err, getErr, s)
		}
		current := clone(s.Intent.Target)
		current.Epoch = s.Epoch
		s.Current = current
		if err := s.Validate(); err == nil {
			t.Error("a current map with the epoch of the intent is valid")
		}
	}
}

// TestEqualLoads: among equal loads the first name takes a shard.
func TestEqualLoads(t *testing.T) {
	if n := (load{"c": 1, "b": 1, "a": 1, "d": 2}).least(nil); n != "a" {
		t.Errorf("node %s", n)
	}
}

// TestRemovedStays: the epoch of a removal outlives changes, whether they have effect or not.
func TestRemovedStays(t *testing.T) {
	for _, shards := range [][]layout.Shard{nil, {{}}} {
		s := &State{Epoch: 3, Removed: 2, Failure: "old", Intent: &Intent{Target: &layout.Map{Epoch: 3, Shards: shards}}}
		next, ok := s.Advance(nil, nil)
		if failed := shards != nil; !ok || next.Removed != 2 || next.Intent != nil || (next.Failure != "") != failed || (next.Current == nil) != failed || s.Intent == nil {
			t.Errorf("%v: %+v, %v", shards, next, ok)
		}
	}
}
