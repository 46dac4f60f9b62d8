package query

import (
	"testing"

	"heddle/engine/index/querylang"
)

// TestResetThreads: a batch that returns to the pool leaves no limit of threads to the next query.
func TestResetThreads(t *testing.T) {
	for _, match := range []querylang.Match{querylang.AllTerms, querylang.AnyTerm, querylang.AllElseAny} {
		b := Batch{Threads: 1}
		b.Reset(&Kind{Match: match})
		if b.Threads != 0 {
			t.Errorf("match %v: %d threads after Reset, want no limit", match, b.Threads)
		}
	}
}
