package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"heddle/engine/internal/stack"
	"heddle/engine/syntax/pattern"
)

// ServiceName is the name of the micro service of a node: `nats micro stats heddle` lists all nodes.
const ServiceName = "heddle"

var numbers = pattern.New(`^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}`)

// Service describes a node that answers calls over NATS.
type Service struct {
	// Node is the name of the node.
	Node string
	// Server has the procedures. Streams have no subject: they need HTTP.
	Server *connect.Server
	// Version of the program, which micro INFO has among its facts. The micro service has the three numbers that it begins
	// with. Default: 0.0.0.
	Version string
	// Metadata are further facts for micro INFO. Default: none.
	Metadata map[string]string
	// Concurrency limits the calls at the same time. Further calls fail with code
	// ResourceExhausted. Default: 4096.
	Concurrency int
}

// Serving is a running service.
type Serving struct {
	s       Service
	conn    *Conn
	micro   micro.Service
	alive   *nats.Subscription
	all     context.Context // parent of the contexts of all calls
	cut     context.CancelFunc
	running atomic.Int64
	calls   sync.WaitGroup
	stop    sync.Once
	stopped error

	mu     sync.Mutex
	cancel map[string]context.CancelFunc // by the id of the call
	counts map[string]Counts             // by the name of the endpoint
}

// Counts are the statistics of a procedure, which micro STATS shows as data of an endpoint.
type Counts struct {
	Calls uint64 `json:"calls"`
	// Cancelled calls had a caller that did not wait for the answer.
	Cancelled uint64 `json:"cancelled"`
	// Errors of all other calls.
	Errors uint64 `json:"errors"`
	// Nanoseconds is the sum of the times of all calls.
	Nanoseconds uint64 `json:"nanoseconds"`
}

// Serve answers calls until Stop. The connection belongs to the service: nothing else may subscribe
// with it. Its user must be permitted to subscribe to heddle.node.NAME.> and $SRV.>. Calls come as
// soon as there is a connection.
func (s Service) Serve(conn *Conn) (*Serving, error) {
	if err := CheckNode(s.Node); err != nil {
		return nil, err
	}
	for _, need := range []string{"heddle.node." + s.Node + ".>", "$SRV.PING"} {
		if !conn.IsConnected() {
			break // Options.Refused reports a refusal later
		}
		if err := conn.Permitted(need); err != nil {
			return nil, fmt.Errorf("node %s: subscribe to %s: %w", s.Node, need, err)
		}
	}
	if s.Concurrency <= 0 {
		s.Concurrency = 4096
	}
	v := &Serving{s: s, conn: conn, cancel: map[string]context.CancelFunc{}, counts: map[string]Counts{}}
	v.all, v.cut = context.WithCancel(context.Background())
	facts := map[string]string{"node": s.Node, "version": cmp.Or(s.Version, "0.0.0")}
	for k, value := range s.Metadata {
		facts[k] = value
	}
	var err error
	v.micro, err = micro.AddService(conn.Conn, micro.Config{
		Name: ServiceName, Version: cmp.Or(numbers().FindString(s.Version), "0.0.0"), Description: "a node of a heddle cluster", Metadata: facts, QueueGroupDisabled: true,
		StatsHandler: func(e *micro.Endpoint) any { return v.counted(e.Name) },
	})
	if err != nil {
		return nil, err
	}
	for spec := range s.Server.Specs() {
		if spec.StreamType != connect.StreamTypeUnary {
			continue
		}
		name := endpoint(spec.Procedure)
		if err = v.micro.AddEndpoint(name, micro.HandlerFunc(func(r micro.Request) { v.handle(name, spec, r) }), micro.WithEndpointSubject(subject(s.Node, spec.Procedure))); err != nil {
			return nil, errors.Join(err, v.micro.Stop())
		}
	}
	v.alive, err = conn.Subscribe(aliveSubject(s.Node), v.probed)
	if err == nil && conn.IsConnected() {
		err = conn.Flush()
	}
	if err != nil {
		return nil, errors.Join(err, v.micro.Stop())
	}
	return v, nil
}

// probed answers a probe. If the answer is lost, the caller probes again.
func (v *Serving) probed(m *nats.Msg) {
	var state []byte
	if id := string(m.Data); id != "" {
		v.mu.Lock()
		if v.cancel[id] == nil {
			state = []byte(unknownCall)
		}
		v.mu.Unlock()
	}
	_ = m.Respond(state)
}

// endpoint returns the name of a procedure in micro: "IndexService-Search".
func endpoint(procedure string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
	return strings.ReplaceAll(service[strings.LastIndexByte(service, '.')+1:], ".", "-") + "-" + method
}

// Running returns the number of calls in progress.
func (v *Serving) Running() int { return int(v.running.Load()) }

// count adds a call to the statistics of an endpoint. Ctx is the context of the call.
func (v *Serving) count(ctx context.Context, name string, err error, took time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.counts[name]
	c.Calls++
	c.Nanoseconds += uint64(took)
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.Canceled):
		c.Cancelled++
	default:
		c.Errors++
	}
	v.counts[name] = c
}

