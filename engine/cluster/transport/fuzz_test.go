package transport

import (
	"testing"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"heddle/engine/api"
)

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
