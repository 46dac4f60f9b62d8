package server

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/cputime"
	"heddle/engine/server/bodies"
)

// BenchmarkNetwork measures the CPU time of a query over loopback, client and server together, and
// of the same calls to servers that reply at once: net/http and grpc-go. The difference, less the
// time of the engine, is the cost of this server above its floor.
func BenchmarkNetwork(b *testing.B) {
	r := run(b, Options{})
	url, _, done := r.listen(b.Context())
	r.url = url
	defer func() {
		r.Drain()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	x, err := r.indexes.Get("looms")
	if err != nil {
		b.Fatal(err)
	}
	ask := &api.SearchRequest{Index: "looms", Query: "red loom", K: new(uint32(10))}
	answer := &api.SearchResponse{}
	if err := dial(b, r.url).Invoke(b.Context(), api.IndexServiceSearchProcedure, ask, answer); err != nil {
		b.Fatal(err)
	}
	const callers = 8
	measure := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			began := cputime.Total()
			var all sync.WaitGroup
			next := make(chan struct{}, callers)
			for range callers {
				all.Go(func() {
					for range next {
						if err := call(); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			for b.Loop() {
				next <- struct{}{}
			}
			close(next)
			all.Wait()
			b.ReportMetric(float64(cputime.Total()-began)/float64(b.N)/1e3, "cpu-µs/query")
		})
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers, DisableCompression: true}}
	post := func(url, kind string, body []byte) func() error {
		return func() error {
			resp, err := client.Post(url, kind, bytes.NewReader(body))
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			return err
		}
	}
	encoded, err := proto.Marshal(ask)
	if err != nil {
		b.Fatal(err)
	}
	text := r.do("POST", search, `{"query":"red loom","k":10}`).body
	floor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, text)
	}))
	defer floor.Close()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	bare := grpc.NewServer()
	bare.RegisterService(&grpc.ServiceDesc{ServiceName: api.IndexServiceName, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Search",
		Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return answer, read(new(api.SearchRequest))
		},
	}}}, nil)
	go bare.Serve(at)
	defer bare.Stop()
	invoke := func(url string) func() error {
		conn := dial(b, url)
		return func() error {
			return conn.Invoke(b.Context(), api.IndexServiceSearchProcedure, ask, new(api.SearchResponse))
		}
	}

	measure("engine", func() error {
		_, err := x.Search(b.Context(), engine.Query{Text: "red loom", K: 10})
		return err
	})
	measure("floor of net-http", post(floor.URL, bodies.JSON, []byte(`{"query":"red loom","k":10}`)))
	measure("plain", post(r.url+search, bodies.JSON, []byte(`{"query":"red loom","k":10}`)))
	measure("Connect", post(r.url+api.IndexServiceSearchProcedure, "application/proto", encoded))
	measure("floor of grpc-go", invoke(at.Addr().String()))
	measure("gRPC", invoke(r.url))
}