// counted returns the statistics of an endpoint.
func (v *Serving) counted(name string) Counts {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.counts[name]
}

// handle starts a call, or cancels one.
func (v *Serving) handle(name string, spec connect.Spec, r micro.Request) {
	h := nats.Header(r.Headers())
	if id := h.Get(cancelHeader); id != "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		if cancel := v.cancel[id]; cancel != nil {
			cancel()
		}
		return
	}
	if v.running.Add(1) > int64(v.s.Concurrency) {
		v.running.Add(-1)
		v.reply(errorMessage(r.Reply(), connect.Errorf(connect.CodeResourceExhausted, "node %s runs %d calls already", v.s.Node, v.s.Concurrency), v.conn.MaxPayload()))
		return
	}
	ctx, cancel := context.WithCancel(v.all)
	if left, err := time.ParseDuration(h.Get(timeoutHeader)); err == nil {
		cancel()
		ctx, cancel = context.WithTimeout(v.all, left)
	}
	id := h.Get(idHeader)
	v.mu.Lock()
	v.cancel[id] = cancel
	v.mu.Unlock()
	v.calls.Go(func() {
		stack.Grow()
		began := time.Now()
		defer func() {
			v.mu.Lock()
			delete(v.cancel, id)
			v.mu.Unlock()
			cancel()
			v.running.Add(-1)
		}()
		m, err := v.answer(ctx, spec, r, h)
		v.count(ctx, name, err, time.Since(began))
		v.reply(m)
	})
}

// answer runs a call and returns the message for its caller.
func (v *Serving) answer(ctx context.Context, spec connect.Spec, r micro.Request, h nats.Header) (*nats.Msg, error) {
	info := &connect.CallInfo{Spec: spec, Protocol: "nats", Codec: connect.CodecNameProto}
	info.ReceiveStats.Size = len(r.Data())
	readHeader(h, info.RequestHeader(), nil)
	stream := &served{request: r.Data()}
	limit := v.conn.MaxPayload()
	err := v.call(ctx, spec, info, stream)
	if err == nil && !stream.sent {
		err = connect.NewError(connect.CodeUnimplemented, "the procedure returned no message")
	}
	if err != nil {
		m := errorMessage(r.Reply(), err, limit)
		return m, err
	}
	m := nats.NewMsg(r.Reply())
	m.Data = stream.answer
	addHeader(m.Header, "", info.ResponseHeader())
	addHeader(m.Header, trailerPrefix, info.ResponseTrailer())
	if limit > 0 && int64(m.Size()) > limit {
		err := tooLarge("answer", m.Size(), limit)
		return errorMessage(r.Reply(), err, limit), err
	}
	return m, nil
}

// call runs the procedure. A panic is an error of code Internal.
func (v *Serving) call(ctx context.Context, spec connect.Spec, info *connect.CallInfo, stream *served) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = connect.Errorf(connect.CodeInternal, "panic in %s: %v", spec.Procedure, p)
		}
	}()
	return v.s.Server.Call(ctx, spec.Procedure, info, stream)
}

// reply sends an answer. Without a connection its caller has seen the loss, too.
func (v *Serving) reply(m *nats.Msg) {
	if m.Subject != "" {
		_ = v.conn.PublishMsg(m)
	}
}

// Stop takes no further calls, answers the calls that have arrived, and returns. The end of ctx
// cancels running calls. It does not close the connection.
func (v *Serving) Stop(ctx context.Context) error {
	v.stop.Do(func() { v.stopped = v.drain(ctx) })
	return v.stopped
}

// drain is the work of Stop.
func (v *Serving) drain(ctx context.Context) error {
	err := v.micro.Stop()
	if v.conn.IsConnected() {
		err = errors.Join(err, v.conn.Flush()) // from here on no call arrives
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for v.conn.NumSubscriptions() > 1 && v.conn.IsConnected() && ctx.Err() == nil { // calls wait in the buffers of their endpoints
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	defer context.AfterFunc(ctx, v.cut)()
	v.calls.Wait()
	v.cut()
	if !v.conn.IsConnected() {
		return err
	}
	return errors.Join(err, v.alive.Unsubscribe(), v.conn.Flush())
}

// served is the server's side of a unary call.
type served struct {
	request, answer []byte
	read, sent      bool
}

// Receive implements connect.ServerStream.
func (s *served) Receive(msg any) error {
	if s.read {
		return io.EOF
	}
	s.read = true
	if err := proto.Unmarshal(s.request, msg.(proto.Message)); err != nil {
		return connect.Errorf(connect.CodeInvalidArgument, "the request cannot be read: %v", err)
	}
	return nil
}

// SendHeaders implements connect.ServerStream.
func (s *served) SendHeaders() error { return nil }

// Send implements connect.ServerStream. An answer with a term that is not UTF-8 has an error, which callers see.
func (s *served) Send(msg any) (err error) {
	if s.answer, err = proto.Marshal(msg.(proto.Message)); err != nil {
		return connect.Errorf(connect.CodeInternal, "the answer has a text that is not UTF-8: %v", err)
	}
	s.sent = true
	return nil
}
