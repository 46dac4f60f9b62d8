package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/admit"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
)

// intercept is the chain of all calls: a slot while a query runs, and the description of errors.
func (s *Server) intercept(next connect.ServerFunc) connect.ServerFunc {
	return func(ctx context.Context, spec connect.Spec, stream connect.ServerStream) error {
		call := &call{ServerStream: stream, ctx: ctx, s: s, request: monitor.Of(ctx), free: !isQuery(spec.Procedure)}
		defer call.end(errPanic)
		began := time.Now()
		err := next(ctx, spec, call)
		call.end(err)
		protocol := ""
		if info, ok := connect.CallInfoForServerContext(ctx); ok {
			protocol = info.Protocol
		}
		s.monitor.Called(spec.Procedure, protocol, codeOf(err), time.Since(began))
		if err == nil {
			return nil
		}
		s.count(ctx, err)
		id := call.request.ID
		if engine.CodeOf(err) == engine.Internal && !isProtocol(err) {
			s.opt.Log.Error().Str("request_id", id).Str("procedure", spec.Procedure).Err(err).Msg("call failed")
		}
		return problem.Connect(err, id)
	}
}

// about notes the query of a request and its index or table.
func about(ctx context.Context, name, query string) *monitor.Request {
	about := monitor.Of(ctx)
	about.Name, about.Query, about.Queries = name, query, 1
	return about
}

// aboutBatch notes the index or table of a request, and the number of its queries.
func aboutBatch(ctx context.Context, name string, queries int) {
	about := monitor.Of(ctx)
	about.Name, about.Queries = name, queries
}

// has reports whether the server itself has an index, table or collection.
func (s *Server) has(name string) bool {
	_, err1 := s.indexes.Find(name)
	_, err2 := s.tables.Find(name)
	return err1 == nil || err2 == nil || s.isCollection(name)
}

// codeOf returns the name of the code of an error in metrics.
func codeOf(err error) string {
	if sent, ok := errors.AsType[*connect.Error](err); ok { // an error of the protocol
		return sent.Code().String()
	}
	if err == nil {
		return engine.OK.String()
	}
	e, _, _ := problem.Describe(err, "")
	return e.GetCode()
}

// count counts the error of a request.
func (s *Server) count(ctx context.Context, err error) {
	monitor.Of(ctx).Failed = true
	if limit, ok := errors.AsType[*problem.LimitError](err); ok {
		s.monitor.Refused(limit.Limit)
	}
}

// isQuery reports whether a procedure needs a slot. Probes and administration work under any load.
func isQuery(procedure string) bool {
	return strings.HasPrefix(procedure, "/"+api.IndexServiceName+"/") || strings.HasPrefix(procedure, "/"+api.TableServiceName+"/") ||
		strings.HasPrefix(procedure, "/"+api.InspectServiceName+"/Inspect") || procedure == api.InspectServiceDescribeTableProcedure
}

// isProtocol reports whether err is an error of a limit or of the protocol, not of the engine.
func isProtocol(err error) bool {
	_, limit := errors.AsType[*problem.LimitError](err)
	_, protocol := errors.AsType[*connect.Error](err)
	return limit || protocol
}

// call holds a slot from the arrival of the request to the first byte of the reply, so that slow
// clients hold none.
type call struct {
	connect.ServerStream
	ctx     context.Context
	s       *Server
	request *monitor.Request
	free    bool // needs no slot
	held    bool
	slot    admit.Slot
}

func (c *call) Receive(msg any) error {
	if err := c.ServerStream.Receive(msg); err != nil {
		if refused, ok := errors.AsType[*problem.LimitError](err); ok {
			return refused
		}
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &problem.LimitError{Limit: "body", Max: uint64(large.Limit)}
		}
		if connect.CodeOf(err) == connect.CodeResourceExhausted { // after decompression
			return &problem.LimitError{Limit: "body", Max: uint64(c.s.limits().Body)}
		}
		return err
	}
	if c.free || c.held {
		return nil
	}
	var ms uint32
	if m, ok := msg.(interface{ GetTimeoutMs() uint32 }); ok {
		ms = m.GetTimeoutMs()
	}
	var err error
	c.slot, err = c.s.enter(c.ctx, queriesOf(msg), ms)
	c.held = err == nil
	return err
}

// queriesOf returns the number of queries in a request.
func queriesOf(msg any) int {
	switch m := msg.(type) {
	case *api.SearchBatchRequest:
		return len(m.GetQueries())
	case *api.CountBatchRequest:
		return len(m.GetWhere())
	}
	return 1
}

// answerBytes is the memory of an answer per byte of its encoding: the message, its text, and the text that
// grows or is compressed.
const answerBytes = 6

func (c *call) Send(msg any) error {
	c.end(nil)
	if m, ok := msg.(proto.Message); ok {
		if err := problem.Take(c.ctx, answerBytes*int64(proto.Size(m))); err != nil {
			return err
		}
	}
	return c.ServerStream.Send(msg)
}

func (c *call) end(err error) {
	if c.held {
		c.held = false
		c.s.leave(c.slot, err)
	}
}

// enter takes a slot of a running request that asks for a time-out in milliseconds, 0 for the
// default.
func (s *Server) enter(ctx context.Context, queries int, ms uint32) (admit.Slot, error) {
	due := s.timeout(ms)
	if end, ok := ctx.Deadline(); ok {
		due = min(due, time.Until(end))
	}
	slot, refused := s.gate.Enter(monitor.Of(ctx).Caller, queries, due)
	return slot, problem.Refusal(refused)
}

// inSlot runs some queries of a request in a slot.
func (s *Server) inSlot(ctx context.Context, queries int, ms uint32, f func() error) error {
	slot, err := s.enter(ctx, queries, ms)
	if err != nil {
		return err
	}
	err = errPanic
	defer func() { s.leave(slot, err) }()
	err = f()
	return err
}

// errPanic is the error of a request whose handler has not returned.
var errPanic = errors.New("panic")

// leave gives a slot back after a request with an error, or nil.
func (s *Server) leave(slot admit.Slot, err error) {
	code := engine.CodeOf(err)
	s.gate.Leave(slot, code == engine.OK || code == engine.Deadline || code == engine.Canceled)
}

// timeout returns the time-out of a request that asks for some milliseconds, 0 for the default.
func (s *Server) timeout(ms uint32) time.Duration {
	if ms == 0 {
		return s.opt.Timeout
	}
	return min(time.Duration(ms)*time.Millisecond, s.opt.Timeout)
}

// milliseconds since began, to a microsecond.
func milliseconds(began time.Time) float64 { return inMilliseconds(time.Since(began)) }

func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
