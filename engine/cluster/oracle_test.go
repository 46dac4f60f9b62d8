package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/layout"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// splits are the cuts of n documents: 1, 2, 3 and 8 equal shards, empty shards, random cuts.
func splits(n int) (all [][]int) {
	for _, shards := range []int{1, 2, 3, 8} {
		cuts := []int{}
		for i := range shards + 1 {
			cuts = append(cuts, n*i/shards)
		}
		all = append(all, cuts)
	}
	r := rand.New(rand.NewPCG(3, 4))
	random := []int{0, n}
	for range 4 {
		random = append(random, r.IntN(n))
	}
	slices.Sort(random)
	return append(all, []int{0, 0, 1, n / 2, n / 2, n, n}, random)
}

// queries are queries of all modes, variants and kinds of expressions.
func queries() (all []engine.Query) {
	texts := []string{
		"w0", "w1 w2", "w1 w2 w3 w9", "w0^2.5 w4", "w12 w20 w30", "nowhere", "w1 nowhere", "", "+w1 w2 -w3", "w1 AND (w2 OR w7)", "w1 NOT w0", "*", "NOT w0", "w1 OR NOT w2", "* -w3 -w7",
		"w1*", "w2* -w3*", "w*", "-w1", "w1 w1 w2", "(w5 w6", "w1^0", "w33* w40*", "w1~1 -w2", "w?? *2 -w3?", "/w[12].?/ [w3 TO w5}^2", "NOT w~", "w1? AND w2~1", "w1 AND nowhere", "nowh*",
	}
	for _, text := range texts {
		for _, match := range engine.Matches() {
			for _, k := range []int{1, 10, 300} {
				all = append(all, engine.Query{Text: text, Match: match, K: k, Total: []uint64{0, 1, 40, engine.TotalExact}[len(all)%4]})
			}
			all = append(all, engine.Query{Text: text, Match: match}, engine.Query{Text: text, Match: match, CountOnly: true, Total: 30}, engine.Query{Text: text, Match: match, Literal: true, K: 5})
		}
	}
	for _, v := range bm25.Variants() {
		p := bm25.Params{Variant: v, K1: 1.2, B: 0.75}
		all = append(all, engine.Query{Text: "w0 w5 w11", K: 20, Scoring: &p}, engine.Query{Text: "w1* -w0", K: 20, Scoring: &p})
	}
	st := &engine.Statistics{Docs: 10000, Length: 80000, DF: map[string]uint64{"w1": 5000, "w2": 3000}}
	return append(all, engine.Query{Terms: []string{"w1", "w2"}, Weights: []float64{2, 0.5}, K: 7}, engine.Query{Terms: []string{"w1", "w2"}, Match: engine.And},
		engine.Query{Terms: []string{"w1", "w2"}, Statistics: st, K: 9}, engine.Query{Terms: []string{"w3"}, Statistics: st, K: 9},
		engine.Query{Terms: []string{"w1"}, Weights: []float64{-1}, K: 7})
}

// TestIndex compares shards, on nodes and in this process, with the whole: the same documents, scores,
// names and errors.
func TestIndex(t *testing.T) {
	e := newEngine(t)
	lines := corpus(400)
	whole := openIndex(t, e, lines)
	snapshot, err := whole.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	all := queries()
	want := make([]api.Hits, len(all))
	bad := 0
	for i, q := range all {
		h, err := snapshot.Search(t.Context(), q)
		if want[i] = (api.Hits{Count: h.Count, Total: h.Total, Scores: h.Scores, Err: err}); err != nil {
			bad++
			continue
		}
		want[i].Note = snapshot.Note(q, h.Count > 0)
		if h.Docs != nil {
			want[i].IDs = []uint64{}
		}
		for _, d := range h.Docs {
			name, err := snapshot.File().DocName(d)
			if err != nil {
				t.Fatal(err)
			}
			want[i].IDs, want[i].Names = append(want[i].IDs, uint64(d)), append(want[i].Names, name)
		}
	}
	if bad == 0 || bad > len(all)/2 {
		t.Fatalf("%d of %d queries are invalid", bad, len(all))
	}
	cuts := splits(len(lines))
	if testing.Short() {
		cuts = cuts[3:] // one shard to three are like eight
	}
	for _, cuts := range cuts {
		m := place(t, e, lines, cuts, 1)
		for name, c := range map[string]*Coordinator{"nodes": New(m, m, Options{}), "within": Within(m, m, Options{})} {
			t.Run(fmt.Sprint(name, cuts), func(t *testing.T) { sameIndex(t, c, all, want) })
		}
	}
}

