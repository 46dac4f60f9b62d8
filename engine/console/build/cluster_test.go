package main

import (
	"fmt"
	"strings"
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
}
