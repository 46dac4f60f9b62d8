package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"google.golang.org/protobuf/encoding/protowire"

	"heddle/engine/api"
)

// documents makes the documents of the index: each has the word red, and a name of 40 bytes.
func (r *running) documents(n int) {
	r.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%040d\tred loom %d\n", i, i%7)
	}
	r.buildIndex(text.String())
	if err := r.Reload(r.Context()); err != nil {
		r.Fatal(err)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// heap is the memory of the process in use and the greatest one since the start.
type heap struct {
	base, most uint64
	stop, done chan struct{}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// watchHeap looks at the memory until its check.
func watchHeap() *heap {
	runtime.GC()
	h := &heap{base: inUse(), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		for {
			h.most = max(h.most, inUse())
			select {
			case <-h.stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return h
}

// check compares the memory with the bound that the page of the server states: twice the memory after the start
// and the budget, memory for each connection, and memory for the queries that run.
func (h *heap) check(t *testing.T, budget, connections int) {
	t.Helper()
	close(h.stop)
	<-h.done
	bound := 2*(h.base+uint64(budget)) + uint64(connections*perConnection) + ofQueries
	t.Logf("%d MiB after %d MiB, bound %d MiB", h.most>>20, h.base>>20, bound>>20)
	if h.most > bound {
		t.Errorf("the process has %d MiB, want at most %d MiB", h.most>>20, bound>>20)
	}
}

const (
	perConnection = 64 << 10 // memory of a connection in the server and in the client of the test, in bytes
	ofQueries     = 48 << 20 // memory of running queries, in bytes
)

// settle waits until the requests of an attack have an answer or wait for their clients: the memory that they
// hold stays the same.
func (a *attacked) settle() {
	for same := 0; same < 20; {
		before, _ := a.budget.Use()
		time.Sleep(10 * time.Millisecond)
		after, _ := a.budget.Use()
		if same++; before != after || a.gate.Running() > 0 {
			same = 0
		}
	}
}

// post begins a request of the attacker whose answer nobody reads. It may hold all memory that one caller gets:
// other callers find room.
func (a *attacked) post(path, header string, body []byte) net.Conn {
	c := a.dial()
	c.(*net.TCPConn).SetReadBuffer(64 << 10)
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", path, a.greedy, header)
	c.Write(body)
	return c
}

const budget = 24 << 20

// TestMemoryOfBatches sends small batches whose answers are large, and reads none of them.
func TestMemoryOfBatches(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Memory: budget}})
	a.documents(2000)
	body := zipped(t, strings.Repeat(`{"query":"red","k":1000}`+"\n", 10_000))
	if len(body) > 4<<10 {
		t.Fatalf("the body has %d bytes", len(body))
	}
	h := watchHeap()
	for _, path := range []string{"/v1/indexes/looms/search/batch", "/v1/indexes/looms/search/batch?timeout_ms=20000"} {
		for range 5 {
			a.post(path, fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n", len(body)), body)
		}
	}
	a.settle()
	a.answers()
	h.check(t, budget, 10)
}

// TestMemoryOfBodies sends small bodies that are large when they are unpacked, and leaves out their ends.
func TestMemoryOfBodies(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Memory: budget}})
	texts := zipped(t, `{"query":"`+strings.Repeat("a", 15<<20)+`"}`)
	lines := zipped(t, strings.Repeat(" ", 15<<20)+`{"query":"a"}`)
	objects := zipped(t, `{"filter":{"and":[`+strings.Repeat(`{},`, 5<<20)+`{}]}}`)
	h := watchHeap()
	bodies := 24 // the memory does not grow with them
	if !testing.Short() {
		bodies = 80
	}
	for i := range bodies {
		body := [][]byte{texts, lines, objects}[i%3]
		path := search + []string{"", "/batch", ""}[i%3]
		cut := []int{4, 4, 0}[i%3]
		header := fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n", len(body))
		if i%6 == 3 { // Connect
			path, header = api.IndexServiceSearchProcedure, header+"Content-Type: application/json\r\n"
			cut = 0
		}
		a.post(path, header, body[:len(body)-cut])
	}
	a.settle()
	a.answers()
	h.check(t, budget, bodies)
}

// TestMemoryOfProtocols: a message of gRPC that is large when it is decoded exceeds the limit before that.
func TestMemoryOfProtocols(t *testing.T) {
	a := attack(t, Options{Limits: Limits{Memory: budget}})
	and := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), 0) // field 5 of heddle.v1.Filter
	filter := protowire.AppendBytes(protowire.AppendTag(nil, 13, protowire.BytesType), bytes.Repeat(and, 6<<20))
	h := watchHeap()
	for _, c := range []struct{ path, kind, body string }{
		{api.IndexServiceSearchProcedure, "application/proto", string(filter)},
		{api.IndexServiceSearchProcedure, "application/json", `{"filter":{"and":[` + strings.Repeat(`{},`, 3<<20) + `{}]}}`},
		{search, "application/json", `{"filter":{"and":[` + strings.Repeat(`{},`, 3<<20) + `{}]}}`},
	} {
		got := a.do("POST", c.path, c.body, "Content-Type: "+c.kind, "Authorization: Bearer "+a.token)
		if got.status == http.StatusOK || !strings.Contains(got.body, "server.memory") {
			t.Errorf("%s, %s: %d %.200s", c.path, c.kind, got.status, got.body)
		}
	}
	h.check(t, budget, 3)
}

