package bitmap

import (
	"fmt"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// BenchmarkColumns measures the OR of 64 vectors of 32 Mi rows under every strategy, with
// new scans and without, in a queue that keeps times: "decode" is decompression, "probe"
// the reduction and the rest. HEDDLE_TABLE_ROWS and _WORD have the meaning of
// BenchmarkTables.
func BenchmarkColumns(b *testing.B) {
	d := devicetest.Find(b, ops)
	rows := 32 << 20
	if devicetest.Small() {
		rows = 1 << 20
	}
	rows, word := setting(b, "ROWS", rows), setting(b, "WORD", 32)
	for _, data := range []string{"p=0.1", "zipf2"} {
		backend, err := device.Open(b.Context(), d, device.Options{Profiling: true, SkipSelfTest: true})
		if err != nil {
			b.Fatal(err)
		}
		tab := benchTable(uint32(rows), word, data)
		s, err := Load(b.Context(), backend, tab)
		if err != nil {
			b.Fatal(err)
		}
		for _, vectors := range []int{64, 8, 10_000} { // the last in passes, of the same 64
			if vectors > 64 && d.Info().Type != "gpu" {
				continue
			}
			sel := &plan.SelectBatch{Output: plan.OutputCounts}
			for v := range uint32(vectors) {
				sel.Operands = append(sel.Operands, v%64)
			}
			sel.Steps = []plan.Step{{Code: plan.StepAny, To: uint32(vectors)}}
			sel.End()
			column := uint64(tab.Groups()) * uint64(word/8)
			for _, sel.Strategy = range strategies {
				for _, sel.Rescan = range []bool{false, true} {
					if sel.Rescan && sel.Strategy == plan.Fused {
						continue
					}
					b.Run(fmt.Sprintf("%s/%d/%v/rescan=%t", data, vectors, sel.Strategy, sel.Rescan), func(b *testing.B) {
						var out plan.Rows
						var sum plan.Stats
						if err := s.Select(b.Context(), sel, &out); err != nil { // makes scratch
							b.Fatal(err)
						}
						for b.Loop() {
							if err := s.Select(b.Context(), sel, &out); err != nil {
								b.Fatal(err)
							}
							sum.Add(out.Stats)
						}
						n := float64(b.N)
						b.ReportMetric(1e6*b.Elapsed().Seconds()/n, "µs/selection")
						b.ReportMetric(1e6*sum.Decode.Seconds()/n, "decode-µs")
						b.ReportMetric(1e6*sum.Probe.Seconds()/n, "probe-µs")
						if sel.Strategy != plan.Fused {
							reads, writes := reduceColumns(sel.Strategy, vectors)
							b.ReportMetric(float64(uint64(reads+writes)*column)/(sum.Probe.Seconds()/n)/1e9, "probe-GB/s")
						}
					})
				}
			}
		}
		if err := s.Close(); err != nil {
			b.Error(err)
		}
		backend.Close()
	}
}
