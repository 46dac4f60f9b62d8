package trec

import (
	"math"
	"testing"
)

func single(found ...Retrieved) Run {
	return Run{ID: "r", Queries: map[string][]Retrieved{"q": found}}
}

func TestFuse(t *testing.T) {
	a := single(Retrieved{"x", 9}, Retrieved{"y", 5}, Retrieved{"z", 1})
	b := single(Retrieved{"y", 0.4}, Retrieved{"w", 0.2})
	b.Queries["other"] = []Retrieved{{"v", 7}}
	for _, test := range []struct {
		how  Fusion
		k    int
		want []Retrieved
	}{
		{ReciprocalRank, 10, []Retrieved{{"y", 1.0/61 + 1.0/62}, {"x", 1.0 / 61}, {"w", 1.0 / 62}, {"z", 1.0 / 63}}},
		{ReciprocalRank, 1, []Retrieved{{"y", 1.0/61 + 1.0/62}}},
		{CombSUM, 10, []Retrieved{{"y", 1.5}, {"x", 1}, {"z", 0}, {"w", 0}}}, // ties by descending name
	} {
		fused, err := Fuse([]Run{a, b}, test.how, test.k)
		if err != nil || fused.ID != string(test.how) || len(fused.Queries["q"]) != len(test.want) || len(fused.Queries["other"]) != 1 {
			t.Fatalf("%+v: %+v, %v", test, fused, err)
		}
		for i, d := range fused.Queries["q"] {
			if w := test.want[i]; d.Doc != w.Doc || math.Abs(d.Score-w.Score) > 1e-15 {
				t.Errorf("%s, document %d: %v, want %v", test.how, i, d, w)
			}
		}
	}
	if fused, _ := Fuse([]Run{b}, CombSUM, 1); fused.Queries["other"][0].Score != 1 {
		t.Errorf("equal scores: %v", fused)
	}
	if _, err := Fuse([]Run{a, b}, "max", 1); err == nil {
		t.Error("an unknown fusion passes")
	}
}

// TestCompare: only queries in all runs count for differences, and p-values are corrected.
func TestCompare(t *testing.T) {
	qrels := Qrels{"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}, "4": {"a": 1}}
	best, worst := []Retrieved{{"a", 2}, {"b", 1}}, []Retrieved{{"b", 2}, {"a", 1}}
	base := Run{Queries: map[string][]Retrieved{"1": worst, "2": worst, "3": best, "4": best}}
	better := Run{Queries: map[string][]Retrieved{"1": best, "2": best, "3": best}}
	list, queries, err := Compare([]Run{base, better, better}, qrels, Options{Measures: []string{"map", "num_rel"}})
	if err != nil || queries != 3 || len(list) != 2 {
		t.Fatalf("%+v, %d queries, %v", list, queries, err)
	}
	m := list[1]
	if m.Measure != "map" || m.Runs[0].Value != (0.5+0.5+1)/3 || m.Runs[1].Value != 1 || math.Abs(m.Runs[1].Difference-1.0/3) > 1e-15 {
		t.Errorf("%+v", m)
	}
	// Differences 1/2, 1/2, 0: t = 2 with 2 degrees of freedom, p = 1 - 2/sqrt(6); four of eight
	// assignments are as far from 0. Two comparisons double both.
	if p := 2 * (1 - 2/math.Sqrt(6)); math.Abs(m.Runs[1].T-p) > 1e-9 || m.Runs[2].Randomisation != 1 {
		t.Errorf("p = %v and %v, want %v and 1", m.Runs[1].T, m.Runs[2].Randomisation, p)
	}
	if !math.IsNaN(list[0].Runs[1].T) || list[0].Runs[1].Value != 3 {
		t.Errorf("a count has a p-value: %+v", list[0])
	}
	if _, _, err := Compare([]Run{base, {}}, qrels, Options{}); err == nil {
		t.Error("runs without a common query pass")
	}
	if list, queries, err = Compare([]Run{base, {}}, qrels, Options{Measures: []string{"map"}, Complete: true}); err != nil || queries != 4 || list[0].Runs[1].Value != 0 {
		t.Errorf("complete: %+v, %d, %v", list, queries, err)
	}
}
