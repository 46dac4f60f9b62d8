package engine

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// TestCloseWhileOpening closes an engine while an index or a table is being loaded on a slow
// device: the device stays open until the load has ended.
func TestCloseWhileOpening(t *testing.T) {
	src, dict := inMemory(t)
	tab, columns := inTable(t, 32)
	index, table := indexFile(t), tableFile(t, 32)
	for name, load := range map[string]func(context.Context, *Engine) error{
		"OpenIndex": func(ctx context.Context, e *Engine) error {
			_, err := e.OpenIndex(ctx, index, IndexOptions{})
			return err
		},
		"NewIndex": func(ctx context.Context, e *Engine) error {
			_, err := e.NewIndex(ctx, src, dict, IndexOptions{})
			return err
		},
		"OpenTable": func(ctx context.Context, e *Engine) error {
			_, err := e.OpenTable(ctx, table, TableOptions{})
			return err
		},
		"NewTable": func(ctx context.Context, e *Engine) error {
			_, err := e.NewTable(ctx, &tab.Table, columns, TableOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &faulty{name: "slow", wait: make(chan struct{})}
			e, err := New(t.Context(), faultyOptions(d))
			if err != nil {
				t.Fatal(err)
			}
			closeDuring(t, e, d, func() error { return load(t.Context(), e) })
		})
	}
}

// TestCloseWhileReloading closes an engine while an index or a table is being reloaded, and
// the index or table beside it.
func TestCloseWhileReloading(t *testing.T) {
	for name, path := range map[string]string{"index": indexFile(t), "table": tableFile(t, 32)} {
		t.Run(name, func(t *testing.T) {
			d := &faulty{name: "slow"}
			e, err := New(t.Context(), faultyOptions(d))
			if err != nil {
				t.Fatal(err)
			}
			var x interface {
				Reload(ctx context.Context, path string) error
				Close() error
			}
			if filepath.Ext(path) == ".hdl" {
				x, err = e.OpenIndex(t.Context(), path, IndexOptions{})
			} else {
				x, err = e.OpenTable(t.Context(), path, TableOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			d.wait = make(chan struct{})
			ended := make(chan error, 1)
			closeDuring(t, e, d, func() error { return x.Reload(t.Context(), path) }, func() { ended <- x.Close() })
			if err := <-ended; err != nil && CodeOf(err) != Closed {
				t.Error(err)
			}
		})
	}
}

// closeDuring closes e while load waits for d, and calls beside at the same time. load may end
// with code Closed.
func closeDuring(t *testing.T, e *Engine, d *faulty, load func() error, beside ...func()) {
	t.Helper()
	loaded, ended := make(chan error, 1), make(chan error, 1)
	go func() { loaded <- load() }()
	for d.loading.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, f := range beside {
		go f()
	}
	go func() { ended <- e.Close() }()
	for {
		if _, err := e.CopyPeak(t.Context(), 0); CodeOf(err) == Closed {
			break
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-ended:
		t.Errorf("closed while it loads: %v", err)
		return
	case <-time.After(20 * time.Millisecond):
	}
	close(d.wait)
	if err := <-loaded; err != nil && CodeOf(err) != Closed {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	nothingOpen(t, d)
}

// TestCopyPeakErrors asks processors that the engine lacks, and a closed engine.
func TestCopyPeakErrors(t *testing.T) {
	e, err := New(t.Context(), Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{-1, 1, 9} {
		if _, err := e.CopyPeak(t.Context(), p); CodeOf(err) != InvalidOption {
			t.Errorf("processor %d: %v", p, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.CopyPeak(t.Context(), 0); CodeOf(err) != Closed {
		t.Errorf("on a closed engine: %v", err)
	}
}
