package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"heddle/engine/api"
)

// TestReserved: headers of NATS and of the transport are neither sent nor read as headers of a call, and all
// others are.
func TestReserved(t *testing.T) {
	for name, free := range map[string]bool{
		"Heddle-Call": false, "Heddle-Trailer-X": false, "Nats-Service-Error": false, "Status": false, "Description": false,
		"Statuses": true, "X-Status": true, "X-Description": true, "X-Heddle-Call": true, "X-Nats-A": true, "A": true, "Natsx": true, "Heddle": true,
	} {
		var header, got connect.Header
		header.Set(name, "1")
		sent := nats.Header{}
		addHeader(sent, "", &header)
		if _, ok := sent[name]; ok != free {
			t.Errorf("%s: sent %t, want %t", name, ok, free)
		}
		readHeader(nats.Header{name: {"1"}}, &got, nil)
		if read := got.Get(name) == "1"; read != free {
			t.Errorf("%s: read %t, want %t", name, read, free)
		}
	}
}

// TestAsError: a handler's own error reaches the caller with its code and text. The text of an error that the
// handler got from another node, and the text of any other error, stays on the node.
func TestAsError(t *testing.T) {
	own := connect.NewError(connect.CodeNotFound, "no such name")
	for _, c := range []struct {
		err  error
		code connect.Code
		text string
	}{
		{own, connect.CodeNotFound, "no such name"},
		{fmt.Errorf("wrapped: %w", own), connect.CodeNotFound, "no such name"},
		{connect.NewError(connect.CodeNotFound, "secret").WithRemote(), connect.CodeUnknown, ""},
		{errors.New("secret"), connect.CodeUnknown, ""},
		{fmt.Errorf("secret: %w", context.Canceled), connect.CodeCanceled, context.Canceled.Error()},
		{fmt.Errorf("secret: %w", context.DeadlineExceeded), connect.CodeDeadlineExceeded, context.DeadlineExceeded.Error()},
	} {
		if got := asError(c.err); got.Code() != c.code || got.Message() != c.text {
			t.Errorf("%v: %v %q, want %v %q", c.err, got.Code(), got.Message(), c.code, c.text)
		}
		back := errorOf(errorMessage("reply", c.err, 1<<20))
		if connect.CodeOf(back) != c.code {
			t.Errorf("%v: the caller gets %v", c.err, back)
		}
	}
	long := connect.NewError(connect.CodeNotFound, string(make([]byte, 5000)))
	size := errorMessage("reply", long, 1<<20).Size()
	for limit, whole := range map[int]bool{size: true, size - 1: false} { // the text is cut where it does not fit
		m := errorMessage("reply", long, int64(limit))
		if m.Size() > limit || (m.Size() == size) != whole || connect.CodeOf(errorOf(m)) != connect.CodeNotFound {
			t.Errorf("an error of %d bytes at limit %d: %d bytes, %v", size, limit, m.Size(), connect.CodeOf(errorOf(m)))
		}
	}
	if err := errorOf(&nats.Msg{Header: nats.Header{micro.ErrorCodeHeader: {"5"}}}); connect.CodeOf(err) != connect.CodeInternal {
		t.Errorf("an error without a status: %v", err)
	}
}

// TestUndelivered: only a call that NATS has not delivered goes over HTTP. The answer of a node is final, also
// if the node says that it is not available.
func TestUndelivered(t *testing.T) {
	lost := connect.NewError(connect.CodeUnavailable, "no responders")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{lost, true}, {fmt.Errorf("call: %w", lost), true},
		{connect.NewError(connect.CodeUnavailable, "busy").WithRemote(), false},
		{connect.NewError(connect.CodeDeadlineExceeded, "late"), false},
		{connect.NewError(connect.CodeInternal, "x"), false},
		{errors.New("x"), false}, {nil, false},
	} {
		if got := undelivered(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}

// TestSend: an answer that cannot be encoded has an error that its caller sees.
func TestSend(t *testing.T) {
	s := &served{}
	err := s.Send(&api.ShardTermsResponse{Terms: []string{"caf\xe9"}})
	if m := errorMessage("r", err, 1000); s.sent || !strings.Contains(string(m.Data), "not UTF-8") {
		t.Errorf("%v: %q", err, m.Data)
	}
	if err := s.Send(&api.ShardTermsResponse{Terms: []string{"café"}}); err != nil || !s.sent {
		t.Error(err)
	}
}
