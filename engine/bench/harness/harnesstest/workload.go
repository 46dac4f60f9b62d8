package harnesstest

import (
	"context"
	"sync"
	"testing"

	"heddle/engine/bench/workload"
)

// Workload returns a workload of one theme and SmallDocs documents. Tests share it.
func Workload(t testing.TB, order workload.Order) *workload.Workload {
	t.Helper()
	w, err := smallWorkloads[order]()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var smallWorkloads = func() (all [4]func() (*workload.Workload, error)) {
	for o := range all {
		all[o] = sync.OnceValues(func() (*workload.Workload, error) {
			return workload.Generate(context.Background(), 1, 1, workload.Order(o), workload.SmallDocs)
		})
	}
	return all
}()
