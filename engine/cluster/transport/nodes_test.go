package transport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"heddle/engine/api"
)

// TestGRPC: a foreign client gets the same answers and codes from a node over HTTP.
func TestGRPC(t *testing.T) {
	h := overHTTP(t, &script{})
	cc, err := grpc.NewClient(strings.TrimPrefix(h.Nodes["n1"], "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	got := new(api.SearchResponse)
	if err := cc.Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Query: "x"}, got); err != nil || got.GetHits()[0].GetDoc() != "x" {
		t.Errorf("answer %v, %v", got, err)
	}
	err = cc.Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Query: "fail invalid_query"}, got)
	if s := status.Convert(err); s.Code() != codes.InvalidArgument || len(s.Details()) != 1 || s.Details()[0].(*api.Error).GetOffset() != 7 {
		t.Errorf("error %v", err)
	}
}

// TestSplit: parts join to the batch, and are as large as the limit permits.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOf(rapid.IntRange(0, BatchBytes+1)).Draw(t, "sizes")
		sum := func(of []int) (n int) {
			for _, x := range of {
				n += x
			}
			return n
		}
		var joined, last []int
		for part := range Split(sizes, func(n int) int { return n }) {
			if len(part) == 0 || len(part) > 1 && sum(part) > BatchBytes {
				t.Fatalf("part %v", part)
			}
			if last != nil && sum(last)+part[0] <= BatchBytes {
				t.Fatalf("%v has room for %d", last, part[0])
			}
			joined, last = append(joined, part...), part
		}
		if !slices.Equal(joined, sizes) {
			t.Fatalf("%v from %v", joined, sizes)
		}
	})
}

// TestNodes: names and files of nodes.
func TestNodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes")
	for text, want := range map[string]string{
		`{"n1":"http://a:1"}`: "", `{"n1":"a:1"}`: `node n1: "a:1"`, `{"n.1":"http://a"}`: `node "n.1"`, `{`: "cut off",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadNodes(file); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, d := range []interface {
		Dial(string) (connect.Transport, error)
	}{Local{}, &HTTP{}} {
		if _, err := d.Dial("n1"); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("%T: %v", d, err)
		}
	}
	if _, err := (&NATS{}).Dial("a.>"); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a subject as a name: %v", err)
	}
}
