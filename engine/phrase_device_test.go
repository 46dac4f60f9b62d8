package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// onDevice opens an engine on the device of the tests, which makes lists of phrases of few documents, too.
func onDevice(t *testing.T) *Engine {
	t.Helper()
	testneeds.Sequential(t)
	device := testneeds.Device(t)
	rule := query.DeviceDocuments
	query.DeviceDocuments = func(plan.PhraseStore) uint64 { return 0 }
	t.Cleanup(func() { query.DeviceDocuments = rule })
	e, err := New(t.Context(), Options{Backend: "opencl", Device: device})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestPhraseOracleOnDevice is TestPhraseOracle on a device.
func TestPhraseOracleOnDevice(t *testing.T) { phraseOracle(t, onDevice(t)) }

// TestPhraseDevice compares phrases of a device with pure Go's in batches: with frequent and rare words, longer lists than a segment, and
// documents longer than a block of positions.
func TestPhraseDevice(t *testing.T) {
	e, host := onDevice(t), onThread(t)
	random := rand.New(rand.NewPCG(42, 0))
	zipf := rand.NewZipf(random, 1.1, 2, 3000)
	var lines strings.Builder
	for d := range 6000 {
		fmt.Fprintf(&lines, "%d\t", d)
		n := 5 + random.IntN(30)
		if d%500 == 7 {
			n = 3000
		}
		for range n {
			fmt.Fprintf(&lines, "w%d ", zipf.Uint64())
		}
		lines.WriteByte('\n')
	}
	fmt.Fprintf(&lines, "6000\t%sw6\n", strings.Repeat("w5 ", 17000)) // too long for the device
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.Positions, opt.Stdin = build.Text, true, strings.NewReader(lines.String())
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	plain, err := host.OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, fmt.Sprint("w", zipf.Uint64()))
		}
		return strings.Join(all, " ")
	}
	var queries []Query
	for i := range 300 {
		text := `"` + words(2+i%3) + `"`
		switch i % 10 {
		case 1, 3:
			text += fmt.Sprintf("~%d", 1+i%4)
		case 4, 5:
			text = fmt.Sprintf("NEAR/%d(%s)", 2+i%7, words(2+i%3))
		case 6:
			text = fmt.Sprintf("ORDERED/%d(%s)", 1+i%6, words(2+i%3))
		case 7:
			text = text + " OR (" + words(1) + " AND " + `"` + words(2) + `")`
		case 8:
			text = words(2) + " " + text
		case 9:
			first, second := 30+random.IntN(100), 30+random.IntN(100) // of 11 terms, or of 1
			text = fmt.Sprintf([]string{`"w%d* w%d"`, `"w%d* w%d*"`, `"w%d w%d*"~3`, `NEAR/4(w%d* w%d)`, `ORDERED/4(w%d w%d*)`}[i/10%5], first, second/10)
		}
		queries = append(queries, Query{Text: text, K: i % 4 * 7, CountOnly: i%8 == 0})
	}
	answers := func(x *Index) []Hits {
		all := make([]Hits, len(queries))
		if err := x.SearchAll(t.Context(), queries, func(first int, hits []Hits) error {
			for i, h := range hits { // their memory is used again
				h.Docs, h.Scores = slices.Clone(h.Docs), slices.Clone(h.Scores)
				all[first+i] = h
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	got, want := answers(x), answers(plain)
	found := 0
	for i := range queries {
		if found += int(want[i].Count); !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s, %d: %d documents, want %d", queries[i].Text, queries[i].K, got[i].Count, want[i].Count)
		}
	}
	if found < 10000 {
		t.Errorf("%d documents in all", found)
	}
	for text, says := range map[string]string{`"w1 w2"`: "on the device", `"w5 w6"`: "the rest in pure Go: documents with too many positions", `"w1 w2"~2`: "on the device", `NEAR/3(w1 w2)`: "on the device",
		`ORDERED/3(w1 w2)`: "on the device", `"w1 w100*"~2`: "on the device", `ORDERED/3(w1 w10*)`: "more than 64 terms", `NEAR/3(w1 w2) OR "w1 w10*"`: "the rest in pure Go: a phrase of words with more than 64"} {
		var why, other observe.Explanation
		if _, err := x.Search(t.Context(), Query{Text: text, Explain: &why}); err != nil || !strings.Contains(why.String(), says) {
			t.Errorf("%s: %v, %v; want %q", text, err, why.String(), says)
		}
		if _, err := plain.Search(t.Context(), Query{Text: text, Explain: &other}); err != nil || why.Stats.PhraseCandidates != other.Stats.PhraseCandidates {
			t.Errorf("%s: %v; %d documents with all words, want %d", text, err, why.Stats.PhraseCandidates, other.Stats.PhraseCandidates)
		}
	}
}
