package match

import (
	"math/rand/v2"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// govLike is a source of as many lists as the log of bench lists has, none of
// them with words, and a batch of queries with 2 to 6 terms whose shortest lists
// have 4,700 docIDs on average.
func govLike(queries int) (*plan.Source, *plan.MatchBatch) {
	r := rand.New(rand.NewPCG(7, 8))
	src := &plan.Source{Docs: 1 << 20}
	for range 20_000 {
		n := 2 + uint32(r.ExpFloat64()*20_000)
		src.Lists = append(src.Lists, plan.List{Words: n, Len: n, Codec: codec.Raw})
	}
	b := &plan.MatchBatch{}
	b.Reset()
	for range queries {
		q := make([]plan.Handle, 2+r.IntN(5))
		for i := range q {
			q[i] = r.Uint32N(uint32(len(src.Lists)))
		}
		b.Add(src, q...)
	}
	return src, b
}

// BenchmarkCut measures the cost of a query on the host before it is sent, without a
// device.
func BenchmarkCut(b *testing.B) {
	src, batch := govLike(50_000)
	s := &Matcher{set: &lists.Set{Src: src, Places: make([]lists.Place, len(src.Lists))}, tile: 256, maxTiles: 1 << 18}
	records := s.set.Records(nil)
	up := make([]uint32, uploadWords(s.maxTiles))
	firstTile := make([]uint32, maxQueries+1)
	for b.Loop() {
		for at := (position{}); at.query < batch.Queries(); {
			_, at = s.cut(batch, records, at, up, firstTile)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Queries()), "ns/query")
}

// BenchmarkValidate measures the checks of a batch.
func BenchmarkValidate(b *testing.B) {
	src, batch := govLike(50_000)
	for b.Loop() {
		if err := batch.Validate(src); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Queries()), "ns/query")
}

// BenchmarkCollect measures the cost of a query on the host after its round: 720 docIDs on average.
func BenchmarkCollect(b *testing.B) {
	src, batch := govLike(8_000)
	s := &Matcher{set: &lists.Set{Device: &device.Runtime{}, Src: src, Places: make([]lists.Place, len(src.Lists))}, tile: 256, maxTiles: 1 << 18}
	x := &slot{matcher: s, Flight: device.NewFlight(s.set.Device, nil), firstTile: make([]uint32, maxQueries+1)}
	up := make([]uint32, uploadWords(s.maxTiles))
	x.round, _ = s.cut(batch, s.set.Records(nil), position{}, up, x.firstTile)
	x.docsAt = (x.round.tiles + 3) / 4 * 4
	down := make([]uint32, x.docsAt+int(x.round.candidates))
	r := rand.New(rand.NewPCG(1, 2))
	for t := range x.round.tiles {
		down[t] = r.Uint32N(80)
		x.matches += int(down[t])
	}
	x.Down = &device.Pinned{Words: down}
	x.fetched = len(down)
	var out plan.Results
	for b.Loop() {
		out.Reset()
		out.Offsets = append(out.Offsets[:0], make([]uint64, batch.Queries()+1)...)
		if err := s.collect(b.Context(), x, &out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*x.round.queries), "ns/query")
	b.ReportMetric(float64(x.matches)/float64(x.round.queries), "docIDs/query")
}
