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
	"heddle/engine/internal/calibrate"
	"heddle/engine/internal/cost"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestCalibrate fits some kinds on two processors and stores the model beside the index.
// The next engine reads it.
func TestCalibrate(t *testing.T) {
	testneeds.Clock(t)
	testneeds.Sequential(t)
	backends := processorsOf(t)
	path := shortIndexFile(t)
	opt := Options{Backends: backends}
	e, err := startFile(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	kinds := []cost.Kind{cost.Boolean, cost.RankAndOr} // the slowest kinds
	found, err := e.Calibrate(t.Context(), CalibrateOptions{Kinds: []string{kinds[0].String(), kinds[1].String()}, Time: time.Millisecond, Progress: func(p, k string) { heard = append(heard, p+" "+k) }})
	if err != nil {
		t.Fatal(err)
	}
	names := e.Stats().Processors
	var want []string
	for i, f := range found {
		if f.Kind != kinds[i].String() || len(f.Processors) != 2 || len(f.Differences) != 1 {
			t.Fatalf("%d: %+v", i, f)
		}
		for p, c := range f.Processors {
			want = append(want, names[p].Name+" "+f.Kind)
			if c.Processor != names[p].Name || c.Queries < calibrate.LeastTasks || c.Batches < calibrate.LeastBatches || c.BatchError <= 0 || len(c.Fits) != len(cost.Metrics()) || c.Best == "" || len(c.Fits[0].Features) != len(c.Fits[0].Coefficients) {
				t.Errorf("%s on %s: %+v", f.Kind, c.Processor, c)
			}
		}
		d := f.Differences[0]
		if d.Slow != names[0].Name || d.Fast != names[1].Name || d.Queries < calibrate.LeastTasks || d.Faster < 0 || d.Faster > 1 || d.Saved < 0 || d.Saved > 1 || len(d.Regressions) != len(cost.Metrics()) {
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
	if _, err := cost.Load(cost.Path(path), f.Checksum(), cost.Best); err != nil {
		t.Error(err)
	}
	if e, err = startFile(t.Context(), path, opt); err != nil {
		t.Fatal(err)
	}
	if _, err := e.search(t.Context(), Query{Terms: testCorpus().terms[:2]}, searchOptions{}, calling{}); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestCalibrateQueries calibrates with given queries and kinds. Invalid ones, a cancelled
// context and a closed engine are errors, and no file is written.
func TestCalibrateQueries(t *testing.T) {
	testneeds.Sequential(t)
	c := testCorpus()
	path := shortIndexFile(t)
	e, err := startFile(t.Context(), path, Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	measure := func(ctx context.Context, qs []Query, kinds ...cost.Kind) ([]observe.KindCosts, error) {
		var names []string
		for _, k := range kinds {
			names = append(names, k.String())
		}
		return e.Calibrate(ctx, CalibrateOptions{Queries: qs, Kinds: names, K: 3, Time: 1})
	}
	for _, w := range []struct {
		qs   []Query
		kind cost.Kind
		says string
	}{
		{[]Query{}, cost.And, "no query has a term"},
		{[]Query{{Terms: []string{"there is no such term"}}}, cost.And, "no query has a term"},
		{c.queries(5), cost.And, "at least"},
		{append(c.queries(5), Query{Text: "heaven~3"}), cost.RankOr, "queries[5]"},
	} {
		if _, err := measure(t.Context(), w.qs, w.kind); err == nil || !strings.Contains(err.Error(), w.says) {
			t.Errorf("%d queries of kind %v: %v, want %q", len(w.qs), w.kind, err, w.says)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(done, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if _, err := os.Stat(cost.Path(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("costs were written: %v", err)
	}
	found, err := measure(t.Context(), c.queries(60), cost.Count, cost.RankAnd)
	if err != nil || len(found) != 2 || found[0].Kind != cost.Count.String() || found[1].Kind != cost.RankAnd.String() || found[1].Differences != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := measure(t.Context(), nil); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 1 {
		t.Errorf("left beside the index: %v", left)
	}
}
