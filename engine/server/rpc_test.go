package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
)

// h2c returns a client of HTTP/2 without TLS.
func h2c(t *testing.T) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestProtocols sends the same calls by each protocol of the Connect client.
func TestProtocols(t *testing.T) {
	r := run(t, Options{})
	for name, transport := range map[string]connect.Transport{
		"Connect":             connecthttp.NewTransport(http.DefaultClient, r.url),
		"Connect, JSON":       connecthttp.NewTransport(http.DefaultClient, r.url, connecthttp.WithProtoJSON()),
		"Connect, GET":        connecthttp.NewTransport(http.DefaultClient, r.url, connecthttp.WithHTTPGet()),
		"Connect over HTTP/2": connecthttp.NewTransport(h2c(t), r.url),
		"gRPC":                connecthttp.NewTransport(h2c(t), r.url, connecthttp.WithGRPC()),
		"gRPC-Web":            connecthttp.NewTransport(http.DefaultClient, r.url, connecthttp.WithGRPCWeb()),
	} {
		t.Run(name, func(t *testing.T) {
			client := connect.NewClient(transport)
			indexes, tables := api.NewIndexServiceClient(client), api.NewTableServiceClient(client)
			got, err := indexes.Search(t.Context(), &api.SearchRequest{Index: "looms", Query: "red loom", K: new(uint32(1))})
			if err != nil || len(got.GetHits()) != 1 || got.GetHits()[0].GetDoc() != "a" || got.GetHits()[0].GetScore() <= 0 {
				t.Errorf("search: %v, %v", got, err)
			}
			count, err := tables.Count(t.Context(), &api.CountRequest{Table: "loans", Where: "days > 30"})
			if err != nil || count.GetCount() != 2 {
				t.Errorf("count: %v, %v", count, err)
			}
			rows, err := tables.Select(t.Context(), &api.SelectRequest{Table: "loans", Where: "days > 30"})
			if err != nil || !slices.Equal(rows.GetRows(), []uint64{0, 2}) {
				t.Errorf("select: %v, %v", rows, err)
			}
			sums, err := tables.Aggregate(t.Context(), &api.AggregateRequest{Table: "loans", Select: "sum(days)", Where: "days > 30"})
			if err != nil || len(sums.GetColumns()) != 1 || !slices.Equal(sums.GetColumns()[0].GetValues(), []string{"91"}) {
				t.Errorf("aggregate: %v, %v", sums, err)
			}
			_, err = indexes.Match(t.Context(), &api.MatchRequest{Index: "looms", Query: "red AND"})
			detail, ok := api.DetailOf(err)
			if !ok || detail.GetCode() != "invalid_query" || detail.GetOffset() != 4 || detail.GetRequestId() == "" || connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("a wrong query: %v, %v", detail, err)
			}
			if known, ok := errors.AsType[*engine.Error](api.EngineError(err)); !ok || known.Code != engine.InvalidQuery {
				t.Errorf("a wrong query as an error of the engine: %v", known)
			}
		})
	}
}

// TestBatches compares flat batches with single queries.
func TestBatches(t *testing.T) {
	r := run(t, Options{})
	client := connect.NewClient(connecthttp.NewTransport(http.DefaultClient, r.url))
	indexes, tables := api.NewIndexServiceClient(client), api.NewTableServiceClient(client)
	queries := []string{"title:loom", "red", "loom -red", "absent", "loom AND", "red loom", "thread"}
	for _, c := range []*api.SearchBatchRequest{{K: new(uint32(2)), Total: structpb.NewNumberValue(1)}, {Match: true}, {Count: true}} {
		c.Index, c.Queries, c.Names = "looms", queries, !c.Count
		got, err := indexes.SearchBatch(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.GetErrors()) != 2 || got.GetErrors()[0].GetQuery() != 0 || got.GetErrors()[1].GetQuery() != 4 || got.GetErrors()[1].GetError().GetCode() != "invalid_query" {
			t.Errorf("errors %v", got.GetErrors())
		}
		var ids []uint64
		for i, text := range queries {
			var one []uint64
			var count uint64
			var total *api.Total
			if c.K != nil {
				hits, err := indexes.Search(t.Context(), &api.SearchRequest{Index: "looms", Query: text, K: c.K, Total: c.Total})
				if err == nil {
					total = hits.GetTotal()
				}
				for _, h := range hits.GetHits() {
					one = append(one, h.GetId())
				}
			} else if match, err := indexes.Match(t.Context(), &api.MatchRequest{Index: "looms", Query: text, Count: c.Count}); err == nil {
				count = match.GetCount()
				for _, d := range match.GetDocuments() {
					one = append(one, d.GetId())
				}
			}
			ids = append(ids, one...)
			if c.K != nil {
				if one := got.GetTotals()[i]; one.GetValue() != total.GetValue() || one.GetExact() != total.GetExact() {
					t.Errorf("query %q: total %v, want %v", text, got.GetTotals()[i], total)
				}
			} else if got.GetCounts()[i] != count {
				t.Errorf("%v: query %q: count %d, want %d", c, text, got.GetCounts()[i], count)
			}
			if !c.Count && got.GetEnds()[i] != uint64(len(ids)) {
				t.Errorf("%v: query %q: ends %v", c, text, got.GetEnds())
			}
		}
		if !slices.Equal(got.GetIds(), ids) || !c.Count && len(got.GetDocs()) != len(ids) || c.K != nil && len(got.GetScores()) != len(ids) {
			t.Errorf("%v: %v, want %v", c, got, ids)
		}
	}
	none, err := indexes.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: "looms", Queries: []string{"red", "*"}, K: new(uint32(0))})
	if err != nil || none.GetCounts() != nil || len(none.GetTotals()) != 2 || none.GetTotals()[0].GetValue() != 2 || none.GetTotals()[1].GetValue() != 3 || !none.GetTotals()[1].GetExact() || len(none.GetIds()) != 0 {
		t.Errorf("k = 0: %v, %v", none, err)
	}
	if _, err := indexes.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: "looms", Queries: queries, K: new(uint32(1)), Count: true}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("k with count: %v", err)
	}
	counts, err := tables.CountBatch(t.Context(), &api.CountBatchRequest{Table: "loans", Where: []string{"days > 30", "dys > 30", "book = 'b'"}})
	if err != nil || !slices.Equal(counts.GetCounts(), []uint64{2, 0, 1}) || len(counts.GetErrors()) != 1 || counts.GetErrors()[0].GetQuery() != 1 {
		t.Errorf("counts %v, %v", counts, err)
	}
}

