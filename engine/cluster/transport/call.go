package transport

import (
	"context"
	"errors"
	"io"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"
)

// NATS dials nodes over NATS. Each procedure of a node has its subject.
type NATS struct {
	Conn *Conn
	// HTTP dials nodes for streams, for requests and answers above max_payload of NATS, and for calls
	// that NATS does not deliver. Without it, such a message fails with an error that names the limit
	// "payload". Default: none.
	HTTP interface {
		Dial(node string) (connect.Transport, error)
	}
	// Probe is the time without an answer after which a call asks whether the node is alive. A node
	// that is not there, does not answer four probes, or does not know the call twice, fails the call
	// with code Unavailable. Default: 250 ms.
	Probe time.Duration
}

// Dial returns the transport to a node, which need not be there yet. The error has code
// InvalidArgument.
func (n *NATS) Dial(node string) (connect.Transport, error) {
	if err := CheckNode(node); err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err.Error())
	}
	return &toNode{n, node}, nil
}

// toNode is the transport to one node.
type toNode struct {
	*NATS
	node string
}

// NewClientStream implements connect.Transport.
func (t *toNode) NewClientStream(ctx context.Context, spec connect.Spec) (connect.ClientStream, error) {
	if spec.StreamType != connect.StreamTypeUnary {
		return t.overHTTP(ctx, spec)
	}
	info, ok := connect.CallInfoForClientContext(ctx)
	if !ok {
		info = new(connect.CallInfo)
	}
	info.Spec, info.Protocol, info.Codec = spec, "nats", connect.CodecNameProto
	c := &call{to: t, caller: ctx, spec: spec, info: info}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c, nil
}

// overHTTP opens a stream over HTTP.
func (t *toNode) overHTTP(ctx context.Context, spec connect.Spec) (connect.ClientStream, error) {
	if t.HTTP == nil {
		return nil, connect.Errorf(connect.CodeUnimplemented, "%s is a stream, which needs HTTP", spec.Procedure)
	}
	next, err := t.HTTP.Dial(t.node)
	if err != nil {
		return nil, err
	}
	return next.NewClientStream(ctx, spec)
}

// call is a unary call.
type call struct {
	to      *toNode
	caller  context.Context
	ctx     context.Context // ends with the caller's, and when NATS does not deliver the call
	cancel  context.CancelCauseFunc
	spec    connect.Spec
	info    *connect.CallInfo
	request proto.Message
	done    bool
}

// SendHeaders implements connect.ClientStream.
func (c *call) SendHeaders() error { return nil }

// Send implements connect.ClientStream.
func (c *call) Send(msg any) error {
	m, ok := msg.(proto.Message)
	if !ok {
		return connect.Errorf(connect.CodeInternal, "the request is a %T, not a message of protocol buffers", msg)
	}
	c.request = m
	return nil
}

// CloseSend implements connect.ClientStream.
func (c *call) CloseSend() error { return nil }

// Close implements connect.ClientStream.
func (c *call) Close() error {
	c.cancel(context.Canceled)
	return nil
}

// Receive implements connect.ClientStream.
func (c *call) Receive(msg any) error {
	if c.done || c.request == nil {
		return io.EOF
	}
	c.done = true
	defer c.cancel(context.Canceled)
	answer, err := c.run()
	if err == nil {
		readHeader(answer.Header, c.info.ResponseHeader(), c.info.ResponseTrailer())
		err = errorOf(answer)
	}
	if c.to.HTTP != nil && (isPayload(err) || undelivered(err)) {
		return c.again(msg)
	}
	if err != nil {
		return err
	}
	c.info.ReceiveStats.Size = len(answer.Data)
	if err := proto.Unmarshal(answer.Data, msg.(proto.Message)); err != nil {
		return connect.Errorf(connect.CodeInternal, "the answer of node %s to %s cannot be read: %v", c.to.node, c.spec.Procedure, err)
	}
	return nil
}

