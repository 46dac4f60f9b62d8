package engine

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/engine/index/build"
	"heddle/engine/plan/testneeds"
)

// TestPhraseCost asks for phrases and windows of many equal words in a long document, which end in time.
func TestPhraseCost(t *testing.T) {
	testneeds.Sequential(t)
	e := onThread(t)
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.Positions = build.Text, true
	opt.Stdin = strings.NewReader("a\t" + strings.Repeat("loom ", 20000) + "red\nb\tweft weft\n")
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, c := range []struct {
		text  string
		count uint64
	}{
		{`NEAR/2147483647(loom red)`, 1},
		{`NEAR/20000(loom red loom)`, 1},
		{`NEAR/2(loom red loom)`, 1},
		{`NEAR/1(loom red)`, 0},
		{`NEAR/2(` + strings.Repeat("loom ", 50) + "red)", 1},
		{`"` + strings.Repeat("loom ", 50) + `red"~3`, 1},
		{`"` + strings.Repeat("weft ", 4000) + `"~1`, 0},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		h, err := x.Search(ctx, Query{Text: c.text, CountOnly: true})
		if cancel(); err != nil || h.Count != c.count {
			t.Errorf("%.40s: %d documents, want %d; %v", c.text, h.Count, c.count, err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := x.Search(t.Context(), Query{Text: `"` + strings.Repeat("loom ", 2000) + `"`, CountOnly: true})
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; err != nil || h.Count != 1 || bytes > 64<<20 {
		t.Errorf("2000 equal words: %d documents, %v; %d bytes", h.Count, err, bytes)
	}
	q := Query{Text: `"` + strings.Repeat("loom ", 2000) + `"~1`, CountOnly: true}
	for name, ask := range map[string]func(ctx context.Context, x *Index) error{
		"a query": func(ctx context.Context, x *Index) error {
			_, err := x.Search(ctx, q)
			return err
		},
		"a stream": func(ctx context.Context, x *Index) error {
			return x.SearchAll(ctx, []Query{q, q, q}, func(int, []Hits) error { return nil })
		},
		"callers": func(ctx context.Context, x *Index) error {
			var wg sync.WaitGroup
			errs := make([]error, 8)
			for i := range errs {
				wg.Go(func() { _, errs[i] = x.Search(ctx, q) })
			}
			wg.Wait()
			return errors.Join(errs...)
		},
	} {
		x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		start := time.Now()
		err = ask(ctx, x)
		x.Close() // waits for what still runs
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
			t.Errorf("%s, 2000 words: %v, and %v until it had ended", name, err, took)
		}
		cancel()
	}
}
