package cl

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// TestWatchdog answers queries over much data on one compute unit, as fast as one core, whose driver takes the
// device away after a launch of 100 ms.
func TestWatchdog(t *testing.T) {
	if docs, err := strconv.Atoi(os.Getenv("HEDDLE_TEST_UNLIKE")); err == nil {
		runLarge(t, uint32(docs))
		return
	}
	testneeds.OneCaller(t)
	testneeds.Device(t)
	layer := newLayer(t)
	run := func(docs uint32, words string) (string, error) {
		return onLayer(t, layer, "gpu units=1 "+words, "^TestWatchdog$", "POCL_MAX_PTHREAD_COUNT=1", "GOGC=off", fmt.Sprint("HEDDLE_TEST_UNLIKE=", docs))
	}
	if said, err := run(1<<17, ""); err != nil { // PoCL compiles kernels at their first launch, and keeps them
		t.Fatalf("%v\n%s", err, said)
	}
	for _, docs := range []uint32{1 << 17, 1 << 20} {
		said, err := run(docs, "watchdog=100")
		t.Logf("%d documents: %s", docs, said[max(strings.LastIndex(said, "layer:"), 0):])
		if err != nil || !strings.Contains(said, "layer:") {
			t.Errorf("%d documents: %v\n%s", docs, err, said)
		}
	}
}

// runLarge runs batches over lists and rows whose answers are known: list i has the multiples of i+2.
func runLarge(t *testing.T, docs uint32) {
	b, err := Open(t.Context(), devicetest.Find(t, everything), Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	src := &plan.Source{Docs: docs}
	for i := range uint32(6) {
		var list, freqs []uint32
		for d := uint32(0); d < docs; d += i + 2 {
			list, freqs = append(list, d), append(freqs, 1+d%7)
		}
		h, err := src.Append(codec.ParaPFor, list, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for d := range docs {
		src.Lengths = append(src.Lengths, 100+d%50)
	}
	s, err := b.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	multiples := func(of uint32) uint64 { return uint64((docs + of - 1) / of) }
	var both, either plan.MatchBatch
	var ranks plan.RankBatch
	ranks.K, ranks.Norm = 10, plan.NewNorm(0.9, 0.4, 120)
	for range 3 {
		both.Add(src, 0, 1)
		if err := either.AddExpr(src, plan.Expr{Op: plan.OpOr, Args: []plan.Expr{{List: 0}, {List: 1}}}); err != nil {
			t.Fatal(err)
		}
		ranks.Add(src, plan.Term{List: 0, Weight: 1 << 20}, plan.Term{List: 3, Weight: 1 << 24}, plan.Term{List: 5, Weight: 1 << 22})
	}
	var out plan.Results
	for range 2 {
		for _, a := range []plan.Algorithm{plan.Auto, plan.BS, plan.MergePath} {
			both.Algorithm = a
			if err := s.Match(t.Context(), &both, &out); err != nil || out.Count(2) != multiples(6) {
				t.Fatalf("%s: %d of %d, %v", a, out.Count(2), multiples(6), err)
			}
		}
		if err := s.Match(t.Context(), &either, &out); err != nil || out.Count(2) != multiples(2)+multiples(3)-multiples(6) {
			t.Fatalf("or: %d documents, %v", out.Count(2), err)
		}
		for _, mode := range []plan.Mode{plan.Or, plan.And} {
			ranks.Mode = mode
			var top plan.TopK
			if err := s.Rank(t.Context(), &ranks, &top); err != nil {
				t.Fatal(err)
			}
		}
	}
	in, sums := make([]uint32, 16*docs), make([]uint32, 16*docs)
	for i := range in {
		in[i] = uint32(i) & 1
	}
	if _, err := b.Scan(t.Context(), sums, in, 1); err != nil || sums[len(sums)-1] != 8*docs-1 {
		t.Fatalf("scan: %d, %v", sums[len(sums)-1], err)
	}
	if kept, _, err := b.Compact(t.Context(), nil, in, Keep{Least: 1, Greatest: 1}, 1); err != nil || len(kept) != int(8*docs) {
		t.Fatalf("compaction: %d elements, %v", len(kept), err)
	}
	tab := plantest.NewTable(docs, 32)
	input := plan.Input{Column: tab.AddColumn(t, plantest.CodeKinds[2], plantest.RNG(t)), Last: 9}
	rows := plantest.NewFilter(docs, func(d uint32) bool { return d%2 == 0 })
	tab.AddVector(rows)
	ts, err := b.LoadTable(t.Context(), &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	defer ts.Close()
	var selections plan.SelectBatch
	for range 3 {
		selections.Any(0)
		selections.Check(input.Column, plan.CodeRange{Lo: 0, Hi: 4})
		selections.End()
	}
	want := 0
	for d := uint32(0); d < docs; d += 2 {
		if tab.Codes[input.Column][d] <= 4 {
			want++
		}
	}
	for _, strategy := range ts.Strategies() {
		selections.Strategy = strategy
		var found plan.Rows
		if err := ts.Select(t.Context(), &selections, &found); err != nil || int(found.Counts[2]) != want {
			t.Fatalf("%v: %v, %d rows expected", strategy, err, want)
		}
	}
	counts, err := ts.(plan.CodeCounter).CountCodes(t.Context(), rows, []plan.Input{input})
	if err != nil || len(counts) != 1 {
		t.Fatal(err)
	}
	var sliced plan.SelectBatch
	for range 40 {
		sliced.Do(plan.StepAll)
		sliced.Check(input.Column, plan.CodeRange{Lo: 1, Hi: 6})
		sliced.End()
	}
	var found plan.Rows
	if err := ts.Select(t.Context(), &sliced, &found); err != nil || found.Counts[0] == 0 || found.Counts[0] != found.Counts[39] {
		t.Fatalf("%v, %d", err, found.Counts)
	}
	sliced.Offsets, sliced.Steps, sliced.Ranges = sliced.Offsets[:2], sliced.Steps[:2], sliced.Ranges[:1]
	for _, by := range [][]int{nil, {0}} {
		cells, err := ts.(plan.Measurer).Measure(t.Context(), &sliced, &plan.Aggregation{Inputs: []plan.Input{input}, Groupings: by,
			Measures: []plan.Measure{{Kind: plan.MeasureSum}}})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for i := range cells.Rows {
			n += cells.Rows[i]
		}
		if n != uint64(found.Counts[0]) {
			t.Fatalf("groups by %v: %d rows, want %d", by, n, found.Counts[0])
		}
	}
}
