package plan

import (
	"strings"
	"testing"
)

func TestParseAccumulators(t *testing.T) {
	for name, want := range map[string]Accumulators{"auto": AutoAccumulators, "ranges": RangeAccumulators, "global": GlobalAccumulators, "blocks": BlockAccumulators} {
		if got, err := ParseAccumulators(name); err != nil || got != want || got.Validate() != nil {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if _, err := ParseAccumulators("local"); err == nil || !strings.Contains(err.Error(), `unknown accumulators "local" (one of auto, ranges, global, blocks)`) {
		t.Error(err)
	}
}
