package facet

import (
	"errors"
	"testing"

	"heddle/engine/internal/limit"
	"heddle/engine/syntax"
	"heddle/engine/table/partial"
)

// TestJoinNothing: without parts there is nothing to join, and a column must be one column.
func TestJoinNothing(t *testing.T) {
	if _, err := Join[value]("year", 1, limit.Limits{}, nil); !errors.Is(err, partial.ErrState) {
		t.Errorf("no parts: %v", err)
	}
	if _, err := Join[value]("bins(a, 1), bins(b)", 1, limit.Limits{}, nil); !wrong(err) {
		t.Errorf("two columns: %v", err)
	}
}

func wrong(err error) bool { _, ok := errors.AsType[*syntax.Error](err); return ok }

// TestMost: a count has no values, and the default is 10.
func TestMost(t *testing.T) {
	if Most(7, true) != 0 || Most(0, false) != 10 || Most(-1, false) != -1 || Most(7, false) != 7 {
		t.Error(Most(7, true), Most(0, false), Most(-1, false), Most(7, false))
	}
}
