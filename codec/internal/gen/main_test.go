package main

import (
	"bytes"
	"os"
	"testing"
)

// The files in the repository agree with the generator.
func TestUpToDate(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go generate ./codec", name)
		}
	}
}
