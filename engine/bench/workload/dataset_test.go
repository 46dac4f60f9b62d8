package workload

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestDataSets: GOV, GOVPR and GOVR have the lists of the workload in the order that stands
// for them, and terms lie in their class.
func TestDataSets(t *testing.T) {
	sets := DataSets()
	for i, order := range []Order{Clustered, PageRank, Uniform} {
		d, w := sets[i].Scaled(SmallDocs), workload(t, order)
		ranks := d.Terms(1000, 3000, 5)
		if len(ranks) != 5 || !slices.IsSorted(ranks) {
			t.Fatalf("%s: terms %v", d.Name, ranks)
		}
		lists, err := d.Draw(t.Context(), w.Seed, ranks)
		if err != nil {
			t.Fatal(err)
		}
		for k, docs := range lists {
			if n := len(docs); n < 700 || n > 3600 {
				t.Errorf("%s: list of %d docIDs", d.Name, n)
			}
			if ranks[k]%MaxThemes == 0 { // the workload of one theme has it
				found := slices.ContainsFunc(w.Source.Lists, func(l plan.List) bool { return slices.Equal(w.Source.Words[l.Off:][:l.Len], docs) })
				if !found {
					t.Errorf("%s: rank %d is not in the workload", d.Name, ranks[k])
				}
			}
		}
	}
	c, err := sets[0].Scaled(SmallDocs).Sample(t.Context(), 1, 100_000)
	if n := c.Postings(); err != nil || n < 50_000 || n > 200_000 {
		t.Errorf("%d postings, %v", n, err)
	}
}

// TestFit compares the contraction ratios of lists from 100 K to 600 K with Table 1 of Ao
// et al. 2011.
func TestFit(t *testing.T) {
	testneeds.Long(t)
	paper := map[string][3]float64{"GOVPR": {0.0751, 0.0618, 0.0565}, "GOV2": {0.2460, 0.1516, 0.1217}, "GOV2R": {0.0033, 0.0023, 0.0016}}
	bounds := [4]uint64{100_000, 200_000, 400_000, 600_000}
	for _, d := range DataSets() {
		want, ok := paper[d.Name]
		if !ok {
			continue
		}
		for i := range want {
			lists, err := d.Draw(t.Context(), 1, d.Terms(bounds[i], bounds[i+1], 12))
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, docs := range lists {
				line := codec.FitLine(docs)
				sum += float64(line.Left+line.Right) / float64(len(docs))
			}
			got := sum / float64(len(lists))
			t.Logf("%s, lists from %d K: contraction ratio %.4f, paper %.4f", d.Name, bounds[i]/1000, got, want[i])
			if !(got > want[i]*0.6 && got < want[i]*1.4) {
				t.Errorf("%s, lists from %d K: contraction ratio %.4f, paper %.4f", d.Name, bounds[i]/1000, got, want[i])
			}
		}
	}
}

// TestAsked: the shortest lists of Baidu's queries are as long as Table 7 of Ao et al. 2011
// implies.
func TestAsked(t *testing.T) {
	for _, d := range DataSets() {
		want := map[string]float64{"GOV": 8280, "BD": 3777}[d.Name]
		if want == 0 {
			continue
		}
		sum, n := 0.0, 0.0
		for theme := range d.Themes {
			for _, q := range themeQueries(1, theme, d.asked) {
				longest := int(slices.Max(q)) // the rarest term has the highest rank
				sum += newTerm(longest*MaxThemes+theme, d.Docs).share * float64(d.Docs)
				n++
			}
		}
		t.Logf("%s: %.0f docIDs in the shortest list, paper %.0f", d.Name, sum/n, want)
		if got := sum / n; got < want*0.95 || got > want*1.05 {
			t.Errorf("%s: %.0f docIDs in the shortest list, want %.0f", d.Name, got, want)
		}
	}
}
