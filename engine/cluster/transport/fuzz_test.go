package transport

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"heddle/engine/api"
)

// FuzzNodes: each node of a file that ReadNodes accepts has a name and a URL that calls can use.
func FuzzNodes(f *testing.F) {
	f.Add([]byte(`{"n1":"http://10.0.0.5:7700","n2":"https://node-2.example"}`))
	f.Add([]byte(`{"n1":"http://[::1]:7700"}`))
	f.Add([]byte(`{"n.1":"http://a"}`))
	file := filepath.Join(f.TempDir(), "nodes.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		nodes, err := ReadNodes(file)
		if err != nil {
			return
		}
		for name, at := range nodes {
			if u, err := url.Parse(at); CheckNode(name) != nil || err != nil || u.Host == "" {
				t.Fatalf("node %q at %q", name, at)
			}
		}
	})
}

// FuzzError: the error of an answer over NATS has a code, whatever the node sends.
func FuzzError(f *testing.F) {
	failed := connect.NewError(connect.CodeUnavailable, "the node is down").WithDetail(payloadDetail(1 << 20))
	m := errorMessage("x", failed, 1<<20)
	f.Add(m.Header.Get(micro.ErrorCodeHeader), m.Data)
	f.Add("0", []byte{})
	f.Add("14", []byte{0x08, 0x0e})
	f.Fuzz(func(t *testing.T, code string, data []byte) {
		m := nats.NewMsg("x")
		m.Header.Set(micro.ErrorCodeHeader, code)
		m.Data = data
		err := errorOf(m)
		if (err == nil) != (code == "") {
			t.Fatalf("code %q: %v", code, err)
		}
		if err != nil && (connect.CodeOf(err) == 0 || err.Error() == "") {
			t.Fatalf("%#v has no code or no text", err)
		}
		isPayload(err)
		_ = api.EngineError(err)
	})
}
