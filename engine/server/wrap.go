package server

import (
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/stack"
	"heddle/engine/server/access"
	"heddle/engine/server/admit"
	"heddle/engine/server/bodies"
	"heddle/engine/server/monitor"
	"heddle/engine/server/peers"
	"heddle/engine/server/problem"
)

// wrap adds the parts that all routes share: request id, rights of the caller, size of the body,
// time of the reply (0 is no limit), web pages that may call, recovery from a
// panic. Need returns the role that a path needs.
func (s *Server) wrap(mux http.Handler, most time.Duration, need func(path string) access.Role, admin bool) http.Handler {
	var from pages
	if !admin {
		from = pagesOf(s.opt.Origins)
	}
	mux = from.checked(mux)
	return from.all(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 { // a goroutine for each request, not for each connection
			stack.Grow()
		}
		role := need(r.URL.Path)
		caller, err := s.opt.Access.Check(r, role)
		about := &monitor.Request{ID: requestID(r.Header.Get(problem.RequestHeader)), Caller: caller}
		w.Header().Set(problem.RequestHeader, about.ID)
		var deadline time.Time                 // none
		if most > 0 && !isHealth(r.URL.Path) { // Watch has no end
			deadline = time.Now().Add(most)
		}
		http.NewResponseController(w).SetWriteDeadline(deadline) // writers of tests have no deadlines
		if s.isDraining() {
			w.Header().Set("Connection", "close") // in HTTP/2 a frame GOAWAY
		}
		x := s.monitor.Begin(w, r)
		memory := s.budget.Open(caller)
		defer memory.Close() // the reply is written
		ctx := admit.With(monitor.With(x.Request().Context(), about), memory)
		r = x.Request().WithContext(limit.WithMemory(ctx, func(n int64) error { return lend(memory, n) }))
		defer x.End(r)
		defer func() {
			if p := recover(); p != nil {
				x.Failed()
				s.opt.Log.Error().Str("request_id", about.ID).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("request failed")
				panic(http.ErrAbortHandler)
			}
		}()
		if err == nil && role != access.None && !s.opt.Access.Closed(admin) {
			err = access.CheckHost(r, s.opt.Hosts)
		}
		if err == nil && (role != access.None || s.opt.Access.Known(r)) {
			s.serveKnown(x, r, mux)
			return
		}
		s.serveStranger(x, r, mux, err)
	}))
}

// lend takes memory, or gives it back.
func lend(memory *admit.Account, bytes int64) error {
	if bytes < 0 {
		memory.Give(-bytes)
		return nil
	}
	return problem.Refusal(memory.Take(bytes))
}

// serveKnown answers an authorised request.
func (s *Server) serveKnown(w http.ResponseWriter, r *http.Request, h http.Handler) {
	body := r.Body != http.NoBody
	conn := peers.Of(r.Context())
	conn.Begin(body)
	defer conn.End()
	if body {
		arriving := &arriving{ReadCloser: r.Body, end: sync.OnceFunc(conn.Received)}
		defer arriving.end()
		r.Body = arriving
	}
	if !isUpload(r.URL.Path) {
		r.Body = bodies.Bounded(w, r, r.Body, s.limits().Body)
	}
	h.ServeHTTP(w, r)
}

// arriving is the body of a request. It calls end after its last byte.
type arriving struct {
	io.ReadCloser
	end func()
}

func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.end()
	}
	return n, err
}

// strangerBody is the maximum size in bytes of the request of a caller without a proof: a health check.
const strangerBody = 4 << 10

// serveStranger answers a probe, or a request that is refused: the caller has shown no token and no
// certificate. Such requests have a budget of their own. The server does not wait for the rest of their
// bodies.
func (s *Server) serveStranger(w http.ResponseWriter, r *http.Request, h http.Handler, refused error) {
	control := http.NewResponseController(w)
	stop := func() { control.SetReadDeadline(time.Unix(1, 0)) } // writers of tests have no deadlines
	most := s.limits().Unauthenticated
	ctx, leave, room := s.visits.Enter(r.Context(), most, &problem.LimitError{Limit: "unauthenticated", Max: uint64(most), After: time.Second}, func() {
		stop()
		control.SetWriteDeadline(time.Now().Add(time.Second)) // for the last words
	})
	defer leave()
	if room {
		s.monitor.Refused("unauthenticated")
	}
	body := r.Body != http.NoBody
	if body {
		defer stop()
	}
	if body && r.ProtoMajor == 1 || refused != nil && !peers.Of(ctx).Known() {
		w.Header().Set("Connection", "close")
	}
	if refused != nil {
		problem.Write(w, refused)
		return
	}
	seen := r.WithContext(ctx)
	seen.Body = bodies.Bounded(w, r, r.Body, min(strangerBody, s.limits().Body))
	h.ServeHTTP(w, seen)
	r.Pattern = seen.Pattern // for the report of the request
}
