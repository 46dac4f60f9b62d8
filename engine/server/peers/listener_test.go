package peers

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// at is a connection from an address.
type at struct {
	net.Conn
	from string
}

func (a at) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.from)) }

func (a at) Close() error { return nil }

// model is a connection as the test sees it.
type model struct {
	c                *Conn
	known            bool
	requests, bodies int
	waits            int // time of the last change of its kind
}

// kind is 0 for a stranger, 1 for an idle connection, 2 for bodies that arrive, 3 while the server works.
func (m *model) kind() int {
	switch {
	case !m.known:
		return 0
	case m.requests == 0:
		return 1
	case m.bodies == m.requests:
		return 2
	}
	return 3
}

// TestListener compares the connections that make room with the plain rule.
func TestListener(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Connections: rapid.IntRange(1, 8).Draw(t, "connections"), Address: rapid.IntRange(1, 8).Draw(t, "address")}
		l := NewListener(nil, func() Limits { return limits }, func(string) {})
		var open []*model
		now := 0
		oldest := func(fits func(*model) bool) (first *model) {
			for _, m := range open {
				if fits(m) && (first == nil || m.waits < first.waits) {
					first = m
				}
			}
			return first
		}
		drop := func(c *Conn) {
			open = slices.DeleteFunc(open, func(m *model) bool { return m.c == c })
		}
		change := func(m *model, f func()) {
			before := m.kind()
			f()
			if m.kind() != before {
				now++
				m.waits = now
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"accept": func(t *rapid.T) {
				from := rapid.SampledFrom([]string{"10.0.0.1:1", "10.0.0.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1"}).Draw(t, "from")
				c := newConn(at{from: from}, l)
				near := 0
				for _, m := range open {
					if m.kind() == 0 && m.c.host == c.host {
						near++
					}
				}
				want, end := "", (*Conn)(nil)
				if near >= limits.Address {
					want, end = "address_connections", oldest(func(m *model) bool { return m.kind() == 0 && m.c.host == c.host }).c
				} else if len(open) >= limits.Connections {
					want, end = "connections", c
					for kind := 2; kind >= 0; kind-- {
						if m := oldest(func(m *model) bool { return m.kind() == kind }); m != nil {
							end = m.c
						}
					}
				}
				limit, got := l.add(c)
				if limit != want || got != end {
					t.Fatalf("limit %q, %p ends; want %q, %p", limit, got, want, end)
				}
				now++
				open = append(open, &model{c: c, waits: now})
				if end != nil {
					end.Close()
					drop(end)
				}
			},
			"begin": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no connection")
				}
				m, body := rapid.SampledFrom(open).Draw(t, "connection"), rapid.Bool().Draw(t, "body")
				change(m, func() {
					m.known = true
					m.requests++
					if body {
						m.bodies++
					}
				})
				m.c.Begin(body)
			},
			"received": func(t *rapid.T) {
				m := oldest(func(m *model) bool { return m.bodies > 0 })
				if m == nil {
					t.Skip("no body")
				}
				change(m, func() { m.bodies-- })
				m.c.Received()
			},
			"end": func(t *rapid.T) {
				m := oldest(func(m *model) bool { return m.requests > m.bodies })
				if m == nil {
					t.Skip("no request")
				}
				change(m, func() { m.requests-- })
				m.c.End()
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no connection")
				}
				m := rapid.SampledFrom(open).Draw(t, "connection")
				m.c.Close()
				m.c.Close()
				drop(m.c)
			},
			"": func(t *rapid.T) {
				if l.Open() != len(open) {
					t.Fatalf("%d connections, want %d", l.Open(), len(open))
				}
				for _, m := range open {
					if m.c.closed {
						t.Fatalf("%+v is closed", m)
					}
				}
			},
		})
		for len(open) > 0 {
			open[0].c.Close()
			open = open[1:]
		}
		if len(l.byHost) != 0 || l.strangers.Len()+l.idle.Len()+l.sending.Len() != 0 {
			t.Fatalf("closed connections stay in the lists: %v", l.byHost)
		}
	})
}

// TestHosts: the networks of IPv6 with 64 bits, and an address of IPv4 in either form, count as one.
func TestHosts(t *testing.T) {
	for from, want := range map[string]string{
		"10.0.0.1:7": "10.0.0.1", "[::ffff:10.0.0.1]:7": "10.0.0.1", "[2001:db8::1]:7": "2001:db8::/64", "[2001:db8::ffff:1]:9": "2001:db8::/64", "[2001:db8:0:1::1]:7": "2001:db8:0:1::/64",
	} {
		if got := hostOf(at{from: from}.RemoteAddr()); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// TestAtWork: a connection with a request at work makes no room, whether or not the body of another request is on
// its way.
func TestAtWork(t *testing.T) {
	l := NewListener(nil, func() Limits { return Limits{Connections: 1, Address: 1} }, func(string) {})
	first := newConn(at{from: "10.0.0.1:1"}, l)
	l.add(first)
	first.Begin(false)
	first.Begin(true)
	for _, c := range []struct {
		change func()
		makes  bool // room
	}{{func() {}, false}, {first.End, true}, {first.Received, false}, {first.End, true}} {
		c.change()
		next := newConn(at{from: "10.0.0.2:1"}, l)
		limit, end := l.add(next)
		if limit != "connections" || (end == first) != c.makes || end != first && end != next {
			t.Errorf("limit %q, the first connection makes room: %v, want %v", limit, end == first, c.makes)
		}
		next.Close()
	}
}
