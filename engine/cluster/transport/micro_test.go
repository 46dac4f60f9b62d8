package transport

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"

	"heddle/engine/api"
)

// TestMicro: INFO and STATS have the procedures, the facts and the counts of a node.
func TestMicro(t *testing.T) {
	b, s := broker(t, nil), &script{began: make(chan error, 1), ended: make(chan error, 1)}
	node := dial(t, b.ClientURL(), Options{})
	v, err := Service{Node: "n1", Server: s.rpc(), Version: "1.2.3~4.abc", Metadata: map[string]string{"http": "http://h:1"}}.Serve(node)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, v)
	conn := dial(t, b.ClientURL(), Options{})
	to, _ := (&NATS{Conn: conn}).Dial("n1")
	c := api.NewIndexServiceClient(connect.NewClient(to))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.began
		cancel()
	}()
	if _, err := c.Search(ctx, &api.SearchRequest{Query: "wait"}); connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("cancelled: %v", err)
	}
	ended(t, s)
	for end := time.Now().Add(patience); v.Running() > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	for _, text := range []string{"a", "b", "fail closed"} {
		_, _ = c.Search(t.Context(), &api.SearchRequest{Query: text}) // the statistics show the result
	}
	ask := func(verb string, to any) {
		t.Helper()
		m, err := conn.Request("$SRV."+verb+"."+ServiceName, nil, patience)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(m.Data, to); err != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
	}
	var info micro.Info
	ask("INFO", &info)
	if info.Version != "1.2.3" || info.Metadata["version"] != "1.2.3~4.abc" || info.Metadata["node"] != "n1" || info.Metadata["http"] != "http://h:1" || len(info.Endpoints) != 9 {
		t.Errorf("INFO %+v", info)
	}
	var stats micro.Stats
	ask("STATS", &stats)
	for _, e := range stats.Endpoints {
		var counts Counts
		if err := json.Unmarshal(e.Data, &counts); err != nil {
			t.Fatal(err)
		}
		want, messages := Counts{}, 0
		if e.Name == "IndexService-Search" {
			want, messages = Counts{Calls: 4, Cancelled: 1, Errors: 1, Nanoseconds: counts.Nanoseconds}, 5 // with the cancellation
		}
		if counts != want || e.NumRequests != messages || e.Subject != "heddle.node.n1.heddle.v1."+strings.ReplaceAll(e.Name, "-", ".") {
			t.Errorf("STATS %+v, data %+v, want %+v", e, counts, want)
		}
	}
}

// TestPermissions: NKeys and permissions of a real server decide which connection is node n1, and which may call.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	user := func(name string, allowed *server.Permissions) (string, *server.NkeyUser) {
		key, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, _ := key.Seed()
		public, _ := key.PublicKey()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, seed, 0o600); err != nil {
			t.Fatal(err)
		}
		return file, &server.NkeyUser{Nkey: public, Permissions: allowed}
	}
	only := func(subjects ...string) *server.SubjectPermission { return &server.SubjectPermission{Allow: subjects} }
	node, first := user("node", &server.Permissions{
		Subscribe: only("heddle.node.n1.>", "$SRV.>", "_INBOX.>"), Publish: only("none"), Response: &server.ResponsePermission{MaxMsgs: 1},
	})
	caller, second := user("caller", &server.Permissions{Subscribe: only("_INBOX.>"), Publish: only("heddle.node.>")})
	stranger, _ := user("stranger", nil)
	b := broker(t, &server.Options{Nkeys: []*server.NkeyUser{first, second}})

	if _, err := Connect(b.ClientURL(), Options{NKey: stranger}); err == nil || !strings.Contains(err.Error(), "Authorization") {
		t.Errorf("an unknown key: %v", err)
	}
	refused := Service{Node: "n2", Server: (&script{}).rpc()}
	if _, err := refused.Serve(dial(t, b.ClientURL(), Options{NKey: node})); err == nil || !strings.Contains(err.Error(), "subscribe to heddle.node.n2.>") {
		t.Errorf("node n1 as n2: %v", err)
	}
	refused.Node = "n1"
	if _, err := refused.Serve(dial(t, b.ClientURL(), Options{NKey: caller})); err == nil || !strings.Contains(err.Error(), "subscribe to heddle.node.n1.>") {
		t.Errorf("a caller as a node: %v", err)
	}
	v, err := Service{Node: "n1", Server: (&script{}).rpc()}.Serve(dial(t, b.ClientURL(), Options{NKey: node}))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, v)
	to, _ := (&NATS{Conn: dial(t, b.ClientURL(), Options{NKey: caller})}).Dial("n1")
	if got, err := api.NewIndexServiceClient(connect.NewClient(to)).Search(t.Context(), &api.SearchRequest{Query: "x"}); err != nil || got.GetHits()[0].GetDoc() != "x" {
		t.Errorf("a permitted call: %v, %v", got, err)
	}
}
