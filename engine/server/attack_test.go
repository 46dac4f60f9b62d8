package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"heddle/engine"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
)

// guarded returns a guard with the tokens of two callers of role read.
func guarded(t *testing.T) (guard *access.Guard, reader, greedy string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	reader, first := accesstest.Token(t, "reader", access.Read)
	greedy, second := accesstest.Token(t, "greedy", access.Read)
	accesstest.Replace(t, file, first+"\n"+second)
	guard, err := access.Open(access.Files{Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	return guard, reader, greedy
}

// attacked is a server under attack, with a client from before the attack. Its clients are not the product's.
type attacked struct {
	*running
	at, token, greedy string       // address, and the tokens of the client and of an authorised attacker
	kept              *http.Client // keeps its connection
}

func attack(t *testing.T, opt Options) *attacked {
	t.Helper()
	a := &attacked{kept: &http.Client{Transport: &http.Transport{}}}
	if opt.Access == nil {
		opt.Access, a.token, a.greedy = guarded(t)
	}
	a.running = runOn(t, engine.Options{Backend: "host"}, opt)
	url, _, done := a.listen(t.Context())
	a.url, a.at = url, strings.TrimPrefix(url, "http://")
	t.Cleanup(func() {
		a.kept.CloseIdleConnections()
		a.Drain()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	a.search(a.kept)
	return a
}

// search asks as an authorised caller, and reports whether the connection is an old one.
func (a *attacked) search(c *http.Client) (reused bool) {
	a.Helper()
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(a.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }}),
		"POST", a.url+search, strings.NewReader(`{"query":"red"}`))
	if err != nil {
		a.Fatal(err)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := c.Do(req)
	if err != nil {
		a.Errorf("an authorised caller: %v", err)
		return reused
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		a.Errorf("an authorised caller: %d %s, %v", resp.StatusCode, body, err)
	}
	return reused
}

// answers checks that probes and authorised callers are answered on connections of their own, and the caller
// from before the attack on the old one.
func (a *attacked) answers() {
	a.Helper()
	for range 3 {
		for _, path := range []string{"/livez", "/readyz"} {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
			resp, err := c.Get(a.url + path)
			if err != nil {
				a.Errorf("%s under attack: %v", path, err)
				continue
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				a.Errorf("%s under attack: %d", path, resp.StatusCode)
			}
		}
		a.search(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute})
	}
	if !a.search(a.kept) {
		a.Error("the connection of an authorised caller made room for strangers")
	}
}

// dial opens a connection that stays open up to the end of the test.
func (a *attacked) dial() net.Conn {
	a.Helper()
	c, err := net.Dial("tcp", a.at)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { c.Close() })
	return c
}

// watch opens streams of grpc.health.v1.Health/Watch by frames of HTTP/2, and waits for the first reply. An
// error means that the server has ended the connection.
func watchStreams(c net.Conn, streams int) error {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	f := http2.NewFramer(c, c)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return err
	}
	if err := f.WriteSettings(); err != nil {
		return err
	}
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/grpc.health.v1.Health/Watch"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
			encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		id := uint32(2*i + 1)
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
			return err
		}
		if err := f.WriteData(id, true, make([]byte, 5)); err != nil { // an empty message
			return err
		}
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return err
		}
		if _, ok := frame.(*http2.DataFrame); ok {
			return nil
		}
	}
}

// TestUnauthenticatedWatches: more connections than the server takes hold watches of the health service, and
// one connection holds hundreds. Probes and authorised callers are answered.
func TestUnauthenticatedWatches(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Connections: 40, Unauthenticated: 20}})
	for range 60 {
		if err := watchStreams(a.dial(), 1); err != nil {
			t.Fatalf("a new connection finds no room: %v", err)
		}
	}
	a.answers()
	if err := watchStreams(a.dial(), 200); err != nil {
		t.Fatal(err)
	}
	if n := a.visits.Running(); n > 20 {
		t.Errorf("%d requests without a token run", n)
	}
	a.answers()
}

// TestSlowBodies: more connections than the server takes send bodies that never end, to routes with and
// without a token, in each form of a body.
func TestSlowBodies(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Connections: 40}})
	for _, head := range []string{
		"POST " + search + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
		"POST " + search + " HTTP/1.1\r\nContent-Length: 1000\r\n",
		"POST " + search + " HTTP/1.1\r\nAuthorization: Bearer wrong\r\nTransfer-Encoding: chunked\r\n",
		"GET /livez HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
		"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
		"POST /v1/indexes/looms/ready HTTP/1.1\r\nContent-Length: 100000\r\n",
	} {
		var all []net.Conn
		for range 60 {
			c := a.dial()
			fmt.Fprintf(c, "%sHost: localhost\r\n\r\n1\r\n{\r\n", head) // an error: it has made room for a later one
			all = append(all, c)
		}
		a.answers()
		if strings.Contains(head, "Check") { // the server waits for the message
			continue
		}
		last := all[len(all)-1] // the server answers, and does not wait for the body
		resp, err := http.ReadResponse(bufio.NewReader(last), nil)
		if err != nil || !resp.Close {
			t.Errorf("%.30s…: %+v, %v; want a reply that ends the connection", head, resp, err)
			continue
		}
		if _, err := io.Copy(io.Discard, last); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%.30s…: %v", head, err)
		}
	}
}

// TestSlowBodiesWithoutTokens: where all callers are equal, a body that never ends makes room, too.
func TestSlowBodiesWithoutTokens(t *testing.T) {
	open, err := access.Open(access.Files{})
	if err != nil {
		t.Fatal(err)
	}
	a := attack(t, Options{Access: open, Limits: Limits{Connections: 40}})
	for range 60 {
		fmt.Fprintf(a.dial(), "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", search)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		if resp, err := c.Get(a.url + path); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", path, resp, err)
		}
	}
	a.search(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute})
}

// TestWatchMakesRoom: a watch that makes room ends with a reason, and an authorised one stays.
func TestWatchMakesRoom(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Unauthenticated: 1}})
	open := func(header string) *bufio.Reader {
		c := a.dial()
		const body = "\x00\x00\x00\x00\x02{}"
		fmt.Fprintf(c, "POST /grpc.health.v1.Health/Watch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+json\r\nContent-Length: %d\r\n%s\r\n%s", len(body), header, body)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", resp, err)
		}
		r := bufio.NewReader(resp.Body)
		if _, err := r.Peek(6); err != nil { // the first status
			t.Fatal(err)
		}
		return r
	}
	known, stranger := open("Authorization: Bearer "+a.token+"\r\n"), open("")
	open("")
	text, err := io.ReadAll(stranger)
	if err != nil || !bytes.Contains(text, []byte("max_unauthenticated")) || !bytes.Contains(text, []byte("resource_exhausted")) {
		t.Errorf("the oldest watch ends with %q, %v", text, err)
	}
	a.Drain()
	if text, err := io.ReadAll(known); err != nil || bytes.Contains(text, []byte("resource_exhausted")) {
		t.Errorf("the watch of an authorised caller ends with %q, %v", text, err)
	}
}
