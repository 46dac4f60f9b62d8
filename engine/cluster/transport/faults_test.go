package transport

import (
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"

	"heddle/engine/api"
	"heddle/engine/plan/testneeds"
)

// TestPayload: a message above the limit of NATS is refused at once, with the name of the limit.
func TestPayload(t *testing.T) {
	b := broker(t, nil)
	overNATS(t, &script{}, b)
	to, _ := (&NATS{Conn: dial(t, b.ClientURL(), Options{})}).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	for _, r := range []*api.SearchRequest{{Query: "large"}, {Query: strings.Repeat("x", 1<<20)}} {
		_, err := c.Search(t.Context(), r)
		if d, ok := api.DetailOf(err); !ok || d.GetLimit() != "payload" || d.GetMax() != 1<<20 || connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("error %v, detail %v", err, d)
		}
	}
}

// TestGone: a call to a node that does not exist, ends or stops fails with code Unavailable.
func TestGone(t *testing.T) {
	b := broker(t, nil)
	conn := dial(t, b.ClientURL(), Options{})
	to, _ := (&NATS{Conn: conn, Probe: 20 * time.Millisecond}).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	gone := func(when string, err error) {
		t.Helper()
		if connect.CodeOf(err) != connect.CodeUnavailable {
			t.Errorf("%s: %v", when, err)
		}
	}
	_, err := c.Search(t.Context(), &api.SearchRequest{})
	gone("no node", err)

	s := &script{began: make(chan error, 1), ended: make(chan error, 1)}
	v := overNATS(t, s, b)
	go func() { <-s.began; v.conn.Close() }()
	_, err = c.Search(t.Context(), &api.SearchRequest{Query: "wait"})
	gone("the connection of the node closes", err)

	s = &script{began: make(chan error, 1), ended: make(chan error, 1)}
	overNATS(t, s, b)
	go func() { <-s.began; b.Shutdown() }()
	_, err = c.Search(t.Context(), &api.SearchRequest{Query: "wait"})
	gone("NATS ends", err)
	_, err = c.Search(t.Context(), &api.SearchRequest{})
	gone("without NATS", err)
}

// TestForgotten: a node that does not know a call ends it. The request was lost, or the answer, or the node
// has started again.
func TestForgotten(t *testing.T) {
	testneeds.Waits(t)
	const probe = time.Second / 2 // four of them without an answer end a call, too
	b := broker(t, nil)
	to, _ := (&NATS{Conn: dial(t, b.ClientURL(), Options{Ping: patience}), Probe: probe}).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	s := &script{began: make(chan error, 1), ended: make(chan error, 1)}
	v := overNATS(t, s, b)
	go func() {
		<-s.began
		time.Sleep(5 * probe / 2) // the probes of a call that the node knows do not end it
		v.mu.Lock()
		defer v.mu.Unlock()
		clear(v.cancel)
	}()
	began := time.Now()
	_, err := c.Search(t.Context(), &api.SearchRequest{Query: "wait"})
	if connect.CodeOf(err) != connect.CodeUnavailable || !strings.Contains(err.Error(), errForgotten.Error()) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took < 5*probe/2 {
		t.Errorf("the call ended after %v, before the node forgot it", took)
	}
}

// TestSilent: a connection that drops all bytes without a reset ends calls, and comes back.
func TestSilent(t *testing.T) {
	b := broker(t, nil)
	p := &proxy{to: b.Addr().String()}
	at := p.listen(t)
	s := &script{began: make(chan error, 1), ended: make(chan error, 1)}
	overNATS(t, s, b)
	back := make(chan error, 16)
	conn := dial(t, "nats://"+at, Options{Ping: 100 * time.Millisecond, Lost: func(err error) { back <- err }})
	to, _ := (&NATS{Conn: conn, Probe: 20 * time.Millisecond}).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	go func() { <-s.began; p.silence(true) }()
	if _, err := c.Search(t.Context(), &api.SearchRequest{Query: "wait"}); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("a silent connection: %v", err)
	}
	if err := <-back; err == nil {
		t.Error("the loss was not reported")
	}
	p.silence(false)
	for err := range back {
		if err == nil {
			break
		}
	}
	_, err := c.Search(t.Context(), &api.SearchRequest{Query: "x"})
	for end := time.Now().Add(patience); err != nil && time.Now().Before(end); _, err = c.Search(t.Context(), &api.SearchRequest{Query: "x"}) {
		time.Sleep(time.Millisecond) // on a busy machine the connection may seem silent again
	}
	if err != nil {
		t.Errorf("after the silence: %v", err)
	}
}

