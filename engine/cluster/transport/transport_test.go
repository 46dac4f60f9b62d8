package transport

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectproto"
	"github.com/nats-io/nats-server/v2/server"
	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/api"
)

const patience = time.Minute // a hang, not slowness

// broker starts a real NATS server.
func broker(t *testing.T, opt *server.Options) *server.Server {
	t.Helper()
	if opt == nil {
		opt = new(server.Options)
	}
	opt.Host, opt.NoSigs, opt.NoLog = "127.0.0.1", true, true
	if opt.Port == 0 {
		opt.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(opt)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

func dial(t *testing.T, at string, opt Options) *Conn {
	t.Helper()
	c, err := Connect(at, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// script is a service whose calls follow the orders in their text.
type script struct {
	api.UnimplementedIndexServiceHandler
	began, ended chan error // start and end of a call of "wait"; the end has the cause
	hold         chan struct{}
}

func (s *script) Search(ctx context.Context, r *api.SearchRequest) (*api.SearchResponse, error) {
	switch r.GetQuery() {
	case "wait":
		s.began <- nil
		<-ctx.Done()
		s.ended <- ctx.Err()
		return nil, ctx.Err()
	case "hold":
		s.began <- nil
		<-s.hold
	case "panic":
		panic("script")
	case "left":
		end, ok := ctx.Deadline()
		if !ok {
			return &api.SearchResponse{}, nil
		}
		return &api.SearchResponse{TookMs: time.Until(end).Seconds()}, nil
	case "header":
		info, _ := connect.CallInfoForServerContext(ctx)
		info.ResponseHeader().Set("X-Answer", info.RequestHeader().Get("X-Request-Id"))
		info.ResponseTrailer().Set("X-End", "over")
	case "large":
		return &api.SearchResponse{Explanation: strings.Repeat("x", 3<<20), Total: &api.Total{Value: uint64(len(r.GetTerms()))}}, nil
	case "plain":
		return nil, errors.New("a secret of the node")
	}
	if code, ok := strings.CutPrefix(r.GetQuery(), "fail "); ok {
		offset := uint32(7)
		d, err := connectproto.NewErrorDetail(&api.Error{Code: code, Message: "two\nlines", Offset: &offset, RequestId: "4"})
		if err != nil {
			return nil, err
		}
		return nil, connect.NewError(connect.CodeInvalidArgument, "two\nlines").WithDetail(d)
	}
	return &api.SearchResponse{Hits: []*api.Hit{{Doc: r.GetQuery(), Id: 1 << 40, Score: 0.1}}, Total: &api.Total{Value: uint64(len(r.GetTerms()))}}, nil
}

func (s *script) rpc() *connect.Server {
	rpc := connect.NewServer()
	api.RegisterIndexServiceHandler(rpc, s)
	return rpc
}

// overHTTP serves a script over HTTP/1.1 and HTTP/2.
func overHTTP(t *testing.T, s *script) *HTTP {
	mux := http.NewServeMux()
	connecthttp.Mount(mux, s.rpc())
	h := httptest.NewUnstartedServer(mux)
	h.Config.Protocols = new(http.Protocols)
	h.Config.Protocols.SetHTTP1(true)
	h.Config.Protocols.SetUnencryptedHTTP2(true)
	h.Start()
	out := &HTTP{Nodes: map[string]string{"n1": h.URL}, Client: NewClient()}
	out.Client.Transport.(*http.Transport).HTTP2.PingTimeout = patience
	t.Cleanup(func() { out.Client.CloseIdleConnections(); h.Close() })
	return out
}

// overNATS serves a script over NATS.
func overNATS(t *testing.T, s *script, b *server.Server) *Serving {
	t.Helper()
	v, err := Service{Node: "n1", Server: s.rpc()}.Serve(dial(t, b.ClientURL(), Options{Ping: patience}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.cut(); stop(t, v) })
	return v
}

// patient is a transport that takes no node or server for lost because it answers late.
func patient(t *testing.T, b *server.Server) *NATS {
	t.Helper()
	return &NATS{Conn: dial(t, b.ClientURL(), Options{Ping: patience}), Probe: patience}
}

func stop(t *testing.T, v *Serving) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := v.Stop(ctx); err != nil && v.conn.IsConnected() {
		t.Error(err)
	}
}

// TestTransports is the conformance suite of transports.
func TestTransports(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *script) interface {
		Dial(string) (connect.Transport, error)
	}{
		"local": func(_ *testing.T, s *script) interface {
			Dial(string) (connect.Transport, error)
		} {
			return Local{"n1": s.rpc()}
		},
		"http": func(t *testing.T, s *script) interface {
			Dial(string) (connect.Transport, error)
		} {
			return overHTTP(t, s)
		},
		"nats": func(t *testing.T, s *script) interface {
			Dial(string) (connect.Transport, error)
		} {
			b := broker(t, nil)
			overNATS(t, s, b)
			n := patient(t, b)
			n.HTTP = overHTTP(t, s)
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Run("calls", func(t *testing.T) {
				s := &script{began: make(chan error, 1), ended: make(chan error, 1)}
				to, err := open(t, s).Dial("n1")
				if err != nil {
					t.Fatal(err)
				}
				conformance(t, api.NewIndexServiceClient(connect.NewClient(to)), s)
			})
			for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
				if time.Now().After(end) {
					stacks := make([]byte, 1<<20)
					t.Fatalf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
				}
			}
		})
	}
}