// TestJoin joins pieces that arrive in any order, around invalid queries.
func TestJoin(t *testing.T) {
	got := join([]*piece{
		{at: []int{5, 7}, counts: []uint64{1, 2}, totals: []*api.Total{nil, nil}, ids: []uint64{50, 70, 71}, ends: []uint64{1, 3}},
		{at: []int{1, 2}, counts: []uint64{2, 0}, totals: []*api.Total{{Value: 4}, {Value: 5}}, ids: []uint64{10, 11}, ends: []uint64{2, 2}},
	}, 9, true)
	if want := "[0 2 2 2 2 3 3 5 5] [0 2 0 0 0 1 0 2 0] [10 11 50 70 71] 4 5"; fmt.Sprint(got.GetEnds(), got.GetCounts(), got.GetIds(), got.GetTotals()[1].GetValue(), got.GetTotals()[2].GetValue()) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// dial returns a connection of grpc-go.
func dial(t testing.TB, url string, opt ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(strings.TrimPrefix(url, "http://"), append(opt, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestForeignClient calls with grpc-go: an answer, an error with its detail, a deadline, health.
func TestForeignClient(t *testing.T) {
	r := run(t, Options{})
	c := dial(t, r.url)
	var got api.SearchResponse
	if err := c.Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "looms", Query: "blue"}, &got); err != nil || len(got.GetHits()) != 1 || got.GetHits()[0].GetDoc() != "b" {
		t.Errorf("%v, %v", &got, err)
	}
	err := c.Invoke(t.Context(), api.TableServiceCountProcedure, &api.CountRequest{Table: "loans", Where: "days >"}, &api.CountResponse{})
	s := status.Convert(err)
	if len(s.Details()) != 1 || s.Code() != codes.InvalidArgument {
		t.Fatalf("%v, details %v", err, s.Details())
	}
	if d, ok := s.Details()[0].(*api.Error); !ok || d.GetCode() != "invalid_query" || d.Offset == nil {
		t.Errorf("detail %v", s.Details()[0])
	}
	err = c.Invoke(t.Context(), "/heddle.v1.IndexService/Absent", &api.SearchRequest{}, &api.SearchResponse{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("an unknown method: %v", err)
	}

	described(t, c, api.IndexServiceName, "grpc.health.v1.Health")
	checks := grpc_health_v1.NewHealthClient(c)
	for service, want := range map[string]codes.Code{"": codes.OK, "index/looms": codes.OK, "table/loans": codes.OK, "heddle.v1.IndexService": codes.OK, "index/other": codes.NotFound, "other": codes.NotFound} {
		got, err := checks.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if status.Code(err) != want || err == nil && got.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, got, err)
		}
	}
	watch, err := checks.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING} {
		if got, err := watch.Recv(); err != nil || got.GetStatus() != want {
			t.Errorf("change %d: %v, %v", i, got, err)
		}
		r.Drain()
	}
}

// TestDeadline sends deadlines by each protocol.
func TestDeadline(t *testing.T) {
	g := newGate()
	defer close(g.closed) // a batch on a lane does not end with its callers
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{})
	grpcClient := dial(t, r.url)
	connectClient := api.NewIndexServiceClient(connect.NewClient(connecthttp.NewTransport(http.DefaultClient, r.url)))
	ask := &api.SearchRequest{Index: "looms", Query: "red"}

	if got, p := r.problem("POST", "/v1/indexes/looms/search", `{"query":"red","timeout_ms":20}`); got.status != http.StatusGatewayTimeout || p.Code != "deadline" {
		t.Errorf("REST: %d %+v", got.status, p)
	}
	short, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if err := grpcClient.Invoke(short, api.IndexServiceSearchProcedure, ask, &api.SearchResponse{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("gRPC: %v", err)
	}
	short, done = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if _, err := connectClient.Search(short, ask); engine.CodeOf(api.EngineError(err)) != engine.Deadline {
		t.Errorf("Connect: %v", err)
	}
}

