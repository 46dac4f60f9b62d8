package cost

import (
	"strings"
	"testing"
)

// TestNames reads every kind and metric back from its name.
func TestNames(t *testing.T) {
	for _, k := range Kinds() {
		if got, err := ParseKind(strings.ToUpper(k.String())); err != nil || got != k {
			t.Errorf("%q is read as %v: %v", k, got, err)
		}
		if k.Ranked() != strings.HasPrefix(k.String(), "rank") {
			t.Errorf("%v: ranked is %v", k, k.Ranked())
		}
	}
	for _, m := range append(Metrics(), Best) {
		if got, err := ParseMetric(strings.ToUpper(m.String())); err != nil || got != m {
			t.Errorf("%q is read as %v: %v", m, got, err)
		}
	}
	if _, err := ParseKind("xor"); err == nil || !strings.Contains(err.Error(), `unknown kind of query "xor" (one of and, count, boolean,`) {
		t.Error(err)
	}
	if _, err := ParseMetric("time"); err == nil || !strings.Contains(err.Error(), `unknown metric "time" (one of best, los,`) {
		t.Error(err)
	}
	if got := Kind(99).String() + Metric(99).String(); got != "kind(99)metric(99)" {
		t.Error(got)
	}
}

// TestEarlierName reads a model under the name that Boolean had in earlier files.
func TestEarlierName(t *testing.T) {
	if err := NewBook(0, Best).readModel(&modelFile{Kind: "formula"}); err == nil || !strings.Contains(err.Error(), "nothing is fitted") {
		t.Errorf("%v, want an error about the fits", err)
	}
}
