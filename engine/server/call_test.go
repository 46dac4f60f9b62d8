package server

import (
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/proto"

	"heddle/engine/api"
	"heddle/engine/server/admit"
	"heddle/engine/server/problem"
)

// sent is a stream that counts the messages sent to it.
type sent struct {
	connect.ServerStream
	messages int
}

func (s *sent) Send(any) error { s.messages++; return nil }

// TestMemoryOfReply: a reply of a call counts with the memory of its request. A reply that does not fit is
// an error, and is not sent.
func TestMemoryOfReply(t *testing.T) {
	reply := &api.SearchResponse{Hits: []*api.Hit{{Doc: strings.Repeat("a", 10_000)}}}
	size := answerBytes * int64(proto.Size(reply))
	memory := admit.NewBudget(10 * size).Open("caller")
	defer memory.Close()
	stream := &sent{}
	c := &call{ServerStream: stream, ctx: admit.With(t.Context(), memory)}
	if err := c.Send(reply); err != nil || stream.messages != 1 || memory.Bytes() != size {
		t.Errorf("%d messages, %d bytes, %v; want a message and %d bytes", stream.messages, memory.Bytes(), err, size)
	}
	var err error
	for range 10 {
		if err = c.Send(reply); err != nil {
			break
		}
	}
	if limit, ok := errors.AsType[*problem.LimitError](err); !ok || limit.Limit != "memory" || int64(stream.messages)*size != memory.Bytes() {
		t.Errorf("%d messages, %d bytes, error %v", stream.messages, memory.Bytes(), err)
	}
}