// proxy forwards connections, and drops their bytes while it is silent.
type proxy struct {
	to    string
	mu    sync.Mutex
	quiet bool
}

func (p *proxy) silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = on
}

func (p *proxy) listen(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", p.to)
			if err != nil {
				from.Close()
				continue
			}
			go p.copy(from, to)
			go p.copy(to, from)
		}
	}()
	return l.Addr().String()
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	for b := make([]byte, 4096); ; {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		quiet := p.quiet
		p.mu.Unlock()
		if !quiet {
			to.Write(b[:n])
		}
	}
}

// TestDrain: Stop answers the calls that have arrived.
func TestDrain(t *testing.T) {
	b := broker(t, nil)
	s := &script{began: make(chan error, 64), hold: make(chan struct{})}
	v := overNATS(t, s, b)
	to, _ := patient(t, b).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	answers := make(chan error, 64)
	for range 64 {
		go func() {
			_, err := c.Search(t.Context(), &api.SearchRequest{Query: "hold"})
			answers <- err
		}()
	}
	for range 64 {
		<-s.began
	}
	stopped := make(chan struct{})
	go func() { stop(t, v); close(stopped) }()
	for connect.CodeOf(func() error { _, err := c.Search(t.Context(), &api.SearchRequest{}); return err }()) != connect.CodeUnavailable {
		runtime.Gosched()
	}
	close(s.hold)
	for range 64 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	<-stopped
}

// TestConcurrency: a node runs as many calls as it may, and refuses the next one.
func TestConcurrency(t *testing.T) {
	b := broker(t, nil)
	s := &script{began: make(chan error, 2), hold: make(chan struct{})}
	v, err := Service{Node: "n1", Server: s.rpc(), Concurrency: 2}.Serve(dial(t, b.ClientURL(), Options{Ping: patience}))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, v)
	release := sync.OnceFunc(func() { close(s.hold) })
	defer release()
	to, _ := patient(t, b).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	held := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.Search(t.Context(), &api.SearchRequest{Query: "hold"})
			held <- err
		}()
	}
	for range 2 {
		select {
		case <-s.began:
		case err := <-held:
			t.Fatalf("one of two calls: %v", err)
		}
	}
	if _, err := c.Search(t.Context(), &api.SearchRequest{}); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("the third call: %v", err)
	}
	release()
	for range 2 {
		if err := <-held; err != nil {
			t.Error(err)
		}
	}
}

// TestMissedProbes: four probes without an answer end a call only if they follow one another. The test tries again
// where a busy machine brings the answers of probes late.
func TestMissedProbes(t *testing.T) {
	b := broker(t, nil)
	node := dial(t, b.ClientURL(), Options{Ping: patience})
	var probes atomic.Int64
	subscribe := func(to string, f nats.MsgHandler) {
		if _, err := node.Subscribe(to, f); err != nil {
			t.Fatal(err)
		}
	}
	subscribe(aliveSubject("n1"), func(m *nats.Msg) {
		if probes.Add(1)%2 == 0 {
			_ = m.Respond(nil)
		}
	})
	subscribe(subject("n1", api.IndexServiceSearchProcedure), func(m *nats.Msg) {
		go func() {
			for end := probes.Load() + 10; probes.Load() < end && m.Header.Get(cancelHeader) == ""; {
				time.Sleep(time.Millisecond)
			}
			_ = m.Respond(nil)
		}()
	})
	if err := node.Flush(); err != nil {
		t.Fatal(err)
	}
	var err error
	for probe := 20 * time.Millisecond; probe < 700*time.Millisecond; probe *= 2 {
		to, _ := (&NATS{Conn: dial(t, b.ClientURL(), Options{Ping: patience}), Probe: probe}).Dial("n1")
		if _, err = api.NewIndexServiceClient(connect.NewClient(to)).Search(t.Context(), &api.SearchRequest{}); err == nil {
			return
		}
	}
	t.Error(err)
}
