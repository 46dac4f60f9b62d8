package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/index/hdl"
	"heddle/engine/internal/cost"
	"heddle/engine/plan"
)

// TestCalibrate fits some kinds on two processors, keeps what it has found beside the
// index, and an engine that starts then has it.
func TestCalibrate(t *testing.T) {
	backends := processorsOf(t)
	path := shortIndexFile(t)
	opt := EngineOptions{Backends: backends}
	e, err := Start(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	kinds := []cost.Kind{cost.Formula, cost.RankAndOr} // those that take the most
	found, err := e.Calibrate(t.Context(), CalibrateOptions{Kinds: kinds, Time: time.Millisecond, Progress: func(p string, k cost.Kind) { heard = append(heard, p+" "+k.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	names := e.Stats().Processors
	var want []string
	for i, f := range found {
		if f.Kind != kinds[i] || len(f.Processors) != 2 || len(f.Differences) != 1 {
			t.Fatalf("%d: %+v", i, f)
		}
		for p, c := range f.Processors {
			want = append(want, names[p].Name+" "+f.Kind.String())
			if c.Processor != names[p].Name || c.Samples < leastTasks || c.Batches < leastBatches || c.BatchError <= 0 || len(c.Fits) != len(cost.Metrics()) {
				t.Errorf("%v on %s: %+v", f.Kind, c.Processor, c.Calibration)
			}
		}
		d := f.Differences[0]
		if d.Slow != names[0].Name || d.Fast != names[1].Name || d.Queries < leastTasks || d.Faster < 0 || d.Faster > 1 || d.Saved < 0 || d.Saved > 1 || len(d.Regressions) != len(cost.Metrics()) {
			t.Errorf("%v: %+v", f.Kind, d)
		}
	}
	if len(found) != len(kinds) || !slices.Equal(heard, want) {
		t.Errorf("%d kinds, measured %v, want %v", len(found), heard, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := cost.Load(CostsPath(path), f.Checksum(), cost.Best); err != nil {
		t.Error(err)
	}
	if e, err = Start(t.Context(), path, opt); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Search(t.Context(), Query{Terms: testCorpus().terms[:2]}, SearchOptions{}, Call{}); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestCalibrateQueries: queries and kinds may be given; what is wrong with them, a context
// that ends and an engine that is closed are errors, and then nothing is written.
func TestCalibrateQueries(t *testing.T) {
	c := testCorpus()
	path := shortIndexFile(t)
	e, err := Start(t.Context(), path, EngineOptions{Options: Options{Backend: "host", Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	calibrate := func(ctx context.Context, qs []Query, kinds ...cost.Kind) ([]KindCosts, error) {
		return e.Calibrate(ctx, CalibrateOptions{Queries: qs, Kinds: kinds, K: 3, Time: 1})
	}
	for _, w := range []struct {
		qs   []Query
		kind cost.Kind
		says string
	}{
		{[]Query{}, cost.And, "no query has a term"},
		{[]Query{{Terms: []string{"there is no such term"}}}, cost.And, "no query has a term"},
		{c.queries(5), cost.And, "at least"},
		{append(c.queries(5), Query{Text: "heaven^-1"}), cost.RankOr, "query 5"},
	} {
		if _, err := calibrate(t.Context(), w.qs, w.kind); err == nil || !strings.Contains(err.Error(), w.says) {
			t.Errorf("%d queries of kind %v: %v, want %q", len(w.qs), w.kind, err, w.says)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calibrate(done, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if _, err := os.Stat(CostsPath(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("costs were written: %v", err)
	}
	found, err := calibrate(t.Context(), c.queries(60), cost.Count, cost.RankAnd)
	if err != nil || len(found) != 2 || found[0].Kind != cost.Count || found[1].Kind != cost.RankAnd || found[1].Differences != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := calibrate(t.Context(), nil); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 1 {
		t.Errorf("left beside the index: %v", left)
	}
}

// TestDrawQueries: they have one term to six, the same ones every time, with lists of all
// lengths; without names or postings there are none.
func TestDrawQueries(t *testing.T) {
	x := openFile(t, Options{Backend: "host", Threads: 1})
	qs, err := drawQueries(x)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := drawQueries(x)
	byTerms, byLength := map[int]int{}, map[uint32]int{}
	for i, q := range qs {
		if !slices.Equal(q.Terms, again[i].Terms) {
			t.Fatalf("query %d is %v and %v", i, q.Terms, again[i].Terms)
		}
		byTerms[len(q.Terms)]++
		for _, term := range q.Terms {
			h, ok := x.dict.Lookup(term)
			if !ok {
				t.Fatalf("no term %q", term)
			}
			byLength[x.src.Lists[h].Len]++
		}
	}
	for n := 1; n <= 6; n++ {
		if byTerms[n] < len(qs)/12 {
			t.Errorf("%d of %d queries have %d terms", byTerms[n], len(qs), n)
		}
	}
	lengths := map[uint32]bool{}
	for _, l := range x.src.Lists {
		lengths[l.Len] = true
	}
	if len(byLength) < len(lengths)/2 {
		t.Errorf("lists of %d lengths, there are %d", len(byLength), len(lengths))
	}
	for _, x := range []*Index{{src: x.src, dict: unnamed{}}, {src: &plan.Source{Lists: make([]plan.List, 3)}, dict: x.dict}} {
		if _, err := drawQueries(x); err == nil {
			t.Error("queries out of nothing")
		}
	}
}

// unnamed is a dictionary that cannot name terms.
type unnamed struct{}

func (unnamed) Lookup(string) (plan.Handle, bool) { return 0, false }
