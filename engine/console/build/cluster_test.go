package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestCluster compares the page with the state of a cluster, and the coverage without nodes with the
// replicas of each shard.
func TestCluster(t *testing.T) {
	s := open(t, demo, "cluster", "dev", "--nodes", "3", "--replicas", "2", "--shards", "4", "--drain-delay", "0s", "--backend", "host", "kjv.hdl")
	s.visit("cluster")
	s.until(`document.querySelector(".coverage")?.innerText.startsWith("100 %")`)
	type cluster struct {
		Collections []struct {
			Name             string
			Documents, Epoch int
			Shards           []struct {
				Documents int
				Replicas  []struct {
					Node       string
					Epoch, Lag int
				}
			}
		}
		Nodes []struct {
			Name  string
			Alive bool
		}
	}
	state := ask[cluster](s, "/v1/cluster", "")
	if len(state.Collections) != 1 || len(state.Collections[0].Shards) != 4 || len(state.Nodes) != 3 {
		t.Fatalf("cluster %+v", state)
	}
	kjv := state.Collections[0]
	rows := s.texts("[aria-label='Shards of kjv'] tbody tr")
	for i, shard := range kjv.Shards {
		if !strings.Contains(rows[i], grouped(shard.Documents)) || strings.Count(rows[i], fmt.Sprintf("✓ epoch %d", kjv.Epoch)) != len(shard.Replicas) {
			t.Errorf("shard %d is %q, want %+v", i, rows[i], shard)
		}
	}
	without := map[string]bool{}
	for i, n := range state.Nodes[:2] {
		without[n.Name] = true
		s.do(chromedp.Click(fmt.Sprintf("[aria-label=Nodes] tbody tr:nth-child(%d) input", i+1)))
		covered, documents := 0, 0
		for _, shard := range kjv.Shards {
			for _, r := range shard.Replicas {
				if !without[r.Node] {
					covered++
					documents += shard.Documents
					break
				}
			}
		}
		s.until(fmt.Sprintf(`document.querySelector(".coverage").innerText.includes("(%d of 4 shards)")`, covered))
		if whole := documents == kjv.Documents; whole != strings.HasPrefix(s.text(".coverage"), "100 %") {
			t.Errorf("without %v: %q, and %d of %d documents are left", without, s.text(".coverage"), documents, kjv.Documents)
		}
	}

	// A search through the cluster has its explanation in words.
	s.visit("search?index=kjv&query=faith+hope&k=10")
	s.until(`document.querySelectorAll(".hits li").length === 10 && document.querySelector("pre.words") !== null`)
	s.fill(queryField, "faith AND (hope OR") // marked while it is typed
	s.until(`document.querySelector("#syntax .failure pre") !== null`)
	if lines := strings.Split(s.text("#syntax .failure pre"), "\n"); strings.Index(lines[1], "^") != strings.Index(lines[0], "OR") {
		t.Errorf("caret %q", lines)
	}
}

// TestChange looks at a change while it is under way: the nodes copy the shards of a new epoch from a
// web server that holds them back.
func TestChange(t *testing.T) {
	s := open(t, demo, "cluster", "dev", "--nodes", "3", "--replicas", "1", "--shards", "2", "--drain-delay", "0s", "--backend", "host", "kjv.hdl")
	control := ""
	for _, line := range s.said {
		if url, is := strings.CutPrefix(line, "control on "); is {
			control = url
		}
	}
	s.heddle("cluster", "split", "-o", "next", "--shards", "3", "kjv.hdl")
	files, err := filepath.Glob(filepath.Join(s.dir, "next", "*.hdl"))
	if err != nil || len(files) != 3 {
		t.Fatalf("shards %q: %v", files, err)
	}
	slices.Sort(files)
	parts := strings.FieldsFunc(files[0], func(r rune) bool { return r == '-' || r == '.' })
	first := parts[len(parts)-2] // the beginning of its checksum, under which nodes ask for it too
	held := make(chan struct{})  // closed when the other shards may go
	free := sync.OnceFunc(func() { close(held) })
	folder := http.FileServer(http.Dir(filepath.Join(s.dir, "next")))
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, first) {
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
		folder.ServeHTTP(w, r)
	}))
	defer source.Close()
	defer free()
	s.visit("cluster")
	s.until(`document.querySelector(".coverage")?.innerText.startsWith("100 % (2 of 2")`)
	change := func() string { return s.text("[aria-labelledby]:has(.coverage) .facts") }
	if !strings.Contains(change(), "none under way") {
		t.Errorf("before the change: %q", change())
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	publish := exec.CommandContext(s.ctx, path, "cluster", "publish", "next", "--replicas", "1", "--from", source.URL, "--cluster", control)
	publish.Dir = s.dir
	if err := publish.Start(); err != nil {
		t.Fatal(err)
	}
	s.until(`document.querySelector("main").innerText.includes("publish of epoch 2: 1 of 3 replicas")`)
	type cluster struct {
		Collections []struct {
			Epoch  int
			Intent struct {
				Verb                string
				Epoch, Ready, Total int
			}
		}
	}
	if is := ask[cluster](s, "/v1/cluster", "").Collections[0]; is.Epoch != 1 || fmt.Sprint(is.Intent) != "{publish 2 1 3}" {
		t.Errorf("the cluster has %+v", is)
	}
	if !strings.HasPrefix(s.text(".coverage"), "100 % (2 of 2 shards)") { // the epoch in force answers
		t.Errorf("coverage during the change %q", s.text(".coverage"))
	}
	s.shoot(1280, "cluster-change")
	free()
	if err := publish.Wait(); err != nil {
		t.Error(err)
	}
	s.until(`document.querySelector(".coverage").innerText.startsWith("100 % (3 of 3 shards)")`)
	if !strings.Contains(change(), "none under way") || !strings.Contains(s.text("main"), "✓ epoch 2") {
		t.Errorf("after the change: %q", s.text("main"))
	}
}
