package transport

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestSpread: connections go to all addresses of a host that accept, and to no other one.
func TestSpread(t *testing.T) {
	first, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, port, _ := net.SplitHostPort(first.Addr().String())
	second, err := net.Listen("tcp4", "127.0.0.2:"+port)
	if err != nil {
		t.Skipf("needs a second address of this machine: %v", err)
	}
	defer second.Close()
	s := &spread{lookup: func(_ context.Context, host string) ([]string, error) {
		return map[string][]string{"node": {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, "gone": {"127.0.0.3"}}[host], nil
	}}
	reached := map[string]int{}
	for range 64 {
		c, err := s.dial(t.Context(), "tcp", "node:"+port)
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		reached[host]++
		c.Close()
	}
	if len(reached) != 2 || reached["127.0.0.1"] == 0 || reached["127.0.0.2"] == 0 {
		t.Errorf("connections by address: %v", reached)
	}
	if _, err := s.dial(t.Context(), "tcp", "gone:"+port); err == nil || !strings.Contains(err.Error(), "127.0.0.3") {
		t.Errorf("error %v", err)
	}
}
