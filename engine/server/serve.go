package server

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"heddle/engine/server/access"
)

// Serve answers requests until ctx ends or Drain is called. Then it reports not ready, waits for
// Options.DrainDelay while it still answers, refuses new connections, and returns after the last
// reply. A request that takes longer than the time-outs of the server is cut off. The listener
// admin, unless nil, serves AdminHandler. Serve closes the listeners.
func (s *Server) Serve(ctx context.Context, listener, admin net.Listener) error {
	requests, cut := context.WithCancel(context.Background()) // requests outlive ctx
	defer cut()
	servers := []*http.Server{s.httpServer(requests, s.Handler(), false)}
	listeners := []net.Listener{listener}
	if admin != nil {
		servers, listeners = append(servers, s.httpServer(requests, s.AdminHandler(), true)), append(listeners, admin)
	}
	failed := make(chan error, len(servers))
	for i, h := range servers {
		l := &limitedListener{Listener: listeners[i], s: s}
		h.ConnState = l.note
		go func() { failed <- access.Serve(h, l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case <-s.drain:
	case err = <-failed:
	}
	s.Drain()
	if err == nil && s.loaded() == nil { // a server that was never ready has no clients
		time.Sleep(s.opt.DrainDelay)
	}
	last, done := context.WithTimeout(requests, s.opt.Timeout+2*s.opt.Stall)
	defer done()
	for _, h := range servers {
		if wrong := h.Shutdown(last); wrong != nil {
			err = errors.Join(err, wrong, h.Close())
		}
	}
	return err
}

// httpServer returns the server of a listener, whose requests end with the context.
func (s *Server) httpServer(requests context.Context, h http.Handler, admin bool) *http.Server {
	hs := s.opt.Access.Server(h, admin, s.opt.Stall)
	hs.ReadTimeout, hs.ErrorLog = s.opt.Stall, log.New(s.opt.Log, "", 0)
	hs.BaseContext = func(net.Listener) context.Context { return requests }
	return hs
}
