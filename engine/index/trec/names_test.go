package trec

import (
	"slices"
	"strings"
	"testing"
)

// TestNames checks names of trec_eval and ir-measures, and the labels of their values.
func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"P.5,10": "P_5 P_10", "map": "map", "map_cut.7": "map_cut_7", "Rprec_mult.0.5": "Rprec_mult_0.50", "rbp": "rbp", "rbp.p=0.8": "rbp_p=0.8",
		"nDCG@10": "nDCG@10", "ndcg@3": "ndcg@3", "AP": "AP", "AP@100": "AP@100", "MAP": "MAP", "RR@10": "RR@10", "MRR": "MRR", "P@5": "P@5", "R@50": "R@50",
		"Success@1": "Success@1", "IPrec@0.1": "IPrec@0.1", "RBP(p=0.8)": "RBP(p=0.8)", "RBP": "RBP", "SetF": "SetF", "NumRelRet": "NumRelRet",
	} {
		columns, err := parseMeasures([]string{text}, []int{1})
		var labels []string
		for _, c := range columns {
			labels = append(labels, c.label)
		}
		if err != nil || strings.Join(labels, " ") != want {
			t.Errorf("%s: %q, %v", text, labels, err)
		}
	}
	for text, want := range map[string]string{
		"utility": "give the files to trec_eval: trec_eval -m utility", "prefs_simp": "trec_eval -m prefs_simp", "ERR@20": "unknown measure",
		"nDCG@0": "a rank from 1", "P": "", "nDCG(p=0.8)@5": "unknown measure", "AP(p=0.8)": "unknown measure", "map.5": "takes no parameters", "all.5": "takes no parameters", "rbp.2": "a persistence from 0 to 1",
	} {
		_, err := parseMeasures([]string{text}, []int{1})
		if want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	all, err := parseMeasures([]string{"all_trec"}, []int{1})
	if err != nil || slices.ContainsFunc(all, func(c column) bool { return c.extra }) {
		t.Errorf("all_trec: %v, %v", all, err)
	}
}

// TestReciprocalCut: a relevant document behind the cutoff does not count.
func TestReciprocalCut(t *testing.T) {
	run := Run{Queries: map[string][]Retrieved{"q": {{"a", 3}, {"b", 2}, {"c", 1}}}}
	r, err := Evaluate(run, Qrels{"q": {"b": 1}}, Options{Measures: []string{"RR@1", "RR@2", "RR@9"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 0.5, 0.5} {
		if v := r.Values(&r.All)[i]; v.Value != want {
			t.Errorf("%+v, want %v", v, want)
		}
	}
}
