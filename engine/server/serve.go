package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"heddle/engine/server/access"
	"heddle/engine/server/peers"
)

// Serve answers requests until ctx ends or Drain is called. Then it reports not ready, and ends each
// connection after its next reply. It waits for Options.DrainDelay while it still answers, refuses new
// connections, and returns after the last reply. A request that takes longer than the time-outs of the
// server is cut off. The listener admin, unless nil, serves AdminHandler. Serve closes the listeners.
func (s *Server) Serve(ctx context.Context, listener, admin net.Listener) error {
	requests, cut := context.WithCancel(context.Background()) // requests outlive ctx
	defer cut()
	go s.inspect.Record(requests)
	servers := []*http.Server{s.httpServer(requests, s.Handler(), false)}
	listeners := []net.Listener{listener}
	if admin != nil {
		servers, listeners = append(servers, s.httpServer(requests, s.AdminHandler(), true)), append(listeners, admin)
	}
	failed := make(chan error, len(servers))
	limited := make([]*peers.Listener, len(servers))
	for i, h := range servers {
		l := peers.NewListener(listeners[i], s.peerLimits, s.monitor.Refused)
		h.ConnContext, limited[i] = peers.Context, l
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
	for _, l := range listeners {
		err = errors.Join(err, closeListener(l))
	}
	linger(limited)
	last, done := context.WithTimeout(requests, s.opt.Timeout+2*s.opt.Stall)
	defer done()
	for _, h := range servers {
		if wrong := h.Shutdown(last); wrong != nil && !errors.Is(wrong, net.ErrClosed) { // its listener is closed
			err = errors.Join(err, wrong, h.Close())
		}
	}
	return err
}

// closeListener closes a listener, unless it is closed.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// lingering is the time in which clients may still send requests on connections that they have kept, after the
// end of new connections. Each reply ends its connection.
const lingering = 250 * time.Millisecond

// linger waits until all connections have ended, or for the time lingering.
func linger(all []*peers.Listener) {
	for end := time.Now().Add(lingering); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !slices.ContainsFunc(all, func(l *peers.Listener) bool { return l.Open() > 0 }) {
			return
		}
	}
}

// peerLimits returns the limits of a listener.
func (s *Server) peerLimits() peers.Limits {
	l := s.limits()
	return peers.Limits{Connections: l.Connections, Address: l.AddressConnections}
}

// httpServer returns the server of a listener, whose requests end with the context.
func (s *Server) httpServer(requests context.Context, h http.Handler, admin bool) *http.Server {
	hs := s.opt.Access.Server(h, admin, s.opt.Stall, s.opt.Log)
	hs.ReadTimeout = s.opt.Stall
	hs.BaseContext = func(net.Listener) context.Context { return requests }
	return hs
}
