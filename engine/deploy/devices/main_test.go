package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPage compares the page with the records.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../devices.md")
	if err != nil {
		t.Fatal(err)
	}
	if want, err := renew(text); err != nil || !bytes.Equal(text, want) {
		t.Errorf("devices.md differs from its records (error %v): go run ./engine/deploy/devices", err)
	}
	if _, err := renew([]byte("no marks")); err == nil {
		t.Error("a page without marks has no error")
	}
}

// TestRows writes a row per OpenCL device.
func TestRows(t *testing.T) {
	r := Record{Implementation: "X 1"}
	if err := r.rows(new(strings.Builder)); err == nil {
		t.Error("a record without a device has no error")
	}
	r.Devices = []Device{{Kind: "host"}, {Kind: "opencl", Device: "a|b", Usable: true, SelfTest: 1.234}, {Kind: "opencl", Error: "no memory"}}
	var b strings.Builder
	if err := r.rows(&b); err != nil {
		t.Fatal(err)
	}
	if want := "| X 1 | a\\|b |  | passed in 1.2 s |  |  |  |\n| X 1 |  |  | not usable: no memory |  |  |  |\n"; b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}
