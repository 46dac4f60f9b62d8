//go:build !core

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestDamagedShard: a file of a shard is cut while queries run, and another one changes while its node is away.
// No query fails, the files come back from the other node, and the log, the metrics and the status say so.
func TestDamagedShard(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	files, err := filepath.Glob("n1/files/*.hdl")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	var content [2][]byte
	for i, file := range files {
		if content[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	healed := func(i int) {
		t.Helper()
		for data := []byte(nil); !bytes.Equal(data, content[i]); data, _ = os.ReadFile(files[i]) { // up to the time-out of the test
		}
		want := "  " + filepath.Base(files[i]) + " was damaged and is healed: "
		for got := ""; !strings.Contains(got, want); got = f.must("status") {
		}
	}
	stop := f.load()
	defer stop()
	f.answers(40)
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	healed(0)
	f.answers(40)
	if got := f.nodes["n1"].get("/metrics"); !strings.Contains(got, "heddle_node_files_damaged_total 1\n") || !strings.Contains(got, "heddle_node_files_healed_total 1\n") {
		t.Errorf("metrics: %s", got)
	}
	if said := f.nodes["n1"].end(); !strings.Contains(said, "a file is damaged") || !strings.Contains(said, "a damaged file is healed") {
		t.Errorf("messages: %s", said)
	}
	spoilt := bytes.Clone(content[1])
	spoilt[len(spoilt)/2] ^= 1
	if err := os.WriteFile(files[1], spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
	f.node("n1")
	healed(1)
	f.answers(40)
	stop()
	for _, file := range files {
		if _, err := os.Stat(filepath.Join("n1/damaged", filepath.Base(file))); err != nil {
			t.Error(err)
		}
	}
}

// TestOneNode: a second process with the folder or the name of a node ends with its reason, and the node goes on.
func TestOneNode(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	stop := f.load()
	defer stop()
	again := func(name, folder string) result {
		return heddle(t, append([]string{"serve"}, f.flags("--node", name, "--data", folder, "--listen", "127.0.0.1:0")...)...)
	}
	wantFailure(t, again("n1", "n3"), exitFailure, "node n1 answers already, from ", "pid ")
	wantFailure(t, again("n3", "n1"), exitFailure, "n1: another process has the lock: each node needs a folder of its own")
	f.answers(40)
	stop()
	f.nodes["n1"].end()
	f.node("n1") // both are free again
}
