package server

import (
	"bufio"
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// limitedListener bounds the open connections by Limits.Connections. Above it, a new connection takes
// the place of a connection that waits for a request, so that silent connections keep no client
// out. If all connections have a request, the new one is closed. Waiting in the queue of the system would
// also delay the connections of clients that the server could answer.
type limitedListener struct {
	net.Listener
	s *Server

	mu   sync.Mutex
	open int
	// Connections that wait for a request, the oldest first.
	fresh list.List // for their first one
	idle  list.List // for a further one
}

// heldConn is an open connection of a limitedListener. It reads through a buffer, because net/http
// reads each frame of HTTP/2 without TLS in two parts.
type heldConn struct {
	net.Conn
	buffer *bufio.Reader
	l      *limitedListener
	in     *list.List // l.fresh, l.idle, or nil while it has a request; guarded by l.mu
	at     *list.Element
	closed bool // guarded by l.mu
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		held := &heldConn{Conn: c, buffer: bufio.NewReader(c), l: l}
		full, oldest := l.add(held)
		if full {
			l.s.monitor.Refused("connections")
		}
		if oldest != nil {
			oldest.Close()
		}
		if oldest != held {
			return held, nil
		}
	}
}

// add counts a connection. If the listener is full, it returns the connection that must end.
func (l *limitedListener) add(c *heldConn) (full bool, end *heldConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if full = l.open >= l.s.limits().Connections; full {
		end = c
		for _, waiting := range []*list.List{&l.fresh, &l.idle} {
			if first := waiting.Front(); first != nil {
				end = first.Value.(*heldConn)
				break
			}
		}
	}
	l.open++
	c.move(&l.fresh)
	return full, end
}

// note follows the state of a connection, for http.Server.ConnState.
func (l *limitedListener) note(c net.Conn, state http.ConnState) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	held := c.(*heldConn)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateActive:
		held.move(nil)
	case http.StateIdle:
		held.move(&l.idle)
	}
}

// move puts a connection, unless it is closed, at the end of a list; nil is none.
func (c *heldConn) move(to *list.List) {
	if c.in != nil {
		c.in.Remove(c.at)
	}
	c.in = nil
	if to != nil && !c.closed {
		c.in, c.at = to, to.PushBack(c)
	}
}

func (c *heldConn) Read(p []byte) (int, error) { return c.buffer.Read(p) }

func (c *heldConn) Close() error {
	c.l.mu.Lock()
	if !c.closed {
		c.closed = true
		c.move(nil)
		c.l.open--
	}
	c.l.mu.Unlock()
	return c.Conn.Close()
}
