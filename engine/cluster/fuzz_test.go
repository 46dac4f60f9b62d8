package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/split"
	"heddle/engine/index/bm25"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
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
	m := &layout.Map{Name: "x", Kind: layout.Index, Epoch: 1, Docs: 4 << 31, Shards: shards}
	f.Fuzz(func(t *testing.T, a, b []byte, k uint8) {
		r := &api.ShardSearchRequest{K: uint32(k), Names: k%2 == 1}
		replies := &decoded{}
		for i, data := range [][]byte{a, b} {
			reply := new(api.ShardSearchResponse)
			if proto.Unmarshal(data, reply) != nil {
				continue
			}
			have, err := new(node).have([]int{2 * i, 2*i + 1}, reply.GetShards(), target)
			if err != nil || check(reply, target, m, have, 2, r) != nil {
				continue
			}
			for _, e := range reply.GetErrors() {
				_ = described(e.GetError()).Error() // has a text in every case
			}
			replies.answers = append(replies.answers, coordinator.Piece[*part.Answer]{Shards: have, Answer: shard.AnswerOf(reply, described)})
		}
		q := coordinator.Query{Text: "a", Options: query.Options{K: int(k), Statistics: new(bm25.Statistics)}}
		all, _, err := coordinator.New(oneMap{m}, replies, coordinator.Options{}).SearchAll(t.Context(), "x", []coordinator.Query{q, q}, coordinator.Ask{Names: r.Names})
		if err != nil {
			return // the units of scores differ
		}
		for _, h := range all {
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

// decoded are shards with the answers of messages. Terms makes the answer to a request for terms; nil: there is none.
type decoded struct {
	coordinator.Shards
	answers []coordinator.Piece[*part.Answer]
	terms   func(*part.TermsRequest) []coordinator.Piece[*part.Terms]
	asked   *part.Request // the last one
}

// Search implements coordinator.Shards.
func (d *decoded) Search(_ context.Context, _ *coordinator.Fan, r *part.Request, _ []*filter.Filter) ([]coordinator.Piece[*part.Answer], []error) {
	d.asked = r
	return d.answers, nil
}

// Terms implements coordinator.Shards.
func (d *decoded) Terms(_ context.Context, _ *coordinator.Fan, r *part.TermsRequest) ([]coordinator.Piece[*part.Terms], []error) {
	if d.terms == nil {
		return nil, []error{errors.New("no terms")}
	}
	return d.terms(r), nil
}

// Describe implements coordinator.Shards.
func (d *decoded) Describe(context.Context, *coordinator.Fan) ([]coordinator.Piece[part.Description], []error) {
	return nil, []error{errors.New("no description")}
}

// oneMap is the map of one collection.
type oneMap struct{ m *layout.Map }

// Map implements Maps.
func (s oneMap) Map(context.Context, string) (*layout.Map, error) { return s.m, nil }

// Refresh implements Maps.
func (s oneMap) Refresh(context.Context, string) (*layout.Map, error) { return s.m, nil }

// Names implements Maps.
func (s oneMap) Names(context.Context) ([]string, error) { return []string{s.m.Name}, nil }

// FuzzTerms: statistics of two shards that pass the checks give each term of a request a frequency.
func FuzzTerms(f *testing.F) {
	both := message(f, &api.ShardTermsResponse{Docs: 9, Length: 20, Terms: []string{"a", "b"}, Df: []uint64{1, 2}, Numbers: []uint32{0, 1, 1}, Ends: []uint32{1, 3}})
	f.Add(both, both, "a", "a b")
	f.Add(both, message(f, &api.ShardTermsResponse{Ends: []uint32{0, 0}, Errors: []*api.BatchError{{Query: 1}}, Analysis: &api.Analysis{Stemmer: "english"}}), "a*", "-b")
	m := &layout.Map{Name: "x", Kind: layout.Index, Epoch: 1, Docs: 2, Shards: []layout.Shard{{Docs: 1}, {First: 1, Docs: 1}}}
	f.Fuzz(func(t *testing.T, a, b []byte, first, second string) {
		d := &decoded{terms: func(r *part.TermsRequest) (pieces []coordinator.Piece[*part.Terms]) {
			for i, data := range [][]byte{a, b} {
				reply := new(api.ShardTermsResponse)
				if proto.Unmarshal(data, reply) == nil && checkTerms(reply, &api.ShardTarget{}, len(r.Texts)) == nil {
					pieces = append(pieces, coordinator.Piece[*part.Terms]{Shards: []int{i}, Answer: shard.TermsOf(reply, described)})
				}
			}
			return pieces
		}}
		ranked := query.Options{K: 1}
		_, _, err := coordinator.New(oneMap{m}, d, coordinator.Options{}).SearchAll(t.Context(), "x", []coordinator.Query{{Text: first, Options: ranked}, {Text: second, Literal: true, Options: ranked}}, coordinator.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if s := d.asked.Statistics; len(s.Terms) != len(s.DF) || slices.ContainsFunc(d.asked.Numbers, func(n uint32) bool { return int(n) >= len(s.Terms) }) {
			t.Fatalf("%+v with %+v", d.asked, s)
		}
	})
}
