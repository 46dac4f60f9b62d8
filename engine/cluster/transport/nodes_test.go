package transport

import (
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

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

// TestNodes: names of nodes.
func TestNodes(t *testing.T) {
	for name, good := range map[string]bool{"n1": true, "a-b_C": true, "n.1": false, "": false, strings.Repeat("n", 65): false} {
		if err := CheckNode(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
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
