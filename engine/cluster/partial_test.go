package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// gaps is a cluster of three shards of an index, of which the second one does not answer.
func gaps(t *testing.T) (*machines, *engine.Engine, []string) {
	t.Helper()
	e, lines := newEngine(t), corpus(200)
	m := place(t, e, lines, []int{0, 50, 120, 200}, 1)
	m.set("n1", down)
	return m, e, lines
}

// without is the coverage of gaps.
func without(reason string) *api.Coverage {
	return &api.Coverage{Epoch: 1, Shards: 3, ShardsAnswered: 2, Docs: 200, DocsAnswered: 130, Missing: []*api.MissingShard{{Shard: 1, Error: reason}}}
}

// sameCoverage compares coverages. The error of a missing shard contains the expected one.
func sameCoverage(got, want *api.Coverage) bool {
	got = proto.CloneOf(got)
	for i, m := range got.GetMissing() {
		if i < len(want.GetMissing()) && strings.Contains(m.GetError(), want.Missing[i].GetError()) {
			m.Error = want.Missing[i].Error
		}
	}
	return proto.Equal(got, want)
}

// TestMissing: a query without all shards fails and names them.
func TestMissing(t *testing.T) {
	m, _, _ := gaps(t)
	_, cover, err := New(m, m, Options{}).Search(t.Context(), "x", sample, api.Ask{})
	var missing *MissingError
	if !errors.As(err, &missing) || !slices.Equal(missing.Missing, []int{1}) || missing.Of != 3 || !strings.Contains(err.Error(), "shards 1 of 3") || cover != nil {
		t.Errorf("error %v, coverage %v", err, cover)
	}
}

// TestPartial: a partial answer to the first query is the answer of an index of the other documents.
func TestPartial(t *testing.T) {
	m, e, lines := gaps(t)
	whole := openIndex(t, e, append(slices.Clone(lines[:50]), lines[120:]...))
	for _, q := range []engine.Query{sample, {Text: "w1 w2 w7", K: 5, Match: engine.AndOr}, {Text: "w1 -w2"}, {Text: "w1*", K: 200}, {Text: "w3 w9", CountOnly: true}} {
		h, err := whole.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := api.Hits{Count: h.Count, Scores: h.Scores}
		for _, d := range h.Docs {
			if d >= 50 {
				d += 70
			}
			want.IDs = append(want.IDs, uint64(d))
		}
		c := New(m, m, Options{})
		got, cover, err := c.Search(t.Context(), "x", q, api.Ask{AllowPartial: true})
		if err != nil || !reflect.DeepEqual(got, want) || !sameCoverage(cover, without("the node is down")) {
			t.Errorf("%+v: %+v, coverage %v, %v; want %+v", q, got, cover, err, want)
		}
	}
}

// TestPartialStatistics: with the statistics of the whole, from an earlier query, documents of a
// partial answer have the scores of the whole.
func TestPartialStatistics(t *testing.T) {
	m, _, _ := gaps(t)
	m.set("n1", nil)
	c := New(m, m, Options{})
	all := sample
	all.K = 200
	want, cover, err := c.Search(t.Context(), "x", all, api.Ask{AllowPartial: true})
	if err != nil || cover.GetShardsAnswered() != 3 || cover.GetDocsAnswered() != 200 || cover.GetMissing() != nil {
		t.Fatalf("coverage %v, %v", cover, err)
	}
	var ids []uint64
	var scores []float64
	for i, d := range want.IDs {
		if d < 50 || d >= 120 {
			ids, scores = append(ids, d), append(scores, want.Scores[i])
		}
	}
	m.set("n1", down)
	got, cover, err := c.Search(t.Context(), "x", all, api.Ask{AllowPartial: true})
	if err != nil || !slices.Equal(got.IDs, ids) || !slices.Equal(got.Scores, scores) || !sameCoverage(cover, without("the node is down")) {
		t.Errorf("%+v, coverage %v, %v", got, cover, err)
	}
}

