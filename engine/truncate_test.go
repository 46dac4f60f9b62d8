package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/file/container"
)

// truncating names a folder of files; the test binary then truncates some of them under load.
const truncating = "HEDDLE_ENGINE_TRUNCATING"

// victim is a file under load: ask uses it once.
type victim struct {
	path string
	ask  func(i int) error
	seen atomic.Int64 // errors with code Corrupt
}

// truncated truncates two files while an index and a table answer from each. Answers are right
// or errors with code Corrupt; files beside them are not concerned.
func truncated(folder string) error {
	ctx := context.Background()
	opt := Options{Backend: "host", Threads: 2, HostMemory: 1}
	if !onHost() {
		opt = Options{Backend: "opencl", Placement: "cache"}
	}
	e, err := New(ctx, opt)
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	var indexes [2]*Index
	var tables [2]*Table
	for i, name := range []string{"lost", "kept"} {
		if indexes[i], err = e.OpenIndex(ctx, at(name+".hdl"), IndexOptions{}); err != nil {
			return err
		}
		if tables[i], err = e.OpenTable(ctx, at(name+".hdb"), TableOptions{}); err != nil {
			return err
		}
	}
	c := testCorpus()
	qs, want := c.queries(100), wanted()
	for i := range qs {
		qs[i].Match = And
	}
	search := func(x *Index) func(i int) error {
		return func(i int) error {
			q := qs[i%len(qs)]
			h, err := x.Search(ctx, q)
			if err != nil {
				return err
			}
			return c.check(q, h.Count, h.Docs, false)
		}
	}
	batches := func(x *Index) func(i int) error {
		return func(int) error {
			return x.SearchAll(ctx, qs, func(first int, hits []Hits) error {
				for i, h := range hits {
					if err := c.check(qs[first+i], h.Count, h.Docs, false); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	rank := func(x *Index) func(i int) error {
		return func(i int) error {
			q := qs[i%len(qs)]
			q.Match, q.K = Or, 10
			_, err := x.Search(ctx, q)
			return err
		}
	}
	names := func(x *Index) func(i int) error {
		return func(i int) error {
			s, err := x.Snapshot()
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.File().DocName(uint32(i) % s.File().Docs())
			return err
		}
	}
	rows := func(x *Table) func(i int) error {
		return func(i int) error {
			i %= len(wheres)
			r, err := x.Select(ctx, Selection{Where: wheres[i]})
			if err == nil && r.Count != uint64(want.Counts[i]) {
				err = fmt.Errorf("%s: %d rows, want %d", wheres[i], r.Count, want.Counts[i])
			}
			return err
		}
	}
	lost := []*victim{
		{path: at("lost.hdl"), ask: search(indexes[0])}, {path: at("lost.hdl"), ask: batches(indexes[0])},
		{path: at("lost.hdl"), ask: rank(indexes[0])}, {path: at("lost.hdl"), ask: names(indexes[0])},
		{path: at("lost.hdb"), ask: rows(tables[0])},
	}
	kept := []*victim{{ask: search(indexes[1])}, {ask: batches(indexes[1])}, {ask: rank(indexes[1])}, {ask: names(indexes[1])}, {ask: rows(tables[1])}}
	for _, v := range slices.Concat(lost, kept) {
		for i := range 3 { // kernels are built: PoCL cannot build while memory faults
			if err := v.ask(i); err != nil {
				return err
			}
		}
	}
	var asked atomic.Int64
	stop := make(chan struct{})
	errs := make(chan error, len(lost)+len(kept))
	var wg sync.WaitGroup
	for _, v := range slices.Concat(lost, kept) {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				err := v.ask(i)
				asked.Add(1)
				var c *container.CorruptError
				switch {
				case err == nil:
				case v.path != "" && CodeOf(err) == Corrupt && errors.As(err, &c) && c.Path == v.path && c.Offset >= 0 && strings.Contains(err.Error(), "truncated"):
					v.seen.Add(1)
				default:
					errs <- err
					return
				}
			}
		})
	}
	until := func(n int64) {
		for asked.Load() < n && len(errs) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	until(200)
	for _, name := range []string{"lost.hdl", "lost.hdb"} {
		if err := os.Truncate(at(name), container.PageSize); err != nil {
			return err
		}
	}
	if !onHost() { // lists and rows that are on the device are not lost
		lost = lost[3:4]
	}
	for _, v := range lost {
		for v.seen.Load() == 0 && len(errs) == 0 {
			until(asked.Load() + 10)
		}
	}
	until(asked.Load() + 200)
	close(stop)
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	if err := indexes[0].Reload(ctx, at("lost.hdl")); CodeOf(err) != Corrupt {
		return fmt.Errorf("reload of a truncated file: %v", err)
	}
	if err := errors.Join(indexes[0].Reload(ctx, at("kept.hdl")), tables[0].Reload(ctx, at("kept.hdb"))); err != nil {
		return err
	}
	for i, v := range lost {
		if err := v.ask(i); err != nil {
			return fmt.Errorf("after the reload: %w", err)
		}
	}
	for _, p := range e.Stats().Processors {
		if p.Removed != nil {
			return fmt.Errorf("%s was removed: %w", p.Name, p.Removed)
		}
	}
	return e.Close()
}

// TestTruncated truncates files in a child process, which a fault would end.
func TestTruncated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows truncates no file that is mapped")
	}
	t.Logf("on the host: %t", onHost())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, from := range map[string]string{"lost.hdl": indexFile(t), "kept.hdl": indexFile(t), "lost.hdb": tableFile(t, 32), "kept.hdb": tableFile(t, 32)} {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), truncating+"="+folder)
	if out, err := c.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "still alive\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
