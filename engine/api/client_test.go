package api

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectproto"

	"heddle/engine"
)

// flaky answers searches and reloads after some failures.
type flaky struct {
	UnimplementedIndexServiceHandler
	UnimplementedAdminServiceHandler
	calls atomic.Int64
	fails int64
	code  engine.Code
	rpc   connect.Code
}

func (f *flaky) fail() error {
	if f.calls.Add(1) > f.fails {
		return nil
	}
	detail, err := connectproto.NewErrorDetail(ErrorOf(&engine.Error{Code: f.code, Op: "search", Err: errors.New("no")}))
	if err != nil {
		return err
	}
	return connect.NewError(f.rpc, "no").WithDetail(detail)
}

func (f *flaky) Search(ctx context.Context, r *SearchRequest) (*SearchResponse, error) {
	if r.GetQuery() == "slow" {
		<-ctx.Done()
		return nil, connect.NewError(connect.CodeDeadlineExceeded, "late")
	}
	return &SearchResponse{Total: &Total{Value: uint64(len(r.GetQuery()))}}, f.fail()
}

func (f *flaky) ReloadIndex(context.Context, *ReloadIndexRequest) (*ReloadIndexResponse, error) {
	return &ReloadIndexResponse{}, f.fail()
}

// TestClient checks further attempts, and the type of errors.
func TestClient(t *testing.T) {
	f := &flaky{}
	procedures := connect.NewServer()
	RegisterIndexServiceHandler(procedures, f)
	RegisterAdminServiceHandler(procedures, f)
	mux := http.NewServeMux()
	connecthttp.Mount(mux, procedures)
	server := httptest.NewServer(mux)
	defer server.Close()
	opt := ClientOptions{Backoff: time.Millisecond}
	client, err := NewClient(server.URL, opt)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := NewAdminClient(server.URL, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fails, calls int64
		code         engine.Code
		rpc          connect.Code
		want         engine.Code
	}{
		{0, 1, engine.OK, 0, engine.OK},
		{1, 2, engine.Closed, connect.CodeUnavailable, engine.OK},
		{2, 3, engine.Overloaded, connect.CodeResourceExhausted, engine.OK},
		{9, 3, engine.Overloaded, connect.CodeResourceExhausted, engine.Overloaded},
		{9, 1, engine.InvalidQuery, connect.CodeInvalidArgument, engine.InvalidQuery},
		{9, 1, engine.Internal, connect.CodeInternal, engine.Internal},
	} {
		f.calls.Store(0)
		f.fails, f.code, f.rpc = c.fails, c.code, c.rpc
		got, err := client.Search(t.Context(), &SearchRequest{Query: "four"})
		if engine.CodeOf(err) != c.want || err == nil && got.GetTotal().GetValue() != 4 || f.calls.Load() != c.calls {
			t.Errorf("%+v: %v, %v after %d calls", c, got, err, f.calls.Load())
		}
		if _, ok := errors.AsType[*engine.Error](err); err != nil && !ok {
			t.Errorf("%+v: error %T", c, err)
		}
	}
	f.calls.Store(0)
	f.fails, f.code, f.rpc = 1, engine.Closed, connect.CodeUnavailable
	if _, err := admin.ReloadIndex(t.Context(), &ReloadIndexRequest{}); engine.CodeOf(err) != engine.Closed || f.calls.Load() != 1 {
		t.Errorf("a call with effects: %v after %d calls", err, f.calls.Load())
	}
	ctx, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer done()
	if _, err := client.Search(ctx, &SearchRequest{Query: "slow"}); engine.CodeOf(err) != engine.Deadline {
		t.Errorf("a deadline: %v", err)
	}
	server.Close()
	if _, err := client.Search(t.Context(), &SearchRequest{Query: "four"}); engine.CodeOf(err) != engine.Unavailable {
		t.Errorf("without a server: %v", err)
	}
	for _, at := range []string{"", "127.0.0.1:7700", "ftp://host", "http://", "http://a b"} {
		if _, err := NewClient(at, ClientOptions{}); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// TestReadAuthorities names the file that has no certificate.
func TestReadAuthorities(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.crt")
	if _, err := ReadAuthorities(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAuthorities(path); err == nil || !strings.Contains(err.Error(), path+": no certificate in PEM") {
		t.Errorf("a file without a certificate: %v", err)
	}
}
