package peers

import (
	"bufio"
	"container/list"
	"context"
	"crypto/tls"
	"net"
)

// Conn is an open connection of a Listener. It reads through a buffer, because net/http reads each frame of
// HTTP/2 without TLS in two parts. The methods Begin, Received and End do nothing for nil.
type Conn struct {
	net.Conn
	buffer *bufio.Reader
	l      *Listener
	host   string

	// The rest is guarded by l.mu.
	known    bool // an authorised request has arrived
	requests int  // number of running authorised requests
	bodies   int  // number of requests whose bodies have not arrived
	closed   bool
	in       *list.List // l.strangers, l.idle, l.sending, or nil while the server works
	at, near *list.Element
}

func newConn(c net.Conn, l *Listener) *Conn {
	return &Conn{Conn: c, buffer: bufio.NewReader(c), l: l, host: hostOf(c.RemoteAddr())}
}

func unwrap(c net.Conn) *Conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return c.(*Conn)
}

type connKey struct{}

// Context adds a connection of a Listener to the context of its requests, for http.Server.ConnContext.
func Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, unwrap(c))
}

// Of returns the connection of a request; nil without a Listener.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Known reports whether the connection has had an authorised request.
func (c *Conn) Known() bool {
	if c == nil {
		return false
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	return c.known
}

// Begin notes an authorised request. Received follows if it has a body, and End at its end.
func (c *Conn) Begin(body bool) {
	c.change(func() {
		c.known = true
		c.requests++
		if body {
			c.bodies++
		}
	})
}

// Received notes that a body has arrived, or is given up.
func (c *Conn) Received() { c.change(func() { c.bodies-- }) }

// End notes the end of an authorised request.
func (c *Conn) End() { c.change(func() { c.requests-- }) }

func (c *Conn) change(f func()) {
	if c == nil {
		return
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	f()
	c.place()
}

// place puts the connection at the end of the list that fits its state.
func (c *Conn) place() {
	l := c.l
	var to *list.List
	switch {
	case c.closed:
	case !c.known:
		to = &l.strangers
	case c.requests == 0:
		to = &l.idle
	case c.bodies == c.requests:
		to = &l.sending
	}
	if to == c.in {
		return
	}
	if c.in != nil {
		c.in.Remove(c.at)
	}
	if c.near != nil {
		near := l.byHost[c.host]
		near.Remove(c.near)
		if near.Len() == 0 {
			delete(l.byHost, c.host)
		}
		c.near = nil
	}
	if c.in = to; to == nil {
		return
	}
	c.at = to.PushBack(c)
	if to == &l.strangers {
		near := l.byHost[c.host]
		if near == nil {
			near = list.New()
			l.byHost[c.host] = near
		}
		c.near = near.PushBack(c)
	}
}

func (c *Conn) Read(p []byte) (int, error) { return c.buffer.Read(p) }

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.l.mu.Lock()
	if !c.closed {
		c.closed = true
		c.l.open--
		c.place()
	}
	c.l.mu.Unlock()
	return c.Conn.Close()
}
