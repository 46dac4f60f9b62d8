package harness

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/hostfallback"
)

// TestCores checks that an index for one core does not take a second one for another batch.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	w := smallWorkload(t, workload.Uniform)
	dict, err := hdl.NewDictionary(w.Terms)
	if err != nil {
		t.Fatal(err)
	}
	queries := Queries(w, 1000)
	for _, c := range []struct{ cores, want int }{{0, 4}, {1, 1}, {3, 3}, {9, 4}} {
		b := hostfallback.New(hostfallback.Options{Threads: 1})
		x, err := NewIndexOn(context.Background(), b, c.cores, w.Source, dict)
		if err != nil {
			t.Fatal(err)
		}
		var wrong, answers atomic.Int64
		err = x.Match(context.Background(), queries, MatchOptions{}, func(_ int, hits []Hits) error {
			answers.Add(int64(len(hits)))
			if runtime.GOMAXPROCS(0) != c.want {
				wrong.Add(1)
			}
			return nil
		})
		if err != nil || answers.Load() != 1000 || wrong.Load() > 0 || runtime.GOMAXPROCS(0) != 4 {
			t.Errorf("%d cores: %v, %d answers, %d batches on another number of cores than %d, %d cores after it", c.cores, err, answers.Load(), wrong.Load(), c.want, runtime.GOMAXPROCS(0))
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
