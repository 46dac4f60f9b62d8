//go:build !core

package main

import (
	"net"
	"sync"
	"testing"
)

// proxy passes connections on. While it is silent, it takes all bytes and passes none.
type proxy struct {
	to     string
	l      net.Listener
	mu     sync.Mutex
	silent bool
	open   []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: to, l: l}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			tasks.Go(func() { p.connect(in, &tasks) })
		}
	})
	t.Cleanup(func() { l.Close(); p.silence(false); tasks.Wait() })
	return p
}

func (p *proxy) at() string { return p.l.Addr().String() }

// silence makes the proxy silent. At the end of the silence its connections break: they lack bytes.
func (p *proxy) silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent = on; !on {
		for _, c := range p.open {
			c.Close()
		}
		p.open = nil
	}
}

func (p *proxy) connect(in net.Conn, tasks *sync.WaitGroup) {
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		in.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, in, out)
	p.mu.Unlock()
	tasks.Go(func() { p.pass(in, out) })
	p.pass(out, in)
}

// pass copies bytes until an end closes.
func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if err != nil {
			return
		}
		if !silent {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
}
