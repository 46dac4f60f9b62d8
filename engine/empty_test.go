package engine

import (
	"fmt"
	"testing"

	"heddle/codec"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
)

// TestEmptyAnswers has queries with and without documents in every mode, alone, from the result
// cache and in a batch: Docs is nil exactly for counts, Scores exactly without ranking.
func TestEmptyAnswers(t *testing.T) {
	testneeds.OneCaller(t)
	opt := backendOptions(t)
	opt.Results = 1 << 20
	x := openFile(t, opt)
	for _, text := range []string{"", "?!", "nosuch", "+nosuch t000", "t000 -t000", "t000 AND nosuch", "t000"} {
		for _, match := range Matches() {
			for _, k := range []int{0, 3} {
				for _, count := range []bool{false, true} {
					if k > 0 && count || k == 0 && match == AndOr {
						continue
					}
					q := Query{Text: text, Match: match, K: k, CountOnly: count}
					check := func(how string, h Hits) {
						if h.Docs == nil != count || h.Scores == nil != (k == 0) || !count && h.Count != uint64(len(h.Docs)) || k > 0 && len(h.Scores) != len(h.Docs) {
							t.Errorf("%q, %s, k %d, count %t, %s: %#v", text, match, k, count, how, h)
						}
					}
					for i := range 2 {
						h, err := x.Search(t.Context(), q)
						if err != nil {
							t.Fatal(err)
						}
						check(fmt.Sprint("call ", i), h)
					}
					err := x.SearchAll(t.Context(), []Query{q, {Text: "t001"}, q}, func(first int, hits []Hits) error {
						for i, h := range hits {
							if first+i != 1 {
								check("in a batch", h)
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// TestEmptyTable has rows as bits and as counts of a table without rows.
func TestEmptyTable(t *testing.T) {
	e, err := New(t.Context(), backendOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	table, err := e.NewTable(t.Context(), &plan.Table{}, []column.Column{}, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []plan.Output{plan.OutputCounts, plan.OutputBits} {
		s := Selection{Where: "TRUE", Output: output}
		alone, err := table.Select(t.Context(), s)
		if err == nil {
			err = table.SelectAll(t.Context(), []Selection{s}, func(_ int, rows []Rows) error {
				if (rows[0].Bits == nil) != (alone.Bits == nil) {
					t.Errorf("%#v in a batch, %#v alone", rows[0], alone)
				}
				return nil
			})
		}
		if err != nil || (alone.Bits == nil) != (output == plan.OutputCounts) {
			t.Errorf("output %v: %#v, %v", output, alone, err)
		}
	}
}

// TestInvalidK has one code for a wrong k, whatever the index holds.
func TestInvalidK(t *testing.T) {
	src := &plan.Source{Docs: 5}
	if _, err := src.Append(codec.Raw, []uint32{1, 2}, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	dict, err := hdl.NewDictionary([]string{"t000"})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := openSource(t.Context(), src, dict, backendOptions(t)) // without frequencies
	closed(t, bare, err)
	for name, x := range map[string]*served{"ranked": openFile(t, backendOptions(t)), "bare": bare} {
		for _, q := range []Query{{K: -1}, {K: plan.MaxK + 1}, {K: 1, CountOnly: true}, {K: 1, Match: 9}, {Match: 9}, {Match: AndOr}} {
			q.Text = "t000"
			_, alone := x.Search(t.Context(), q)
			_, batch := gather(t.Context(), x, []Query{{Text: "t000"}, q})
			if CodeOf(alone) != InvalidOption || CodeOf(batch) != InvalidOption {
				t.Errorf("%s, %+v: %v; in a batch %v", name, q, alone, batch)
			}
		}
	}
}
