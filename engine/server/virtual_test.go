package server

import (
	"context"
	"net"
	"net/http"
)

// pipes is a listener whose connections stay in the process. A server and its clients can then run
// in virtual time (testneeds.VirtualTime), in which computing takes no time and a pause takes exactly its
// length, on a busy machine, too. Virtual time does not pass while a goroutine waits for a network.
type pipes struct {
	accept chan net.Conn
	closed context.Context
	close  func()
}

func newPipes() *pipes {
	p := &pipes{accept: make(chan net.Conn)}
	p.closed, p.close = context.WithCancel(context.Background())
	return p
}

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

func (p *pipes) Addr() net.Addr { return loopback }

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accept <- pipe{server}:
		return client, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipe is a connection from a host.
type pipe struct{ net.Conn }

func (pipe) RemoteAddr() net.Addr { return loopback }

// listenAt serves r at pipes, where its client then asks.
func (r *running) listenAt(ctx context.Context, at *pipes) (done chan error) {
	done = make(chan error, 1)
	go func() { done <- r.Serve(ctx, at, nil) }()
	r.client = &http.Client{Transport: at.transport()}
	r.Cleanup(r.client.CloseIdleConnections)
	return done
}

// transport returns a transport of HTTP/1.1 to the listener.
func (p *pipes) transport() *http.Transport {
	return &http.Transport{DialContext: p.dial, DisableCompression: true, MaxConnsPerHost: 200, MaxIdleConnsPerHost: 200}
}
