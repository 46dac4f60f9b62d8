package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// A request over NATS is a message of protocol buffers on the subject of its node and procedure,
// with the headers of the call. An answer is a message of protocol buffers. An answer with header
// micro.ErrorCodeHeader is an error: a google.rpc.Status.
const (
	// timeoutHeader is the time until the deadline, in the form of time.Duration. It is relative,
	// because the clocks of nodes differ.
	timeoutHeader = "Heddle-Timeout"
	// idHeader names a request for its cancellation.
	idHeader = "Heddle-Call"
	// cancelHeader marks the cancellation of a request. It comes on the subject of the request, so
	// that it cannot overtake the request.
	cancelHeader = "Heddle-Cancel"
	// trailerPrefix marks trailers of an answer.
	trailerPrefix = "Heddle-Trailer-"
	// unknownCall is the answer of a node to a probe for a call that it does not run.
	unknownCall = "unknown"
	// typeURL is the prefix of the type of a detail.
	typeURL = "type.googleapis.com/"
)

// subject returns the subject of a procedure, such as "/heddle.v1.IndexService/Search", on a node.
func subject(node, procedure string) string {
	return "heddle.node." + node + strings.ReplaceAll(procedure, "/", ".")
}

// aliveSubject answers while the process of the node runs. A request may hold the id of a call; the answer
// is unknownCall if the node does not run this call, and else empty.
func aliveSubject(node string) string { return "heddle.node." + node + ".alive" }

// addHeader copies the values of a call to a message under a prefix, without reserved names.
func addHeader(to nats.Header, prefix string, from *connect.Header) {
	for key, values := range from.All() {
		if !reserved(key) {
			to[prefix+key] = values
		}
	}
}

// readHeader copies the values of a message to the headers and trailers of a call.
func readHeader(from nats.Header, header, trailer *connect.Header) {
	for key, values := range from {
		if name, ok := strings.CutPrefix(key, trailerPrefix); ok && trailer != nil {
			trailer.SetValues(name, values)
		} else if !reserved(key) {
			header.SetValues(key, values)
		}
	}
}

func reserved(key string) bool {
	return strings.HasPrefix(key, "Heddle-") || strings.HasPrefix(key, "Nats-") || key == "Status" || key == "Description"
}

// errorMessage returns the answer of a failed call, of at most limit bytes.
func errorMessage(reply string, err error, limit int64) *nats.Msg {
	wrong := asError(err)
	s := &status.Status{Code: int32(wrong.Code()), Message: wrong.Message()}
	for _, d := range wrong.Details() {
		s.Details = append(s.Details, &anypb.Any{TypeUrl: typeURL + d.Type, Value: d.Value})
	}
	m := nats.NewMsg(reply)
	m.Header.Set(micro.ErrorHeader, wrong.Code().String())
	m.Header.Set(micro.ErrorCodeHeader, fmt.Sprint(uint32(wrong.Code())))
	m.Data, err = proto.Marshal(s)
	if err == nil && int64(m.Size()) <= limit {
		return m
	}
	s.Details, s.Message = nil, strings.ToValidUTF8(s.Message[:min(len(s.Message), 1024)], "")
	m.Data, _ = proto.Marshal(s) // valid text always succeeds
	return m
}

// asError returns the error of Connect that a caller sees. Only an error that the handler wrote for
// callers has a message.
func asError(err error) *connect.Error {
	if e, ok := errors.AsType[*connect.Error](err); ok && !e.IsRemote() {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded.Error())
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, context.Canceled.Error())
	}
	return connect.NewError(connect.CodeUnknown, "")
}

// errorOf returns the error of an answer; nil if the call succeeded.
func errorOf(m *nats.Msg) error {
	if m.Header.Get(micro.ErrorCodeHeader) == "" {
		return nil
	}
	s := new(status.Status)
	if err := proto.Unmarshal(m.Data, s); err != nil || s.GetCode() == 0 {
		return connect.Errorf(connect.CodeInternal, "error %s of the node has no status", m.Header.Get(micro.ErrorCodeHeader)).WithCause(err)
	}
	e := connect.NewError(connect.Code(s.GetCode()), s.GetMessage()).WithRemote()
	for _, d := range s.GetDetails() {
		e = e.WithDetail(&connect.ErrorDetail{Type: strings.TrimPrefix(d.GetTypeUrl(), typeURL), Value: d.GetValue()})
	}
	return e
}

// tooLarge is the error of a message above the limit of NATS. Its detail names the limit.
func tooLarge(kind string, size int, limit int64) error {
	return connect.Errorf(connect.CodeResourceExhausted, "the %s has %d bytes, above max_payload %d of NATS: use smaller batches, or HTTP", kind, size, limit).
		WithDetail(payloadDetail(limit))
}
