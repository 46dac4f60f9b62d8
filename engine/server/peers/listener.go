package peers

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// Limits of a listener.
type Limits struct {
	// Connections is the number of open connections.
	Connections int
	// Address is the number of connections of an address whose callers have shown no right yet. The
	// addresses of a network of IPv6 with 64 bits count as one.
	Address int
}

// Listener bounds the open connections. Above a limit, a connection that waits for its peer makes room for
// a new one:
//
//  1. the oldest connection without an authorised request, whatever it does;
//  2. the connection that waits longest for a further request;
//  3. the connection that waits longest for the bodies of its requests.
//
// If the server works on requests of all connections, the new one is closed. Waiting in the queue of the
// system would also delay the connections of clients that the server could answer.
type Listener struct {
	net.Listener
	limits  func() Limits
	refused func(limit string)

	mu   sync.Mutex
	open int
	// Connections that wait for their peers, the oldest first.
	strangers, idle, sending list.List
	byHost                   map[string]*list.List // the strangers of an address
}

// NewListener returns a listener with limits that may change. It reports each connection beyond a limit as
// "connections" or "address_connections".
func NewListener(l net.Listener, limits func() Limits, refused func(limit string)) *Listener {
	return &Listener{Listener: l, limits: limits, refused: refused, byHost: map[string]*list.List{}}
}

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := newConn(accepted, l)
		limit, end := l.add(c)
		if limit != "" {
			l.refused(limit)
		}
		if end != nil {
			end.Close()
		}
		if end != c {
			return c, nil
		}
	}
}

// add counts a connection. Beyond a limit, it returns the connection that must end.
func (l *Listener) add(c *Conn) (limit string, end *Conn) {
	most := l.limits()
	l.mu.Lock()
	defer l.mu.Unlock()
	near := l.byHost[c.host]
	switch {
	case near != nil && near.Len() >= most.Address:
		limit, end = "address_connections", near.Front().Value.(*Conn)
	case l.open >= most.Connections:
		limit, end = "connections", c
		for _, waiting := range []*list.List{&l.strangers, &l.idle, &l.sending} {
			if first := waiting.Front(); first != nil {
				end = first.Value.(*Conn)
				break
			}
		}
	}
	l.open++
	c.place()
	return limit, end
}

// hostOf returns the address that limits of an address count.
func hostOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return a.String()
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}
