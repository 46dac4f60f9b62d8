package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/engine/api"
	"heddle/engine/cluster/split"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/layout"
)

// FuzzFile: the file of a cluster that is accepted has a URL for each replica, and its shards end
// where their collection ends.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	docs, file := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(docs, []byte(strings.Join(corpus(20), "\n")), 0o644); err != nil {
		f.Fatal(err)
	}
	if _, err := indexbuild.Build(f.Context(), file, []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		f.Fatal(err)
	}
	m, err := split.File(f.Context(), file, filepath.Join(dir, "parts"), split.Options{Shards: 2})
	if err != nil {
		f.Fatal(err)
	}
	for i := range m.Shards {
		m.Shards[i].Replicas = []string{"a", "b"}
	}
	text, err := json.Marshal(staticFile{map[string]string{"a": "http://h:1", "b": "https://h:2"}, []*layout.Map{m}})
	if err != nil {
		f.Fatal(err)
	}
	if _, found, err := parseFile(text, false); err != nil || found["x"] == nil {
		f.Fatalf("the seed: %v, %v", found, err)
	}
	f.Add(text, false)
	f.Add([]byte("[nodes]\na = 'http://b:1'\n[[collections]]\nname = 'x'\nkind = 'table'\nshards = [{file = 'f', sha256 = '"+strings.Repeat("0", 64)+"', replicas = ['a']}]"), true)
	f.Add([]byte(`{"collections":[null]}`), false)
	f.Fuzz(func(t *testing.T, data []byte, inTOML bool) {
		file, found, err := parseFile(data, inTOML)
		if err != nil {
			return
		}
		if len(found) != len(file.Collections) || len(found) == 0 {
			t.Fatalf("%d collections, %d found", len(file.Collections), len(found))
		}
		for name, m := range found {
			end := uint64(0)
			for _, s := range m.Shards {
				end = s.First + s.Docs
				for _, node := range s.Replicas {
					if file.Nodes[node] == "" {
						t.Fatalf("%s: node %q has no URL", name, node)
					}
				}
			}
			if end != m.Docs {
				t.Fatalf("%s: the shards end at %d, the documents at %d", name, end, m.Docs)
			}
		}
	})
}

// message returns the bytes of a reply.
func message(f *testing.F, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// FuzzAnswers: answers of two nodes, each for one shard or two, that pass the checks are merged, each
// query to one of its documents at most k times.
func FuzzAnswers(f *testing.F) {
	ranked := message(f, &api.ShardSearchResponse{Epoch: 1, Counts: []uint64{2, 0}, Docs: []uint32{7, 3}, Ends: []uint64{2, 2}, Scores: []float64{2, 1}, Units: []float64{1, 1}, Names: []string{"a", "b"}})
	wrong := message(f, &api.ShardSearchResponse{Epoch: 1, Counts: []uint64{0, 0}, Ends: []uint64{0, 0}, Units: []float64{1, 1}, Errors: []*api.BatchError{{Query: 1, Error: &api.Error{Code: "invalid_query", Message: "x"}}, {}}})
	f.Add(ranked, ranked, uint8(3))
	f.Add(ranked, wrong, uint8(0))
	f.Add(ranked, message(f, &api.ShardSearchResponse{Epoch: 1, Counts: []uint64{2, 1}, Docs: []uint32{7, 3, 9}, Ends: []uint64{2, 3}, Scores: []float64{2, 1, 4}, Units: []float64{1, 1},
		Names: []string{"a", "b", "c"}, Shards: []uint32{2, 3}, Places: []uint32{1, 0, 1}}), uint8(3))
	f.Add(wrong, []byte{}, uint8(1))
	target := &api.ShardTarget{Collection: "x", Epoch: 1}
	shards := []layout.Shard{{Docs: 1 << 31}, {First: 1 << 31, Docs: 1 << 31}, {First: 2 << 31, Docs: 1 << 31}, {First: 3 << 31, Docs: 1 << 31}}
	f.Fuzz(func(t *testing.T, a, b []byte, k uint8) {
		r := &api.ShardSearchRequest{K: uint32(k), Names: k%2 == 1}
		var pieces []piece[*api.ShardSearchResponse]
		for i, data := range [][]byte{a, b} {
			reply := new(api.ShardSearchResponse)
			if proto.Unmarshal(data, reply) != nil {
				continue
			}
			have, err := new(node).have([]int{2 * i, 2*i + 1}, reply.GetShards(), target)
			if err != nil || check(reply, target, &layout.Map{Shards: shards}, have, 2, r) != nil {
				continue
			}
			for _, e := range reply.GetErrors() {
				_ = described(e.GetError()).Error() // has a text in every case
			}
			pieces = append(pieces, piece[*api.ShardSearchResponse]{have, reply})
		}
		m := newMerger(shards, pieces, int(k))
		for n := range 2 {
			m.query = n
			if k > 0 && m.comparable("x") != nil {
				continue
			}
			var h api.Hits
			m.merge(&h, &kind{k: int(k), total: r.Total}, api.Ask{Names: r.Names})
			if n := slices.IndexFunc(h.IDs, func(id uint64) bool { return id >= 4<<31 }); n >= 0 {
				t.Fatalf("document %d of %d", h.IDs[n], uint64(4<<31))
			}
			if k > 0 && (len(h.IDs) != len(h.Scores) || len(h.IDs) > int(k)) || r.Names && len(h.Names) != len(h.IDs) {
				t.Fatalf("%d documents, %d scores, %d names for k = %d", len(h.IDs), len(h.Scores), len(h.Names), k)
			}
			if h.Total.Value > r.Total {
				t.Fatalf("a total of %+v of %d", h.Total, r.Total)
			}
		}
	})
}

// FuzzTerms: statistics of two shards that pass the checks give each text as many frequencies as
// terms.
func FuzzTerms(f *testing.F) {
	both := message(f, &api.ShardTermsResponse{Docs: 9, Length: 20, Terms: []string{"a", "b"}, Df: []uint64{1, 2}, Numbers: []uint32{0, 1, 1}, Ends: []uint32{1, 3}})
	f.Add(both, both, "a", "a b")
	f.Add(both, message(f, &api.ShardTermsResponse{Ends: []uint32{0, 0}, Errors: []*api.BatchError{{Query: 1}}, Analysis: &api.Analysis{Stemmer: "english"}}), "a*", "-b")
	f.Fuzz(func(t *testing.T, a, b []byte, first, second string) {
		asked := []text{{first, written}, {second, literal}}
		if first == second {
			return // a request has each text once
		}
		var parts []*terms
		for _, data := range [][]byte{a, b} {
			reply := new(api.ShardTermsResponse)
			if proto.Unmarshal(data, reply) == nil && checkTerms(reply, &api.ShardTarget{}, len(asked)) == nil {
				parts = append(parts, factsIn(asked, reply))
			}
		}
		fresh := &terms{known: map[text]*known{}}
		fresh.join(asked, parts)
		for _, k := range asked {
			if got := fresh.known[k]; got == nil || len(got.df) != len(got.terms) {
				t.Fatalf("%v: %+v", k, got)
			}
		}
	})
}
