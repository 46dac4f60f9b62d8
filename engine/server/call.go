package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
)

// intercept is the chain of all calls: a slot while a query runs, and the description of errors.
func (s *Server) intercept(next connect.ServerFunc) connect.ServerFunc {
	return func(ctx context.Context, spec connect.Spec, stream connect.ServerStream) error {
		call := &call{ServerStream: stream, s: s, free: !isQuery(spec.Procedure)}
		defer call.end()
		err := next(ctx, spec, call)
		if err == nil {
			return nil
		}
		id, _ := ctx.Value(requestKey{}).(string)
		if engine.CodeOf(err) == engine.Internal && !isProtocol(err) {
			s.opt.Log.Error().Str("request_id", id).Str("procedure", spec.Procedure).Err(err).Msg("call failed")
		}
		return remote(err, id)
	}
}

// isQuery reports whether a procedure needs a slot. Probes and administration work under any load.
func isQuery(procedure string) bool {
	return strings.HasPrefix(procedure, "/"+api.IndexServiceName+"/") || strings.HasPrefix(procedure, "/"+api.TableServiceName+"/")
}

// isProtocol reports whether err is an error of a limit or of the protocol, not of the engine.
func isProtocol(err error) bool {
	_, limit := errors.AsType[*LimitError](err)
	_, protocol := errors.AsType[*connect.Error](err)
	return limit || protocol
}

// call holds a slot from the arrival of the request to the first byte of the reply, so that slow
// clients hold none.
type call struct {
	connect.ServerStream
	s    *Server
	free bool // needs no slot
	held bool
}

func (c *call) Receive(msg any) error {
	if err := c.ServerStream.Receive(msg); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &LimitError{"body", uint64(large.Limit)}
		}
		if connect.CodeOf(err) == connect.CodeResourceExhausted { // after decompression
			return &LimitError{"body", uint64(c.s.opt.Limits.Body)}
		}
		return err
	}
	if c.free || c.held {
		return nil
	}
	err := c.s.enter()
	c.held = err == nil
	return err
}

func (c *call) Send(msg any) error {
	c.end()
	return c.ServerStream.Send(msg)
}

func (c *call) end() {
	if c.held {
		c.held = false
		c.s.leave()
	}
}

// enter takes a slot of a running request.
func (s *Server) enter() error {
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
		return &LimitError{"concurrency", uint64(cap(s.slots))}
	}
}

func (s *Server) leave() { <-s.slots }

// inSlot runs f in a slot.
func (s *Server) inSlot(f func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return f()
}

// timeout returns the time-out of a request that asks for some milliseconds, 0 for the default.
func (s *Server) timeout(ms uint32) time.Duration {
	if ms == 0 {
		return s.opt.Timeout
	}
	return min(time.Duration(ms)*time.Millisecond, s.opt.Timeout)
}

// caller names the client of a call, so that clients share the processors evenly: its host.
func caller(ctx context.Context) string {
	info, ok := connect.CallInfoForServerContext(ctx)
	if !ok {
		return ""
	}
	return host(info.PeerAddr)
}

// milliseconds since began, to a microsecond.
func milliseconds(began time.Time) float64 { return float64(time.Since(began).Microseconds()) / 1000 }
