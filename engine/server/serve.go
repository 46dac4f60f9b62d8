package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve answers requests until ctx ends or Drain is called. Then it reports not ready, waits for
// Options.DrainDelay while it still answers, refuses new connections, and returns after the last
// reply. A request that takes longer than the time-outs of the server is cut off. The listener
// admin, unless nil, serves AdminHandler. Serve closes the listeners.
func (s *Server) Serve(ctx context.Context, listener, admin net.Listener) error {
	requests, cut := context.WithCancel(context.Background()) // requests outlive ctx
	defer cut()
	servers := []*http.Server{s.httpServer(requests, s.Handler(), s.opt.Access.TLS(false))}
	listeners := []net.Listener{listener}
	if admin != nil {
		servers, listeners = append(servers, s.httpServer(requests, s.AdminHandler(), s.opt.Access.TLS(true))), append(listeners, admin)
	}
	failed := make(chan error, len(servers))
	for i, h := range servers {
		l := &limitedListener{Listener: listeners[i], s: s}
		h.ConnState = l.note
		go func() {
			if h.TLSConfig != nil {
				failed <- h.ServeTLS(l, "", "")
			} else {
				failed <- h.Serve(l)
			}
		}()
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

// httpServer returns a server of HTTP/1.1 and HTTP/2, with TLS unless secure is nil. A connection
// of HTTP/2 whose client does not answer pings ends.
func (s *Server) httpServer(requests context.Context, h http.Handler, secure *tls.Config) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(secure != nil)
	protocols.SetUnencryptedHTTP2(secure == nil)
	return &http.Server{
		Handler: h, Protocols: protocols, TLSConfig: secure,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: s.opt.Stall, PingTimeout: s.opt.Stall},
		ReadHeaderTimeout: s.opt.Stall, ReadTimeout: s.opt.Stall, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    log.New(s.opt.Log, "", 0),
	}
}
