package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestBundle compares the committed bundle with a new one.
func TestBundle(t *testing.T) {
	files, err := bundle("..")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("../dist")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files) {
		t.Errorf("dist has %d files, and the source makes %d", len(entries), len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("../dist", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("dist/%s differs from its source: run go generate ./engine/console (%v)", name, err)
		}
	}
}
