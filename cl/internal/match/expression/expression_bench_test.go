package expression

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
)

// BenchmarkExpressions measures boolean expressions over lists of a million and of 25
// million documents: ORs of many lists, and batches of a AND (b OR c) NOT d, with
// docIDs and with counts only, from four callers; and single ones, from one. The
// rows are the device's and rows with work-groups of other sizes.
func BenchmarkExpressions(b *testing.B) {
	d := devicetest.Find(b, ops)
	rows := map[string]device.Tuning{"row": d.Tuning()}
	for _, wg := range []int{64, 256} {
		t := d.Tuning()
		t.SetWG = wg
		if !t.Serial {
			rows[fmt.Sprintf("wg=%d", wg)] = t
		}
	}
	for _, docs := range []uint32{1 << 20, 25_000_000} {
		for _, id := range []codec.ID{codec.Raw, codec.ParaPFor} {
			if devicetest.Small() && (docs > 1<<20 || id == codec.Raw) {
				continue
			}
			src, kinds := workload(b, docs, id)
			for name, t := range rows {
				s, err := load(b.Context(), devicetest.OpenRow(b, d, t, true), src)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { s.close() })
				for _, k := range kinds {
					for _, countOnly := range []bool{false, true} {
						mode := map[bool]string{false: "docs", true: "count"}[countOnly]
						b.Run(fmt.Sprintf("%d/%v/%s/%s/%s", docs, id, k.name, mode, name), func(b *testing.B) {
							benchBatch(b, s, src, k, countOnly)
						})
					}
				}
			}
		}
	}
}

// benchKind is a batch of expressions and the number of concurrent callers.
type benchKind struct {
	name        string
	expressions plan.MatchBatch
	callers     int
}

func workload(b *testing.B, docs uint32, id codec.ID) (*plan.Source, []benchKind) {
	r := rand.New(rand.NewPCG(7, uint64(docs)))
	src := &plan.Source{Docs: docs}
	pool := 200
	var short, long plan.Handle // the first of each
	for i, n := range []int{int(docs) / 1000, int(docs) / 50} {
		for k := range pool {
			h, err := src.Append(id, devicetest.Spread(r, n, 1, uint32(2*int(docs)/n*9/10-1)), codec.DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			if k == 0 {
				short, long = []plan.Handle{h, short}[i], []plan.Handle{0, h}[i]
			}
		}
	}
	list := func(first plan.Handle) plan.Expr { return plan.Expr{List: first + plan.Handle(r.IntN(pool))} }
	or := func(first plan.Handle, n int) plan.Expr {
		e := plan.Expr{Op: plan.OpOr}
		for k := range n {
			e.Args = append(e.Args, plan.Expr{List: first + plan.Handle(k)})
		}
		return e
	}
	mixed := func() plan.Expr {
		return plan.Expr{Op: plan.OpAndNot, Args: []plan.Expr{
			{Op: plan.OpAnd, Args: []plan.Expr{list(long), {Op: plan.OpOr, Args: []plan.Expr{list(short), list(long)}}}}, list(long)}}
	}
	add := func(name string, callers, n int, e func() plan.Expr) (k benchKind) {
		k = benchKind{name: name, callers: callers}
		k.expressions.Reset()
		for range n {
			if err := k.expressions.AddExpr(src, e()); err != nil {
				b.Fatal(err)
			}
		}
		return k
	}
	many := max(64_000_000/int(docs), 4) // 64 million documents a batch
	if devicetest.Small() {
		many = 4
	}
	return src, []benchKind{
		add("or16short", 1, 1, func() plan.Expr { return or(short, 16) }),
		add("or200short", 1, 1, func() plan.Expr { return or(short, pool) }),
		add("or200long", 1, 1, func() plan.Expr { return or(long, pool) }),
		add("mixed", 1, 1, mixed),
		add("mixedbatch", 4, many, mixed),
		add("orbatch", 4, many, func() plan.Expr { return or(short+plan.Handle(r.IntN(pool-8)), 8) }),
	}
}

func benchBatch(b *testing.B, s *Evaluator, src *plan.Source, k benchKind, countOnly bool) {
	f := k.expressions
	f.CountOnly = countOnly
	outs := make([]plan.Results, k.callers)
	var sum plan.Stats
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range outs {
			wg.Go(func() {
				if err := s.Match(context.Background(), &f, &outs[i]); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		for i := range outs {
			sum.Add(outs[i].Stats)
		}
	}
	took := b.Elapsed().Seconds()
	b.ReportMetric(float64(sum.Queries)/took, "expressions/s")
	b.ReportMetric(float64(sum.Queries)*float64(src.Docs)/took/1e9, "Gdocs/s")
	b.ReportMetric(float64(sum.Candidates)/took/1e9, "Gpostings/s")
	b.ReportMetric(1e6*sum.Decode.Seconds()/float64(sum.Queries), "decode-µs/e")
	b.ReportMetric(1e6*sum.Probe.Seconds()/float64(sum.Queries), "evaluate-µs/e")
	b.ReportMetric(1e6*sum.Compact.Seconds()/float64(sum.Queries), "expand-µs/e")
}
