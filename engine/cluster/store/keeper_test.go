package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/layout"
)

// TestRetired: an epoch that no map has keeps the files of its shards and of their attributes until it is
// closed. Failures of such an epoch are forgotten at once.
func TestRetired(t *testing.T) {
	dir, clock := t.TempDir(), time.Unix(1e9, 0)
	k := &Keeper{Node: "a", Dir: dir, Loader: noLoader{}, Deadline: deadline, now: func() time.Time { return clock },
		loaded: map[Part]string{{"books", 1, 0}: "shard"}, attributes: map[Part]string{{"books", 1, 0}: "attributes"},
		failed:  map[Part]Failure{{"books", 1, 1}: {}, {"books", 2, 0}: {}, {"films", 2, 0}: {}},
		retired: map[collection]time.Time{}}
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shard.hdl", "attributes.hdb", "other.hdl"} {
		if err := os.WriteFile(filepath.Join(dir, "files", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	states := map[string]*State{"books": {Current: &layout.Map{Name: "books", Epoch: 2}}}
	for _, want := range [][]string{{"attributes.hdb", "shard.hdl"}, {"attributes.hdb", "shard.hdl"}, nil} {
		k.unload(states)
		if err := k.clean(states); err != nil {
			t.Fatal(err)
		}
		found, err := os.ReadDir(filepath.Join(dir, "files"))
		var left []string
		for _, f := range found {
			left = append(left, f.Name())
		}
		if err != nil || !slices.Equal(left, want) {
			t.Errorf("after %v: files %q, %v; want %q", clock.Sub(time.Unix(1e9, 0)), left, err, want)
		}
		if _, ok := k.failed[Part{"books", 2, 0}]; !ok || len(k.failed) != 1 {
			t.Errorf("failures %v, want one of the current epoch", k.failed)
		}
		clock = clock.Add(deadline / 2)
	}
}

// TestHoldOther: a file that is longer than the map says moves aside. A node without a URL is not asked for
// the right one.
func TestHoldOther(t *testing.T) {
	k := &Keeper{KV: &Memory{}, Node: "a", Dir: t.TempDir()}
	f := layout.File{File: "x.hdl", Bytes: 3, SHA256: "sum"}
	report, err := json.Marshal(Report{Held: []string{"sum"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.KV.Put(t.Context(), nodeKey+"b", report, 0); err != nil {
		t.Fatal(err)
	}
	path := k.path(layout.Index, "sum")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("long"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = k.hold(t.Context(), f, path, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "x.hdl: no node that answers has the file sum") {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(k.Dir, aside, "sum.hdl")); err != nil || string(data) != "long" {
		t.Errorf("the long file is %q aside, %v", data, err)
	}
}