// undelivered reports whether NATS has lost a call, does not know the node, or brings no answer. Nodes
// and their callers return at different times after a loss of NATS.
func undelivered(err error) bool {
	e, ok := errors.AsType[*connect.Error](err)
	return ok && e.Code() == connect.CodeUnavailable && !e.IsRemote()
}

// again repeats the call over HTTP.
func (c *call) again(msg any) (err error) {
	next, err := c.to.overHTTP(c.caller, c.spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	if err := next.Send(c.request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := next.CloseSend(); err != nil {
		return err
	}
	return next.Receive(msg)
}

// run sends the request and returns the answer.
func (c *call) run() (*nats.Msg, error) {
	m := nats.NewMsg(subject(c.to.node, c.spec.Procedure))
	addHeader(m.Header, "", c.info.RequestHeader())
	var err error
	if m.Data, err = proto.Marshal(c.request); err != nil {
		return nil, connect.Errorf(connect.CodeInternal, "the request cannot be written: %v", err)
	}
	c.info.SendStats.Size = len(m.Data)
	if end, ok := c.ctx.Deadline(); ok {
		left := time.Until(end)
		if left <= 0 {
			return nil, asError(context.DeadlineExceeded)
		}
		m.Header.Set(timeoutHeader, left.String())
	}
	id := nats.NewInbox()
	m.Header.Set(idHeader, id)
	nc := c.to.Conn
	if limit := nc.MaxPayload(); limit > 0 && int64(m.Size()) > limit {
		return nil, tooLarge("request", m.Size(), limit)
	}
	lost := context.AfterFunc(nc.current(), func() { c.cancel(errLost) })
	defer lost()
	stop := c.watch(id)
	answer, err := nc.RequestMsgWithContext(c.ctx, m)
	cause := context.Cause(c.ctx)
	stop()
	if err == nil {
		return answer, nil
	}
	if cause != nil { // the node may still work on it
		over := nats.NewMsg(m.Subject)
		over.Header.Set(cancelHeader, id)
		_ = nc.PublishMsg(over) // without a connection the request has ended, too
	} else {
		cause = err
	}
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, context.Canceled) {
		return nil, asError(cause).WithCause(cause)
	}
	if errors.Is(cause, nats.ErrMaxPayload) { // a server with a smaller limit
		return nil, tooLarge("request", m.Size(), nc.MaxPayload())
	}
	return nil, connect.Errorf(connect.CodeUnavailable, "node %s: %v", c.to.node, cause).WithCause(cause)
}

var (
	errSilent    = errors.New("the process does not answer")
	errForgotten = errors.New("the node does not know the call: its request or its answer is lost")
)

// watch ends the call when its node is not there, does not answer probes, or does not know the call. Stop
// waits for the end of a running probe, and then the call has ended, too.
func (c *call) watch(id string) (stop func()) {
	every := c.to.Probe
	if every <= 0 {
		every = 250 * time.Millisecond
	}
	ended := make(chan struct{})
	timer := time.AfterFunc(every, func() {
		defer close(ended)
		c.probe(id, every)
	})
	return func() {
		if !timer.Stop() {
			c.cancel(context.Canceled)
			<-ended
		}
	}
}

// probe asks the node whether it runs the call, until the call ends. NATS keeps the order of messages: a
// node answers a call before it forgets it. But a node may read a probe before a request, so only
// the second answer without the call counts.
func (c *call) probe(id string, every time.Duration) {
	for missed, without := 0, 0; c.ctx.Err() == nil; {
		began := time.Now()
		limit, over := context.WithTimeout(c.ctx, every)
		answer, err := c.to.Conn.RequestWithContext(limit, aliveSubject(c.to.node), []byte(id))
		over()
		switch {
		case err == nil:
			if missed = 0; string(answer.Data) != unknownCall {
				without = 0
			} else if without++; without == 2 {
				c.cancel(errForgotten)
			}
		case errors.Is(err, nats.ErrNoResponders):
			c.cancel(err)
		default:
			if missed++; missed == 4 {
				c.cancel(errSilent)
			}
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(every - time.Since(began)):
		}
	}
}
