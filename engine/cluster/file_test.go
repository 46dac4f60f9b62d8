package cluster

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/split"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/layout"
)

// TestStatic: an index with impacts, cut by package split, on nodes over HTTP from a file.
func TestStatic(t *testing.T) {
	e, dir := newEngine(t), t.TempDir()
	docs, file := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(docs, []byte(strings.Join(corpus(300), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), file, []string{docs}, indexbuild.Options{Format: indexbuild.Text, Impacts: 8}); err != nil {
		t.Fatal(err)
	}
	m, err := split.File(t.Context(), file, filepath.Join(dir, "parts"), split.Options{Cuts: []uint64{1, 30, 30, 170}})
	if err != nil {
		t.Fatal(err)
	}
	m.Epoch = 3
	var shards shard.Memory
	for i := range m.Shards {
		x, err := e.OpenIndex(t.Context(), filepath.Join(dir, "parts", m.Shards[i].File), engine.IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		shards.AddIndex(m.Name, 3, i, x)
		m.Shards[i].Replicas = []string{"a"}
	}
	rpc, mux := connect.NewServer(), http.NewServeMux()
	shard.Register(rpc, &shards)
	connecthttp.Mount(mux, rpc)
	web := httptest.NewServer(mux)
	defer web.Close()
	text, err := json.Marshal(staticFile{map[string]string{"a": web.URL}, []*layout.Map{m}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, "c.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := New(s, s, Options{})
	whole, err := e.OpenIndex(t.Context(), file, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(8, 9))
	for range 60 {
		q := engine.Query{Text: fmt.Sprintf("w%d w%d^2 w%d", r.IntN(9), r.IntN(50), r.IntN(80)), K: 12, Match: engine.Matches()[r.IntN(3)]}
		if r.IntN(4) == 0 {
			q.Text += fmt.Sprintf(" w%d* -w0", r.IntN(9))
		}
		h, wrong := whole.Search(t.Context(), q)
		want := api.Hits{Count: h.Count, IDs: []uint64{}, Scores: h.Scores, Err: wrong}
		for _, d := range h.Docs {
			want.IDs = append(want.IDs, uint64(d))
		}
		got, _, err := c.Search(t.Context(), m.Name, q, api.Ask{})
		got.Err = err
		same(t, q, got, want)
	}
	for _, scored := range []engine.Query{{Text: "w1", K: 3, Statistics: &engine.Statistics{Docs: 5}}} {
		if _, _, err := c.Search(t.Context(), m.Name, scored, api.Ask{}); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("statistics for impacts: error %v", err)
		}
	}
}

// TestOpen: errors name the file and the member.
func TestOpen(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"nodes = 3":      "nodes",
		"collection = 1": "collections is empty",
		"[nodes]\na = 'ftp://b'\n[[collections]]":           "nodes.a",
		"[nodes]\na = 'http://b:1'\n[[collections]]\nk = 1": "collections[0]",
		"[[collections]]\nname = 'x'\nkind = 'index'\nepoch = 1\ndocs = 2\nshards = [{file = 'f', first = 0, docs = 2, sha256 = '" + sum + "', replicas = ['b']}]": `node "b"`,
	} {
		path := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
