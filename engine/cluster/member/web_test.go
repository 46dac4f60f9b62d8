package member

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
)

// TestNodeStrangers: connections that send nothing make room on the HTTP port of a node, and a request
// without a token ends its connection.
func TestNodeStrangers(t *testing.T) {
	token, line := accesstest.Token(t, "peer", access.Read)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Server.Listen, c.Server.Tokens, c.Server.MaxConnections = "127.0.0.1:0", tokens, 10
	w, err := openNodeWeb(t.Context(), c, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	w.use(connect.NewServer(nil), nil, prometheus.NewRegistry())
	go w.serve()
	t.Cleanup(func() { w.server.Close() })
	for range 50 {
		silent, err := net.Dial("tcp", w.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	for _, authorised := range []bool{true, false} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := http.StatusUnauthorized
		if authorised {
			r.Header.Set("Authorization", "Bearer "+token)
			want = http.StatusOK
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want || reply.Close == authorised {
			t.Errorf("authorised %v: status %d, connection ends: %v", authorised, reply.StatusCode, reply.Close)
		}
	}
}
