package bitmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/filter"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// TestFirst finds first rows by columns of all kinds, in both directions, with rows without a value at both ends, by one key
// and by two, with and without ties, of selections in slices and in vectors and with a filter, and compares them with a sort.
func TestFirst(t *testing.T) {
	const rows = 4096*4 + 129
	tab, d := slicedTable(t, rows), devicetest.Find(t, ops)
	for _, shape := range devicetest.Shapes(d) {
		rt, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		r := plantest.RNG(t)
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		set := plantest.NewFilter(rows, func(row uint32) bool { return r.IntN(4) == 0 })
		with, err := filter.New(t.Context(), rt, rows, set)
		if err != nil {
			t.Fatal(err)
		}
		defer with.Close()
		key := func(c uint32) plan.OrderKey {
			last := uint64(0)
			for row, code := range tab.Codes[c] {
				if has := tab.Has[c]; has == nil || has[row/64]>>(row%64)&1 != 0 {
					last = max(last, code)
				}
			}
			return plan.OrderKey{Column: c, Last: last, Descending: r.IntN(2) == 0, MissingFirst: r.IntN(3) == 0}
		}
		refused, cases := 0, 12
		if devicetest.Small() {
			cases = 3
		}
		for c := range uint32(len(tab.Columns)) {
			for i := range cases {
				o := &plan.Order{Keys: []plan.OrderKey{key(c)}, K: []int{1, 10, 100, 1000, 3}[r.IntN(5)], Tied: r.IntN(3) == 0}
				if i%2 == 1 {
					o.Keys = append(o.Keys, key(uint32(r.IntN(len(tab.Columns)))))
				}
				sel := someSelection(r, tab)
				first := func(with plan.Filter) (*plan.First, error) {
					if err := o.Validate(&tab.Table); err != nil {
						return nil, err
					}
					return s.first(t.Context(), sel, with, o)
				}
				f := plan.Filter(nil)
				if r.IntN(2) == 0 {
					f = with
				}
				got, err := first(f)
				if err != nil {
					if o.Validate(&tab.Table) != nil {
						refused++
						continue
					}
					t.Fatalf("column %d, order %+v: %v", c, o, err)
				}
				checkFirst(t, tab, sel, f, set, o, got)
			}
		}
		if refused == 0 {
			t.Error("no order by codes of 64 bits was refused")
		}
	}
}

// someSelection selects all rows, rows of one range or of many, or rows of vectors.
func someSelection(r *rand.Rand, tab *plantest.Table) *plan.SelectBatch {
	sel := new(plan.SelectBatch)
	switch r.IntN(4) {
	case 0:
		sel.Do(plan.StepAll)
	case 1:
		sel.Any(uint32(r.IntN(len(tab.Vectors))))
	default:
		c := uint32(r.IntN(len(tab.Columns)))
		sel.Do(plan.StepAll)
		ranges := boundaries(r, tab.Codes[c])
		at := r.IntN(20)
		if r.IntN(2) == 0 {
			at = len(ranges) - 1 - r.IntN(4) // of 5 codes or more
		}
		sel.Check(c, ranges[at]...)
	}
	sel.End()
	return sel
}

// checkFirst compares an answer with a sort of all rows. set has the rows of with.
func checkFirst(t *testing.T, tab *plantest.Table, sel *plan.SelectBatch, with plan.Filter, set []uint64, o *plan.Order, got *plan.First) {
	t.Helper()
	every := *o
	every.K = int(tab.Rows)
	all := tab.Plain().First(sel, &every)
	if with != nil {
		all = reference.Within(all, set)
	}
	slices.Sort(got.Rows)
	want := all[:min(o.K, len(all))]
	if with == nil {
		want = tab.Plain().First(sel, o)
	}
	for _, row := range want {
		if _, found := slices.BinarySearch(got.Rows, row); !found {
			t.Fatalf("order %+v: row %d is not among %d rows", o, row, len(got.Rows))
		}
	}
	selected := slices.Sorted(slices.Values(all))
	for i, row := range got.Rows {
		if _, found := slices.BinarySearch(selected, row); !found || i > 0 && row == got.Rows[i-1] {
			t.Fatalf("order %+v: row %d is not selected, or comes twice", o, row)
		}
	}
	if got.Count != uint64(len(all)) {
		t.Fatalf("order %+v: %d rows are selected, want %d", o, got.Count, len(all))
	}
	if most := 4*o.K + 4*4096; !o.Tied && len(got.Rows) > most {
		t.Errorf("order %+v: %d rows came back, want at most %d", o, len(got.Rows), most)
	}
}

// BenchmarkFirst finds the first rows by a column of 1,000,000 values among 32 M rows, and by one of 64 values with the other one as
// second key, of all rows and of 1 %: the median time (p50-µs) beside the bits of the selection on the host, and the time of
// the kernels (kernel-µs). HEDDLE_TABLE_ROWS sets the rows.
func BenchmarkFirst(b *testing.B) {
	d := devicetest.Find(b, ops)
	tab, inputs := randomColumns(b)
	var keys []plan.OrderKey
	for _, of := range []plan.Input{inputs[0], inputs[2]} {
		keys = append(keys, plan.OrderKey{Column: of.Column, Last: of.Last, Descending: true})
	}
	selections := map[string]*plan.SelectBatch{"all rows": {Output: plan.OutputBits}, "1 %": {Output: plan.OutputBits}}
	for name, sel := range selections {
		sel.Do(plan.StepAll)
		if name == "1 %" {
			sel.Check(inputs[1].Column, plan.CodeRange{Hi: 99})
		}
		sel.End()
	}
	for _, profiling := range []bool{false, true} {
		rt, err := device.Open(b.Context(), d, device.Options{Profiling: profiling, SkipSelfTest: true})
		if err != nil {
			b.Fatal(err)
		}
		defer rt.Close()
		s, err := load(b.Context(), rt, &tab.Table)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		run := func(name string, f func() (time.Duration, error)) {
			b.Run(name, func(b *testing.B) {
				if _, err := f(); err != nil { // makes scratch
					b.Fatal(err)
				}
				var took, kernels []time.Duration
				for b.Loop() {
					began := time.Now()
					kernel, err := f()
					if err != nil {
						b.Fatal(err)
					}
					took, kernels = append(took, time.Since(began)), append(kernels, kernel)
				}
				median := func(all []time.Duration) float64 {
					slices.Sort(all)
					return float64(all[len(all)/2].Nanoseconds()) / 1e3
				}
				if profiling {
					b.ReportMetric(median(kernels), "kernel-µs")
				} else {
					b.ReportMetric(median(took), "p50-µs")
				}
			})
		}
		for name, sel := range selections {
			var out plan.Rows
			out.Lend = true
			run(name+"/bits on the host", func() (time.Duration, error) {
				err := s.Select(b.Context(), sel, &out)
				return out.Stats.Probe, err
			})
			out.Release()
			for _, k := range []int{10, 1000} {
				for by, order := range map[string][]plan.OrderKey{"one key": keys[1:], "two keys": keys} {
					o := &plan.Order{Keys: order, K: k}
					run(fmt.Sprintf("%s/%s/k=%d", name, by, k), func() (time.Duration, error) {
						got, err := s.first(b.Context(), sel, nil, o)
						if err != nil {
							return 0, err
						}
						return got.Stats.Select + got.Stats.Compact, nil
					})
				}
			}
		}
	}
}
