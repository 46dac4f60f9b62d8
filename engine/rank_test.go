package engine

import (
	"testing"
)

// TestRankWeights: a weight in the text, beside the terms and by repetition is the
// same.
func TestRankWeights(t *testing.T) {
	x := openFile(t, backendOptions(t))
	opt := RankOptions{K: 10}
	want, err := x.Rank(t.Context(), Query{Terms: []string{"t000", "t120", "t120"}}, opt)
	if err != nil || len(want.Docs) != 10 {
		t.Fatal(want, err)
	}
	for _, q := range []Query{
		{Text: "t120^2 t000"},
		{Text: "T120 T000 t120"},
		{Terms: []string{"t120", "t000"}, Weights: []float64{2, 1}},
	} {
		for _, mode := range []Mode{Or, AndOr} {
			opt.Mode = mode
			got, err := x.Rank(t.Context(), q, opt)
			if err != nil {
				t.Fatal(err)
			}
			sameRanking(t, got, want)
		}
	}
}

func sameRanking(t testing.TB, got, want Ranking) {
	t.Helper()
	if len(got.Docs) != len(want.Docs) {
		t.Fatalf("%d documents, want %d", len(got.Docs), len(want.Docs))
	}
	for i, d := range want.Docs {
		if got.Docs[i] != d || got.Scores[i] != want.Scores[i] {
			t.Fatalf("place %d: document %d of score %v, want %d of %v", i, got.Docs[i], got.Scores[i], d, want.Scores[i])
		}
	}
}