// sameIndex compares the answers of a coordinator, alone and in a batch, with the answers of the whole.
func sameIndex(t *testing.T, c *Coordinator, all []engine.Query, want []api.Hits) {
	for i, q := range all {
		got, _, err := c.Search(t.Context(), "x", q, api.Ask{Names: true})
		got.Err = err
		same(t, q, got, want[i])
	}
	var batch []engine.Query // one wrong option fails a whole batch
	var of []int
	for i, q := range all {
		if engine.CodeOf(want[i].Err) != engine.InvalidOption {
			batch, of = append(batch, q), append(of, i)
		}
	}
	got, _, err := c.SearchAll(t.Context(), "x", batch, api.Ask{Names: true})
	if err != nil {
		t.Fatal(err)
	}
	for n, h := range got {
		same(t, batch[n], h, want[of[n]])
	}
}

// same compares answers: errors by code, place and text.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, q engine.Query, got, want api.Hits) {
	t.Helper()
	if (got.Err == nil) != (want.Err == nil) || got.Err != nil && !reflect.DeepEqual(plain(got.Err), plain(want.Err)) {
		t.Errorf("%+v: error %v, want %v", q, got.Err, want.Err)
		return
	}
	got.Err, want.Err = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v: got %+v, want %+v", q, got, want)
	}
}

// plain is the description of an error. The number of a query in its call may differ.
func plain(err error) *api.Error { return api.ErrorOf(err) }

// sameRows returns an error unless the shards of a table answer as the whole does.
func sameRows(ctx context.Context, c *Coordinator, name string, whole *engine.Table, where string, limit uint64) error {
	got, _, err := c.Select(ctx, name, api.Selection{Where: []string{where}, Rows: true, Limit: limit})
	want, wrong := whole.Select(ctx, engine.Selection{Where: where, Output: plan.OutputBits})
	if wrong != nil || err != nil {
		if wrong == nil || err == nil || !reflect.DeepEqual(plain(err), plain(wrong)) {
			return fmt.Errorf("error %v, want %v", err, wrong)
		}
		return nil
	}
	most := want.Count
	if limit > 0 {
		most = min(most, limit)
	}
	var ids []uint64
	for _, id := range rowset.AppendFirst(nil, want.Bits, int(most)) {
		ids = append(ids, uint64(id))
	}
	if got[0].Count != want.Count || !slices.Equal(got[0].IDs, ids) {
		return fmt.Errorf("%+v, want %d rows %v", got[0], want.Count, ids)
	}
	return nil
}

// tableOf puts the shards of a table on nodes n0, n1 and so on.
func tableOf(t *testing.T, e *engine.Engine, rows []string, cuts []int) *machines {
	m := newMachines()
	m.layout = &layout.Map{Name: "t", Kind: layout.Table, Epoch: 1, Docs: uint64(len(rows))}
	for i := range len(cuts) - 1 {
		name := fmt.Sprint("n", i)
		m.node(name).AddTable("t", 1, i, openTable(t, e, rows[cuts[i]:cuts[i+1]]))
		m.layout.Shards = append(m.layout.Shards, layout.Shard{First: uint64(cuts[i]), Docs: uint64(cuts[i+1] - cuts[i]), Replicas: []string{name}})
	}
	return m
}

// TestTable compares shards of a table with the whole.
func TestTable(t *testing.T) {
	e := newEngine(t)
	r := rand.New(rand.NewPCG(5, 6))
	var rows []string
	for range 300 {
		rows = append(rows, fmt.Sprintf("%d,%d", r.IntN(50), r.IntN(10)))
	}
	whole := openTable(t, e, rows)
	wheres := []string{"a < 10", "a >= 20 AND b = 3", "NOT (a = 7 OR b > 5)", "a > b", "a = 1000", "a <", "c = 1"}
	for _, cuts := range [][]int{{0, 300}, {0, 150, 300}, {0, 1, 100, 300}, {0, 37, 80, 120, 160, 200, 240, 280, 300}} {
		m := tableOf(t, e, rows, cuts)
		c := New(m, m, Options{})
		for _, where := range wheres {
			for _, limit := range []uint64{0, 7} {
				if err := sameRows(t.Context(), c, "t", whole, where, limit); err != nil {
					t.Errorf("%q in %v, limit %d: %v", where, cuts, limit, err)
				}
			}
		}
		got, _, err := c.Select(t.Context(), "t", api.Selection{Where: wheres})
		if err != nil || got[5].Err == nil || got[6].Err == nil || got[0].Count == 0 || got[0].IDs != nil || !strings.Contains(got[5].Err.Error(), "column") {
			t.Errorf("batch: %+v, %v", got, err)
		}
	}
}
