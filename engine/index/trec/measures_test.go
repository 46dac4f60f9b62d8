package trec

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// goldenRun has, for query a, ranks that contradict the scores, two documents of
// the same score, one that was not judged and one that was judged out of the pool.
const goldenRun = `
# a comment
a Q0 d2 1 1.5 tag
a Q0 d9 2 2.0 tag
a Q0 d1 3 2.0 tag extra fields
a	Q0	d3	4	0.25	tag
a Q0 d4 5 -1 tag
b Q0 d7 1 3 tag
none Q0 d1 1 1 tag
`

const goldenQrels = `a 0 d1 1
a 0 d2 2
a 0 d3 0
a 0 d4 -1
a 0 d5 1

b 0 d6 1
c 0 d1 1
`

// TestGolden holds measures against values worked out by hand.
//
// Query a ranks d9, d1 (equal scores: names descend), d2, d3, d4 with gains
// 0 1 2 0 0; d1, d2, d5 are relevant.
func TestGolden(t *testing.T) {
	run, err := ReadRun("run", strings.NewReader(goldenRun))
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := ReadQrels("qrels", strings.NewReader(goldenQrels))
	if err != nil {
		t.Fatal(err)
	}
	log3 := math.Log2(3)
	dcg := 1/log3 + 2/2.0           // ranks 2 and 3
	ideal := 2/1.0 + 1/log3 + 1/2.0 // d2, then d1 and d5
	want := map[string]float64{
		"num_ret": 5, "num_rel": 3, "num_rel_ret": 2,
		"map": (1/2.0 + 2/3.0) / 3, "recip_rank": 1 / 2.0,
		"P_1": 0, "P_2": 1 / 2.0, "P_10": 2 / 10.0, "recall_1": 0, "recall_2": 1 / 3.0, "recall_10": 2 / 3.0,
		"ndcg_cut_1": 0, "ndcg_cut_2": (1 / log3) / (2 + 1/log3), "ndcg_cut_10": dcg / ideal,
	}
	r, err := Evaluate(run, qrels, Options{Cutoffs: []int{1, 2, 10}})
	if err != nil {
		t.Fatal(err)
	}
	compare := func(m *Measures, want map[string]float64) {
		t.Helper()
		got := map[string]float64{}
		for _, v := range r.Values(m) {
			got[v.Name] = v.Value
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d measures, want %d", m.Query, len(got), len(want))
		}
		for name, w := range want {
			if g, ok := got[name]; !ok || math.Abs(g-w) > 1e-15 {
				t.Errorf("%s: %s = %v, want %v", m.Query, name, g, w)
			}
		}
	}
	compare(&r.Queries[0], want)
	// b found nothing relevant, so means are half of a's.
	all := map[string]float64{"num_q": 2, "num_ret": 6, "num_rel": 4, "num_rel_ret": 2}
	for name, v := range want {
		if !strings.HasPrefix(name, "num") {
			all[name] = v / 2
		}
	}
	compare(&r.All, all)
	if len(r.Queries) != 2 || !slices.Equal(r.Missing, []string{"c"}) || !slices.Equal(r.Unjudged, []string{"none"}) {
		t.Errorf("%d queries, missing %q, unjudged %q", len(r.Queries), r.Missing, r.Unjudged)
	}

	// All queries of the qrels: c makes a third.
	if r, err = Evaluate(run, qrels, Options{Cutoffs: []int{1, 2, 10}, Complete: true}); err != nil {
		t.Fatal(err)
	}
	all["num_q"], all["num_rel"] = 3, 5
	for name, v := range want {
		if !strings.HasPrefix(name, "num") {
			all[name] = v / 3
		}
	}
	compare(&r.All, all)

	// From relevance 2 on only d2 of a is relevant, at rank 3; nDCG stays.
	if r, err = Evaluate(run, qrels, Options{Cutoffs: []int{1, 2, 10}, Level: 2}); err != nil {
		t.Fatal(err)
	}
	maps.Copy(want, map[string]float64{"num_rel": 1, "num_rel_ret": 1, "map": 1 / 3.0, "recip_rank": 1 / 3.0,
		"P_2": 0, "P_10": 1 / 10.0, "recall_2": 0, "recall_10": 1})
	compare(&r.Queries[0], want)
}

func TestEvaluateErrors(t *testing.T) {
	run, qrels := Run{Queries: map[string][]Retrieved{"a": {{"d", 1}}}}, Qrels{"a": {"d": 1}}
	for _, cutoffs := range [][]int{{0}, {-1}, {5, 5}, {5, 1}} {
		if r, err := Evaluate(run, qrels, Options{Cutoffs: cutoffs}); err == nil {
			t.Errorf("cutoffs %v: %+v", cutoffs, r)
		}
	}
	for _, measure := range []string{"P.0", "P.2.5", "P.2147483648", "P.x", "P.NaN"} {
		if r, err := Evaluate(run, qrels, Options{Measures: []string{measure}}); err == nil {
			t.Errorf("%s: %+v", measure, r)
		}
	}
	if r, err := Evaluate(Run{Queries: map[string][]Retrieved{"b": {{"d", 1}}}}, qrels, Options{}); err == nil {
		t.Errorf("no query in both: %+v", r)
	}
	r, err := Evaluate(run, qrels, Options{})
	if err != nil || len(r.Values(&r.All)) != 6+3*9 {
		t.Errorf("%+v, %v", r, err)
	}
}

