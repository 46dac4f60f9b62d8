//go:build !core

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"heddle/engine/internal/layout"
)

// TestServeStatic runs two servers of shards and a coordinator with a file of the cluster. Its
// replies are those of a server with the whole files.
func TestServeStatic(t *testing.T) {
	buildCollection(t)
	rows := "a,b\n"
	for i := range 700 {
		rows += fmt.Sprintf("%d,%d\n", i%11, i%4)
	}
	writeFile(t, "t.csv", rows)
	must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
	writeFile(t, "s.txt", "alias, w0\n")
	writeFile(t, "h.toml", "[server]\nsynonyms = \"c=s.txt\"\npoll = \"10ms\"\n")
	whole := serve(t, "--config", "h.toml", "--drain-delay", "0s", "--index", "c=c.hdl", "--table", "t=t.hdb", "--table", "c=t.hdb")
	var maps []*layout.Map
	for _, name := range []string{"c.hdl", "t.hdb"} {
		split := []string{"cluster", "split", "-o", name + ".shards", "--shards", "3", name}
		if name == "c.hdl" {
			split = append(split, "--attributes", "t.hdb")
		}
		must(t, split...)
		m := placed(t, name+".shards", "full", "part")
		// The second node lacks shard 0.
		if err := os.CopyFS(name+".part", os.DirFS(name+".shards")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(name+".part", m.Shards[0].File)); err != nil {
			t.Fatal(err)
		}
		m.Shards[0].Replicas = []string{"full"}
		maps = append(maps, m)
	}
	full := serve(t, "--drain-delay", "0s", "--shards", "c.hdl.shards/manifest.json", "--shards", "t.hdb.shards")
	part := serve(t, "--drain-delay", "0s", "--shards", "c.hdl.part", "--shards", "t.hdb.part")
	nodes := map[string]*serving{"full": full, "part": part}
	c := serveCluster(t, "cluster.json", nodes, maps, "--config", "h.toml")
	ask := func() {
		t.Helper()
		for _, call := range [][2]string{
			{"/v1/indexes/c/search", `{"query":"w0 w3","k":20}`},
			{"/v1/indexes/c/search", `{"query":"w3 -w0","k":5}`},
			{"/v1/indexes/c/search", `{"query":"w3 alias","k":5}`},
			{"/v1/indexes/c/match", `{"query":"w0 w2","mode":"and","limit":9}`},
			{"/v1/indexes/c/search", `{"query":"w0 w3","filter":{"where":"a < 5"},"facets":{"columns":["b","bins(a, 2, 4)","a"],"limit":3}}`},
			{"/v1/indexes/c/search", `{"query":"w0 w3","facets":{"columns":["bins(a, 4, 2)"]}}`},
			{"/v1/indexes/none/search", `{"query":"w0"}`},
			{"/v1/tables/t/count", `{"where":"a < 5 AND b = 1"}`},
			{"/v1/tables/t/count", `{"where":"a < 5 AND nobody = 1","in":{"values":[{"column":"a","values":["1"]}]}}`},
			{"/v1/tables/t/count", `{"where":"a < 5 AND b < 'x'","in":{"values":[{"column":"a","values":["1"]}]}}`},
			{"/v1/tables/t/aggregate", `{"select":"bins(a, 2, 4), count(*)","group_by":"bins(a, 2, 4)"}`},
			{"/v1/tables/t/select", `{"where":"a = 3","limit":12}`},
		} {
			if got, want := requestID.ReplaceAllString(c.ask(call[0], call[1]), ""), requestID.ReplaceAllString(whole.ask(call[0], call[1]), ""); got != want || got == "" {
				t.Errorf("%s %s:\ngot  %s\nwant %s", call[0], call[1], got, want)
			}
		}
	}
	ask()
	if got := c.get("/v1/tables/t/ready"); got != "ok\n" {
		t.Error(got)
	}
	search := func(s *serving, query string) string {
		return s.ask("/v1/indexes/c/search", `{"query":"`+query+`","k":5}`)
	}
	for _, word := range []string{"w2", "w1"} {
		writeFile(t, "s.new", "alias, "+word+"\n")
		if err := os.Rename("s.new", "s.txt"); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*serving{whole, c} {
			for want := search(s, "/alias|"+word+"/"); search(s, "alias") != want; { // up to the time-out of the test
			}
		}
	}
	want := search(c, "alias")
	writeFile(t, "s.txt", "alias, w3\n!!, w0\n")
	c.signal(syscall.SIGHUP)
	part.end()
	ask()
	if got := search(c, "alias"); got != want {
		t.Errorf("with a wrong file: %s, want %s", got, want)
	}
	if err := os.Remove("s.txt"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "h.toml", "[server]\nsynonyms = \"c=s.txt\"\npoll = \"10ms\"\nmax_k = 20\n")
	for strings.Contains(c.ask("/v1/indexes/c/search", `{"query":"w0","k":21}`), `"hits"`) { // up to the time-out of the test
	}
	for _, word := range []string{"w2", "w1"} { // in another file than that of the start
		writeFile(t, "t.new", "alias, "+word+"\n")
		if err := os.Rename("t.new", "t.txt"); err != nil {
			t.Fatal(err)
		}
		if word == "w2" {
			writeFile(t, "h.toml", "[server]\nsynonyms = \"c=t.txt\"\npoll = \"10ms\"\n")
		}
		for _, s := range []*serving{whole, c} {
			for want := search(s, "/alias|"+word+"/"); search(s, "alias") != want; { // up to the time-out of the test
			}
		}
	}
	for _, m := range maps { // the last shard is lost
		m.Shards[2].Replicas = []string{"part"}
	}
	lost := serveCluster(t, "lost.json", nodes, maps)
	if got := lost.ask("/v1/tables/t/count", `{"where":"a < 5"}`); !strings.Contains(got, "shards 2 of 3 do not answer") {
		t.Error(got)
	}
	if got := lost.ask("/v1/tables/t/count", `{"where":"a < 5","allow_partial":true}`); got != `{"count":215` { // the rows of the first shard, 467
		t.Error(got)
	}
	lost.end()
	if said := c.end(); !strings.Contains(said, "s.txt: line 2: the analysis of the index leaves nothing") || strings.Count(said, "a file is lost") != 1 {
		t.Errorf("messages: %s", said)
	}
	full.end()
	whole.end()
	wantFailure(t, heddle(t, "serve", "--cluster", "none.toml"), exitFailure, "none.toml")
	wantFailure(t, heddle(t, "serve", "--cluster", "http://127.0.0.1:1"), exitUsage, "want nats://HOST:PORT")
	wantFailure(t, heddle(t, "serve", "--cluster", "c.hdl.shards/manifest.json"), exitUsage, "collections is empty")
	wantFailure(t, heddle(t, "serve", "--cluster", "cluster.json", "--index", "c=c.hdl"), exitUsage, "--cluster excludes")
	if r := heddle(t, "serve", "--listen", "127.0.0.1:0", "--shards", "none.json"); r.code != exitFailure || !strings.Contains(r.stderr, "none.json") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}

// requestID is the part of an error that no two replies share.
var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// placed returns the map of a folder of shards at epoch 7, with all shards on the nodes. The folder has its epoch then.
func placed(t *testing.T, dir string, nodes ...string) *layout.Map {
	t.Helper()
	m, err := layout.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Epoch = 7
	if err := m.Write(filepath.Join(dir, layout.ManifestName)); err != nil {
		t.Fatal(err)
	}
	for i := range m.Shards {
		m.Shards[i].Replicas = nodes
	}
	return m
}

// serveCluster starts a server that asks nodes for the shards of maps, which it reads from a file.
func serveCluster(t *testing.T, file string, nodes map[string]*serving, maps []*layout.Map, args ...string) *serving {
	t.Helper()
	urls := map[string]string{}
	for name, s := range nodes {
		urls[name] = s.url
	}
	text, err := json.Marshal(map[string]any{"nodes": urls, "collections": maps})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(text))
	return serve(t, append(args, "--drain-delay", "0s", "--cluster", file)...)
}