func conformance(t *testing.T, c api.IndexServiceClient, s *script) {
	ctx := t.Context()
	want := &api.SearchResponse{Hits: []*api.Hit{{Doc: "ä\x00 b", Id: 1 << 40, Score: 0.1}}, Total: &api.Total{Value: 2}}
	if got, err := c.Search(ctx, &api.SearchRequest{Query: "ä\x00 b", Terms: []string{"", "x"}}); err != nil || !proto.Equal(got, want) {
		t.Errorf("answer %v, %v; want %v", got, err, want)
	}
	for code := engine.InvalidQuery; code <= engine.Internal; code++ {
		_, err := c.Search(ctx, &api.SearchRequest{Query: "fail " + code.String()})
		d, ok := api.DetailOf(err)
		if !ok || d.EngineCode() != code || d.GetOffset() != 7 || d.GetMessage() != "two\nlines" || connect.CodeOf(err) != connect.CodeInvalidArgument || engine.CodeOf(api.EngineError(err)) != code {
			t.Errorf("code %v: error %v with %v", code, err, d)
		}
	}
	if _, err := c.Match(ctx, &api.MatchRequest{}); connect.CodeOf(err) != connect.CodeUnimplemented {
		t.Errorf("a procedure without code: %v", err)
	}
	if _, err := c.Search(ctx, &api.SearchRequest{Query: "panic"}); err == nil {
		t.Errorf("panic: %v", err)
	}
	if _, err := c.Search(ctx, &api.SearchRequest{Query: "plain"}); err == nil {
		t.Error("an error of another type was lost")
	}

	with, info := connect.NewClientContext(ctx)
	info.RequestHeader().Set("X-Request-Id", "17")
	if _, err := c.Search(with, &api.SearchRequest{Query: "header"}); err != nil || info.ResponseHeader().Get("X-Answer") != "17" || info.ResponseTrailer().Get("X-End") != "over" {
		t.Errorf("header %q, trailer %q, %v", info.ResponseHeader().Get("X-Answer"), info.ResponseTrailer().Get("X-End"), err)
	}

	limited, over := context.WithTimeout(ctx, time.Hour)
	got, err := c.Search(limited, &api.SearchRequest{Query: "left"})
	if over(); err != nil || got.GetTookMs() > 3600 || got.GetTookMs() < 3600-patience.Seconds() {
		t.Errorf("the handler has %v s of an hour, %v", got.GetTookMs(), err)
	}
	for limit := 100 * time.Millisecond; len(s.began) == 0 && limit < patience; limit *= 3 { // until the call arrives in time
		limited, over = context.WithTimeout(ctx, limit)
		_, err = c.Search(limited, &api.SearchRequest{Query: "wait"})
		if over(); engine.CodeOf(api.EngineError(err)) != engine.Deadline {
			t.Errorf("deadline: %v", err)
		}
	}
	ended(t, s)
	<-s.began
	limited, over = context.WithCancel(ctx)
	go func() { <-s.began; over() }()
	_, err = c.Search(limited, &api.SearchRequest{Query: "wait"})
	if engine.CodeOf(api.EngineError(err)) != engine.Canceled {
		t.Errorf("cancellation: %v", err)
	}
	ended(t, s)

	large := &api.SearchRequest{Query: "large", Terms: slices.Repeat([]string{strings.Repeat("y", 1023)}, 2048)}
	if got, err := c.Search(ctx, large); err != nil || len(got.GetExplanation()) != 3<<20 || got.GetTotal().GetValue() != 2048 {
		t.Errorf("large: %d bytes, count %d, %v", len(got.GetExplanation()), got.GetTotal().GetValue(), err)
	}

	var all sync.WaitGroup
	for i := range 256 {
		all.Go(func() {
			for j := range 4 {
				text := strings.Repeat("z", 4*i+j)
				if got, err := c.Search(ctx, &api.SearchRequest{Query: text}); err != nil || got.GetHits()[0].GetDoc() != text {
					t.Errorf("call %d.%d: %v", i, j, err)
				}
			}
		})
	}
	all.Wait()
}

// ended fails unless the call "wait" ends on the node.
func ended(t *testing.T, s *script) {
	t.Helper()
	select {
	case err := <-s.ended:
		if err == nil {
			t.Error("the handler ended without a reason")
		}
	case <-time.After(patience):
		t.Fatal("the handler does not end")
	}
}
