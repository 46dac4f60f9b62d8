package bitmap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestMeasureSelfTest passes the self-test of measure_groups in both shapes.
func TestMeasureSelfTest(t *testing.T) { passes(t, selfTestMeasures, measureKey{}) }

// TestMeasureDivisors: the kernel sums the codes of a column in one unit. The codes of measures in other units are counted; of
// too many codes they are plan.ErrUnsupported.
func TestMeasureDivisors(t *testing.T) {
	s := &Store{t: &plan.Table{Rows: 10}}
	s.evens.Store([2]uint64{3, 5}, true)
	s.evens.Store([2]uint64{3, 25}, true)
	codes := plan.Measure{Kind: plan.MeasureSum}
	tenths := plan.Measure{Kind: plan.MeasureFloats, Base: 1 << 63, Scale: 1}
	hundredths := plan.Measure{Kind: plan.MeasureFloats, Base: 1 << 63, Scale: 2}
	for _, measures := range [][]plan.Measure{{codes, tenths}, {tenths, codes}, {tenths, hundredths}, {tenths, {Kind: plan.MeasureCount}, hundredths}} {
		a := &plan.Aggregation{Inputs: []plan.Input{{Column: 3, Last: 99}}, Measures: measures}
		v := &values{columns: make([]valuesColumn, 4)}
		m, err := s.newMeasuring(t.Context(), v, a, plan.Dense)
		if err != nil || m.counted[0] || !m.counted[len(measures)-1] {
			t.Errorf("%+v: %v", measures, err)
		}
		a.Inputs[0].Last = mostCells
		_, err = s.newMeasuring(t.Context(), v, a, plan.Dense)
		if !errors.Is(err, plan.ErrUnsupported) || !strings.HasPrefix(err.Error(), "measure of column 3: ") {
			t.Errorf("%+v: error %v", measures, err)
		}
	}
}

// BenchmarkMeasures sums in 1,000 groups of 20 M rows whose stored value is below a bound: the selection
// of the rows alone, and with the sums. The metrics of stages are of a queue that keeps times.
func BenchmarkMeasures(b *testing.B) {
	d := devicetest.Find(b, ops)
	rows := 20_000_000
	if devicetest.Small() {
		rows = 1 << 20
	}
	r := rand.New(rand.NewPCG(1, 2))
	tab := plantest.NewTable(uint32(rows), 32)
	tab.AddVector(plantest.NewFilter(uint32(rows), func(uint32) bool { return true }))
	var inputs []plan.Input
	for _, n := range []uint64{1000, 100_000, 10_000} {
		codes := make([]uint64, rows)
		for k := range codes {
			codes[k] = r.Uint64N(n)
		}
		inputs = append(inputs, plan.Input{Column: tab.AddCodes(b, codes), Last: n - 1})
	}
	a := &plan.Aggregation{Inputs: inputs[:2], Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 1}}}
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
		for _, below := range []uint64{1, 100, 1000, 5000, 10_000} {
			sel := &plan.SelectBatch{Output: plan.OutputResident}
			sel.Any(0)
			if below < 10_000 {
				sel.Check(2, plan.CodeRange{Hi: below - 1})
			}
			sel.End()
			for _, what := range []string{"rows", "groups"} {
				b.Run(fmt.Sprintf("stages=%t/%g %%/%s", profiling, float64(below)/100, what), func(b *testing.B) {
					var sum plan.Stats
					run := func() error {
						var out plan.Rows
						if what == "rows" {
							err := s.Select(b.Context(), sel, &out)
							sum.Add(out.Stats)
							return err
						}
						cells, err := s.Measure(b.Context(), sel, a)
						if err == nil {
							sum.Add(cells.Stats)
						}
						return err
					}
					if err := run(); err != nil { // makes scratch
						b.Fatal(err)
					}
					sum = plan.Stats{}
					for b.Loop() {
						if err := run(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(1e6*sum.Probe.Seconds()/float64(b.N), "kernel-µs")
					b.ReportMetric(1e6*b.Elapsed().Seconds()/float64(b.N), "µs/op")
				})
			}
		}
	}
}
