package harness

import (
	"testing"

	"heddle/engine/bench/measure"
)

// TestSentence: the functions of sentences, and what stands in place of a sentence that its
// rows do not carry.
func TestSentence(t *testing.T) {
	var r record
	r.panels = make(map[string][]Reading)
	for _, panel := range []string{"rates, card", "rates, cores"} {
		r.names = append(r.names, panel)
		for i, series := range []string{"bs", "hs16"} {
			for j, at := range []string{"1 M", "[2 M]"} {
				x := Reading{Panel: panel, Series: series, At: at, X: float64(1 + j), Paper: float64(i), Row: measure.Single(float64(10*(1+i) + j)).Into(measure.Row{})}
				if x.Backend = "opencl"; panel == "rates, cores" {
					x.Backend = "host"
				}
				r.panels[panel] = append(r.panels[panel], x)
			}
		}
	}
	noisy := &r.panels["rates, cores"][3]
	noisy.Runs, noisy.Min, noisy.Max = 5, 1, 100
	for _, test := range []struct{ found, want string }{
		{`{{one "@host" "bs" "1 M"}} at 1 M`, "10.0 at 1 M"},
		{`{{to (over (rows "@opencl" "hs16" "") (rows "@opencl rates*" "bs" ""))}} times`, "1.91 to 2.00 times"},
		{`{{to (over (rows "" "hs16" "1 M") (rows "" "bs" "1 M"))}}`, "2.00"},
		{`{{to (ours (rows "@opencl" "" ""))}}, {{to (paper (rows "" "" ""))}}`, "20.0 to 21.0, 1.00"},
		{`{{to (x (rows "" "" "[2*"))}} and {{most (off (rows "" "bs" "1 M|[2 M]"))}}`, "2.00 and 9.00"},
		{`{{choices (highest "series" (rows "@opencl" "" ""))}}; {{choices (lowest "places" (rows "@opencl" "" ""))}}`, "[2 M] for bs and hs16; bs for 1 M and [2 M]"},
		{`{{len (above 10 (rows "" "bs" ""))}} of 2 from {{first (above 10 (rows "" "bs" ""))}}, {{sum (rows "@host" "bs" "")}}`, "2 of 2 from [2 M], 21.0"},
		{`{{ratio (most (rows "@opencl" "" "")) 7000}} times 7,000`, "0.0030 times 7,000"},
		{`from {{first (above 1 (ours (rows "" "hs16" "1 M")))}}, {{first (above 1 (over (rows "" "bs" "1 M") (rows "" "hs16" "1 M")))}}`, "from 1 M, none"},
		{`3 times`, "not stated: no row has the number 3."},
		{`{{ratio (most (rows "" "" "")) 30000}} times`, "not stated: no row has the number 30000."},
		{`HS16 and 2 M`, "HS16 and 2 M"},
		{`{{one "" "bs" ""}}`, "not stated: 4 rows of bs."},
		{`{{one "" "lr" ""}}`, "not stated: no row of lr."},
		{`{{one "@host" "hs16" "[2 M]"}}`, "not stated: no published figure of @host, hs16, [2 M]."},
		{`{{to (ours (rows "" "bs" ""))}}`, "not stated: no figures of the paper."},
		{`{{to (over (rows "@host" "bs" "1 M") (rows "" "hs16" "[2 M]"))}}`, "0.476"},
	} {
		e := Exhibit{Says: "The paper has 7,000 and 10.", Found: test.found}
		if got, err := e.sentence(&r); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", test.found, got, err, test.want)
		}
	}
	if _, err := (&Exhibit{Found: "{{nothing}}"}).sentence(&r); err == nil {
		t.Error("a sentence with an unknown function")
	}
}
