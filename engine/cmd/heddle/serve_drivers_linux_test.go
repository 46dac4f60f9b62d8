//go:build !core

package main

import (
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestServeBrokenDriver: a server with a driver that hangs gets ready in pure Go, and logs the reason.
func TestServeBrokenDriver(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	m := newSystem(t, "hang_devices")
	for _, kv := range m.environ {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	s := serve(t, "--table", "t="+table(t), "--drain-delay", "0s", "--backend", "auto")
	if got := s.ask("/v1/tables/t/count", `{"where":"x > 0"}`); got != `{"count":"3"` && got != `{"count":3` {
		t.Errorf("answer %s", got)
	}
	if got := s.get("/v1/devices"); strings.Contains(got, `"kind":"opencl"`) {
		t.Errorf("processors %s", got)
	}
	if said := s.end(); !strings.Contains(said, "broken.icd") || !strings.Contains(said, "devices") {
		t.Errorf("messages %q", said)
	}
}