// TestSlowReaders: many clients read nothing of large answers of each form. Then one of them reads, and gets its
// whole answer.
func TestSlowReaders(t *testing.T) {
	readers := 60 // the memory does not grow with them
	if !testing.Short() {
		readers = 1000
	}
	a := attack(t, Options{Limits: Limits{Memory: budget}, Timeout: 5 * time.Minute, Stall: 5 * time.Minute})
	a.documents(2000)
	a.loadRows(100_000)
	batch := strings.Repeat(`{"query":"red","k":1000}`+"\n", 100)
	h := watchHeap()
	var all []net.Conn
	for i := range readers {
		path, body, header := "/v1/indexes/looms/search/batch", batch, ""
		switch i % 4 {
		case 1:
			path, body = "/v1/tables/loans/select", `{"where":"days > 30"}`
		case 2:
			path, body = "/v1/tables/loans/aggregate", `{"select":"*","limit":20000}`
		case 3:
			header = "Accept-Encoding: gzip\r\n"
		}
		c := a.post(path, fmt.Sprintf("%sContent-Length: %d\r\n", header, len(body)), []byte(body))
		if i%4 == 0 {
			all = append(all, c)
		}
	}
	a.settle()
	a.answers()
	h.check(t, budget, readers)
	for _, c := range all {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusTooManyRequests {
			continue
		}
		text, err := io.ReadAll(resp.Body)
		if n, hits := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte(`"doc"`)); err != nil || n != 100 || hits != 100*1000 && !bytes.Contains(text, []byte("server.memory")) {
			t.Errorf("%d, %d lines, %d hits, %v", resp.StatusCode, n, hits, err)
		}
		return
	}
	t.Error("all batches are refused")
}

// TestParts: a batch that is answered in many parts has the same lines as in one.
func TestParts(t *testing.T) {
	var body strings.Builder
	for i := range 300 {
		switch i % 7 {
		case 5:
			fmt.Fprintf(&body, `{"id":%d,"query":"(red"}`+"\n", i)
		case 6:
			fmt.Fprintf(&body, `{"id":%d,"query":"red AND loom","count":true}`+"\n", i)
		default:
			fmt.Fprintf(&body, `{"id":%d,"query":"red %d","k":%d}`+"\n", i, i%5, 1+i*7%1000)
		}
	}
	var want string
	for _, memory := range []int64{1 << 30, 4 << 20, 2 << 20} {
		r := run(t, Options{Limits: Limits{Memory: memory}})
		r.documents(2000)
		got := r.do("POST", "/v1/indexes/looms/search/batch", body.String())
		if want == "" {
			want = got.body
		}
		if got.status != http.StatusOK || got.body != want || strings.Count(got.body, "\n") != 300 {
			t.Errorf("memory %d: %d, %d bytes, want %d", memory, got.status, len(got.body), len(want))
		}
		if used, _ := r.budget.Use(); used != 0 {
			t.Errorf("%d bytes stay", used)
		}
		if r.gate.Running() != 0 || r.gate.Queries() != 0 {
			t.Errorf("%d requests and %d queries stay", r.gate.Running(), r.gate.Queries())
		}
	}
}

// TestLargeFlatBatch: a flat batch is whole in memory. One that exceeds the limit is refused by its name, takes
// nothing from it afterwards, and fits in parts.
func TestLargeFlatBatch(t *testing.T) {
	r := run(t, Options{Limits: Limits{Memory: 4 << 20}})
	r.documents(2000)
	for kind, transport := range map[string]connect.Transport{
		"Connect": connecthttp.NewTransport(http.DefaultClient, r.url),
		"gRPC":    connecthttp.NewTransport(h2c(t), r.url, connecthttp.WithGRPC()),
	} {
		indexes := api.NewIndexServiceClient(connect.NewClient(transport))
		for _, queries := range []int{60, 5, 5} { // 80 bytes for each of 1000 documents, and 6 for each byte of the message
			got, err := indexes.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: "looms", Queries: slices.Repeat([]string{"red"}, queries), K: new(uint32(1000)), Names: true})
			if queries == 5 && (err != nil || len(got.GetDocs()) != 5000) {
				t.Errorf("%s, %d queries: %d documents, %v", kind, queries, len(got.GetDocs()), err)
			}
			if d, _ := api.DetailOf(err); queries == 60 && (d.GetLimit() != "memory" || !strings.Contains(d.GetMessage(), "server.memory")) {
				t.Errorf("%s, %d queries: %d documents, %v", kind, queries, len(got.GetDocs()), err)
			}
			if used, _ := r.budget.Use(); used != 0 {
				t.Errorf("%d bytes stay", used)
			}
		}
	}
}

// TestTooLarge: a request that can never fit is 413, and one that does not fit now 429.
func TestTooLarge(t *testing.T) {
	r := run(t, Options{Limits: Limits{Memory: 1 << 20}})
	large := `{"query":"` + strings.Repeat("a ", 200<<10) + `"}`
	if got, p := r.problem("POST", search, large); got.status != http.StatusRequestEntityTooLarge || p.Limit != "memory" || p.Max != 1<<20 {
		t.Errorf("%d %+v", got.status, p)
	}
	other := r.budget.Open("127.0.0.1")
	defer other.Close()
	if refused := other.Take(700 << 10); refused != nil {
		t.Fatal(refused)
	}
	if got, p := r.problem("POST", search, large[:200<<10]+`"}`); got.status != http.StatusTooManyRequests || p.Limit != "memory" || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %+v", got.status, p)
	}
	if got := r.do("POST", search, `{"query":"red"}`); got.status != http.StatusOK {
		t.Errorf("a small request beside it: %d %s", got.status, got.body)
	}
	w := httptest.NewRecorder()
	r.AdminHandler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	for _, line := range []string{"heddle_server_memory_bytes 716800\n", "heddle_server_memory_limit_bytes 1.048576e+06\n", `heddle_server_refused_total{limit="memory"} 2`} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no metric %s", line)
		}
	}
}