// drawCase makes a run of one query over names d0 to d29, and judgements.
func drawCase(t *rapid.T) (run []Retrieved, judged map[string]int) {
	names := rapid.SliceOfDistinct(rapid.IntRange(0, 29), rapid.ID[int])
	for _, d := range names.Draw(t, "found") {
		run = append(run, Retrieved{fmt.Sprintf("d%d", d), float64(rapid.IntRange(0, 5).Draw(t, "score"))})
	}
	judged = map[string]int{}
	for _, d := range names.Draw(t, "judged") {
		judged[fmt.Sprintf("d%d", d)] = rapid.IntRange(-1, 3).Draw(t, "relevance")
	}
	return run, judged
}

// format writes a run as a file, in an order of its own.
func format(run []Retrieved, r *rand.Rand) string {
	var b []byte
	for i, at := range r.Perm(len(run)) {
		b = AppendLine(b, "q", run[at].Doc, i+1, run[at].Score, "tag")
	}
	return string(b)
}

// value is a measure over all queries.
func value(r *Report, name string) float64 {
	for _, v := range r.Values(&r.All) {
		if v.Name == name {
			return v.Value
		}
	}
	return math.NaN()
}

func evaluate(t *rapid.T, file string, judged map[string]int) *Report {
	run, err := ReadRun("run", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Evaluate(run, Qrels{"q": judged}, Options{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProperties: measures lie in 0 to 1, precision and recall count the same
// documents, the order of lines and a monotone change of scores do not matter, and
// the ideal order is perfect.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run, judged := drawCase(t)
		r := evaluate(t, format(run, rand.New(rand.NewPCG(1, 1))), judged)
		for _, v := range r.Values(&r.All) {
			if !v.Count && (!(v.Value >= 0) || v.Value > 1+1e-12) {
				t.Fatalf("%s = %v", v.Name, v.Value)
			}
		}
		v := map[string]float64{}
		for _, x := range r.Values(&r.All) {
			v[x.Name] = x.Value
		}
		last := 0.0
		for _, k := range DefaultCutoffs() {
			p, recall := v[fmt.Sprintf("P_%d", k)], v[fmt.Sprintf("recall_%d", k)]
			if math.Abs(p*float64(k)-recall*v["num_rel"]) > 1e-9 {
				t.Fatalf("at %d: precision %v, recall %v of %v", k, p, recall, v["num_rel"])
			}
			if recall < last {
				t.Fatalf("recall falls at %d", k)
			}
			last = recall
		}
		if hit := v["num_rel_ret"] > 0; v["map"] > 0 != hit || v["recip_rank"] > 0 != hit || v["recip_rank"] < v["map"]/max(v["num_rel"], 1) {
			t.Fatalf("%+v", v)
		}

		changed := slices.Clone(run)
		for i := range changed {
			changed[i].Score = math.Exp(changed[i].Score) - 20
		}
		if got := evaluate(t, format(changed, rand.New(rand.NewPCG(2, 2))), judged); fmt.Sprint(got) != fmt.Sprint(r) {
			t.Fatalf("order of lines or scale of scores: %+v, want %+v", got, r)
		}

		var ideal []Retrieved
		for d, relevance := range judged {
			ideal = append(ideal, Retrieved{d, float64(relevance)})
		}
		m := evaluate(t, format(ideal, rand.New(rand.NewPCG(3, 3))), judged)
		for _, name := range []string{"map", "recip_rank", "ndcg_cut_5", "ndcg_cut_1000"} {
			if value(m, "num_rel") > 0 && math.Abs(value(m, name)-1) > 1e-12 {
				t.Fatalf("ideal order: %s = %v", name, value(m, name))
			}
		}
	})
}

// TestBinaryPreference: rejected documents count up to the number of relevant ones. The values are
// Buckley and Voorhees' formula, worked out by hand.
func TestBinaryPreference(t *testing.T) {
	for order, want := range map[string]float64{ // + is relevant, - is rejected, the rest of the qrels is not retrieved
		"+":    1 / 2.0,
		"-+":   (1 - 1/2.0) / 2,
		"---+": 0,
		"+---": 1 / 2.0,
		"-+-+": (1 - 1/2.0 + 1 - 2/2.0) / 2,
	} {
		var run []Retrieved
		judged := map[string]int{"+8": 1, "+9": 1, "-7": 0, "-8": 0, "-9": 0}
		next := map[rune]int{'+': 8, '-': 7}
		for i, kind := range order {
			run = append(run, Retrieved{fmt.Sprintf("%c%d", kind, next[kind]), float64(-i)})
			next[kind]++
		}
		r, err := Evaluate(Run{Queries: map[string][]Retrieved{"q": run}}, Qrels{"q": judged}, Options{Measures: []string{"bpref"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(r, "bpref"); math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", order, got, want)
		}
	}
}