// TestLeave: a client that leaves cancels its query.
func TestLeave(t *testing.T) {
	g := newGate()
	defer close(g.closed)
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/v1/indexes/looms/search", strings.NewReader(`{"query":"red"}`))
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		}
		left <- err
	}()
	<-g.entered
	leave()
	<-g.left // the context of the batch ended
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that left: %v", err)
	}
}

// reader is a stream that notes the slots in use while the client reads the reply.
type reader struct {
	connect.ServerStream
	s    *Server
	held int
}

func (r *reader) Receive(any) error { return nil }

func (r *reader) Send(any) error {
	r.held = r.s.gate.Running()
	return nil
}

// TestSlowReader checks that a client which reads its reply holds no slot.
func TestSlowReader(t *testing.T) {
	s, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	running := -1
	r := &reader{s: s, held: -1}
	err = s.intercept(func(_ context.Context, _ connect.Spec, stream connect.ServerStream) error {
		if err := stream.Receive(nil); err != nil {
			return err
		}
		running = s.gate.Running()
		return stream.Send(nil)
	})(t.Context(), connect.Spec{Procedure: api.IndexServiceSearchProcedure}, r)
	if err != nil || running != 1 || r.held != 0 || s.gate.Running() != 0 {
		t.Errorf("%v; slots while the query runs %d, while the client reads %d, afterwards %d", err, running, r.held, s.gate.Running())
	}
}

// TestOverloaded fills the slots of the server.
func TestOverloaded(t *testing.T) {
	g := newGate()
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{Limits: Limits{Concurrency: 1}})
	first := make(chan reply, 1)
	go func() { first <- r.do("POST", "/v1/indexes/looms/search", `{"query":"red"}`) }()
	<-g.entered
	got, p := r.problem("POST", "/v1/indexes/looms/search", `{"query":"red"}`)
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || p.Code != "overloaded" || p.Limit != "concurrency" || p.Max != 1 {
		t.Errorf("%d %v %+v", got.status, got.header, p)
	}
	err := dial(t, r.url).Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "looms", Query: "red"}, &api.SearchResponse{})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("gRPC: %v", err)
	}
	// A client that has not sent its body holds no slot, and probes need none.
	slow, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /v1/indexes/looms/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	if got := r.do("GET", "/readyz", ""); got.status != http.StatusOK {
		t.Errorf("/readyz: %d", got.status)
	}
	admin := httptest.NewRecorder()
	if r.AdminHandler().ServeHTTP(admin, httptest.NewRequest("POST", "http://localhost/v1/admin/tables/loans/reload", nil)); admin.Code != http.StatusOK {
		t.Errorf("administration: %d %s", admin.Code, admin.Body)
	}
	close(g.closed)
	if got := <-first; got.status != http.StatusOK {
		t.Errorf("the first request: %d %s", got.status, got.body)
	}
	if got := r.do("POST", "/v1/indexes/looms/search", `{"query":"red"}`); got.status != http.StatusOK {
		t.Errorf("after the first request: %d %s", got.status, got.body)
	}
}

// TestQueued: the reply states the time in which the query waited for a processor.
func TestQueued(t *testing.T) {
	g := newGate()
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{})
	client := api.NewIndexServiceClient(connect.NewClient(connecthttp.NewTransport(http.DefaultClient, r.url)))
	const callers = 32 // more than run at a time
	replies := make(chan *api.SearchResponse, callers)
	for range callers {
		go func() {
			got, err := client.Search(t.Context(), &api.SearchRequest{Index: "looms", Query: "red"})
			if err != nil {
				t.Error(err)
			}
			replies <- got
		}()
	}
	for w := r.engine.Load().Stats().Waiting; w.Either+w.Device+w.Host == 0; w = r.engine.Load().Stats().Waiting {
		time.Sleep(time.Millisecond)
	}
	close(g.closed)
	waited := 0
	for range callers {
		got := <-replies
		if got.GetQueuedMs() > got.GetTookMs() {
			t.Errorf("queued %v of %v ms", got.GetQueuedMs(), got.GetTookMs())
		}
		if got.GetQueuedMs() > 0 {
			waited++
		}
	}
	if waited == 0 {
		t.Error("no query has waited")
	}
}

// described asks for the services and for the file of each wanted one, as grpcurl does.
func described(t *testing.T, c *grpc.ClientConn, want ...string) {
	t.Helper()
	stream, err := grpc_reflection_v1.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(r); err != nil {
			t.Fatal(err)
		}
		answer, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	var names []string
	for _, service := range ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}).GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	for _, name := range want {
		r := ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}})
		if !slices.Contains(names, name) || len(r.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("%s: services %q, answer %v", name, names, r)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}