// TestPartialOnce: the shards of a partial answer are the same for all queries of a call, though a
// missing shard comes back in between.
func TestPartialOnce(t *testing.T) {
	m, _, _ := gaps(t)
	var calls atomic.Int64
	m.set("n1", func(ctx context.Context) error {
		if calls.Add(1) == 1 {
			return down(ctx)
		}
		return nil
	})
	hits, cover, err := New(m, m, Options{}).SearchAll(t.Context(), "x", []engine.Query{sample, {Text: "w1"}, {Text: "w2", CountOnly: true}}, api.Ask{AllowPartial: true})
	if err != nil || !sameCoverage(cover, without("the node is down")) || calls.Load() != 1 {
		t.Fatalf("coverage %v, %d calls, %v", cover, calls.Load(), err)
	}
	for i, h := range hits {
		if h.Err != nil || h.Count == 0 {
			t.Errorf("query %d: %+v", i, h)
		}
		for _, d := range h.IDs {
			if d >= 50 && d < 120 {
				t.Errorf("query %d: document %d of the missing shard", i, d)
			}
		}
	}
}

// TestPartialSilent: a silent shard leaves time for the others. Without AllowPartial the time ends.
func TestPartialSilent(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		m, _, _ := gaps(t)
		m.set("n1", silent)
		q := sample
		q.Timeout = 2 * time.Second
		c := New(m, m, Options{})
		h, cover, err := c.Search(t.Context(), "x", q, api.Ask{AllowPartial: true})
		if err != nil || len(h.IDs) != q.K || !sameCoverage(cover, without("deadline exceeded")) {
			t.Errorf("%+v, coverage %v, %v", h, cover, err)
		}
		q.Timeout = 50 * time.Millisecond
		if _, _, err := c.Search(t.Context(), "x", q, api.Ask{}); engine.CodeOf(err) != engine.Deadline {
			t.Errorf("error %v", err)
		}
	})
}

// TestPartialNone: an answer without any shard is an error.
func TestPartialNone(t *testing.T) {
	m, _, _ := gaps(t)
	m.set("n0", down)
	m.set("n2", down)
	_, cover, err := New(m, m, Options{}).Search(t.Context(), "x", sample, api.Ask{AllowPartial: true})
	var missing *MissingError
	if !errors.As(err, &missing) || !slices.Equal(missing.Missing, []int{0, 1, 2}) || cover != nil {
		t.Errorf("error %v, coverage %v", err, cover)
	}
}

// TestPartialTable: a partial answer has the rows of the other shards.
func TestPartialTable(t *testing.T) {
	e, m := newEngine(t), newMachines()
	m.layout = &layout.Map{Name: "t", Kind: layout.Table, Epoch: 1, Docs: 30}
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		m.node(name).AddTable("t", 1, i, openTable(t, e, slices.Repeat([]string{"1,2"}, 10)))
		m.layout.Shards = append(m.layout.Shards, layout.Shard{First: uint64(10 * i), Docs: 10, Replicas: []string{name}})
	}
	m.set("n1", down)
	c := New(m, m, Options{})
	s := api.Selection{Where: []string{"a = 1", "b = 1"}, Rows: true, Limit: 12}
	if _, _, err := c.Select(t.Context(), "t", s); engine.CodeOf(err) != engine.Unavailable {
		t.Errorf("error %v", err)
	}
	s.AllowPartial = true
	rows, cover, err := c.Select(t.Context(), "t", s)
	want := &api.Coverage{Epoch: 1, Shards: 3, ShardsAnswered: 2, Docs: 30, DocsAnswered: 20, Missing: []*api.MissingShard{{Shard: 1, Error: "the node is down"}}}
	if err != nil || !sameCoverage(cover, want) || rows[0].Count != 20 || !slices.Equal(rows[0].IDs, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21}) || rows[1].Count != 0 {
		t.Errorf("%+v, coverage %v, %v", rows, cover, err)
	}
}
