package harness

import (
	"testing"

	"heddle/engine/bench/workload"
)

// smallWorkload generates a workload of one theme and SmallDocs documents.
func smallWorkload(t *testing.T, order workload.Order) *workload.Workload {
	t.Helper()
	w, err := workload.Generate(t.Context(), 1, 1, order, workload.SmallDocs)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
