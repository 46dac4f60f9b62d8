package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestGenerated compares the committed files with newly generated ones.
func TestGenerated(t *testing.T) {
	testneeds.Long(t)
	files, err := generate(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	committed := map[string]bool{}
	for _, pattern := range []string{"*.pb.go", "*.connect.go", "openapi.json"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			committed[filepath.Base(p)] = true
		}
	}
	for name, want := range files {
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("engine/api/%s is out of date: run go generate ./engine/api", name)
		}
		delete(committed, name)
	}
	for name := range committed {
		t.Errorf("engine/api/%s is left over: no definition generates it", name)
	}
}

// TestGenerateErrors compiles definitions with faults.
func TestGenerateErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := generate(t.Context(), dir); err == nil {
		t.Error("a folder without definitions is accepted")
	}
	if err := os.MkdirAll(filepath.Join(dir, definition), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, definition, "a.proto"), []byte("syntax = \"proto3\";\nmessage A { B b = 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := generate(t.Context(), dir); err == nil || !bytes.Contains([]byte(err.Error()), []byte("heddle/v1/a.proto:2:13")) {
		t.Errorf("unknown type: %v", err)
	}
}
