package bitmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	bits64 "math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// BenchmarkTables measures selections over 64 vectors of 32 Mi rows: ORs of all of them,
// one at a time with counts, resident rows and rows that come back, a batch, and
// selections with stored values. "stages" runs in a queue that keeps times. It is set
// by the environment: HEDDLE_TABLE_ROWS, _WORD, _DATA, names of benchTable with commas
// between, and _SHAPES, which are "tile/work-group/loads" with commas between, "0/0/0" for
// the shape of the device.
func BenchmarkTables(b *testing.B) {
	d := devicetest.Find(b, ops)
	rows, word := 32<<20, 32
	if devicetest.Small() {
		rows = 1 << 20
	}
	rows, word = setting(b, "ROWS", rows), setting(b, "WORD", word)
	shapes := os.Getenv("HEDDLE_TABLE_SHAPES")
	if shapes == "" {
		shapes = "0/0/0"
	}
	for _, data := range strings.Split(cmp.Or(os.Getenv("HEDDLE_TABLE_DATA"), "p=0.1,zipf2,runs,skew 0,skew 1,skew 2"), ",") {
		began := time.Now()
		tab := benchTable(uint32(rows), word, data)
		b.Logf("%s: %d words made in %v", data, len(tab.Words32)+len(tab.Words64), time.Since(began))
		for _, shape := range strings.Split(shapes, ",") {
			t := d.Tuning()
			if shape != "0/0/0" {
				if _, err := fmt.Sscanf(shape, "%d/%d/%d", &t.TableTile, &t.TableWG, &t.TableLoads); err != nil {
					b.Fatal(err)
				}
			}
			for _, profiling := range []bool{false, true} {
				backend, err := device.Open(b.Context(), d, device.Options{Tuning: &t, Profiling: profiling, SkipSelfTest: true})
				if errors.Is(err, plan.ErrNoDevice) {
					b.Log(err)
					continue
				}
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				s, err := Load(b.Context(), backend, tab)
				if err != nil {
					b.Fatal(err)
				}
				b.Logf("%s: %d bytes on the device, loaded in %v", data, s.Memory(), time.Since(began))
				benchSelections(b, s, tab, fmt.Sprintf("%s/%s/", data, strings.ReplaceAll(shape, "/", "-")), profiling)
				if err := s.Close(); err != nil {
					b.Error(err)
				}
				backend.Close()
			}
		}
	}
}

// setting reads a number that the environment may set.
func setting(b *testing.B, name string, normal int) int {
	n := normal
	if text := os.Getenv("HEDDLE_TABLE_" + name); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatalf("HEDDLE_TABLE_%s: %v", name, err)
		}
	}
	return n
}

func benchSelections(b *testing.B, s plan.TableStore, t *plan.Table, name string, profiling bool) {
	var all []uint32
	for _, v := range rand.New(rand.NewPCG(1, 2)).Perm(len(t.Vectors)) {
		all = append(all, uint32(v))
	}
	one := func(output plan.Output) *plan.SelectBatch {
		q := &plan.SelectBatch{Output: output}
		q.Any(all...)
		q.End()
		return q
	}
	batch, check := &plan.SelectBatch{Output: plan.OutputCounts}, one(plan.OutputCounts)
	first := &plan.SelectBatch{Output: plan.OutputCounts}
	first.Any(0)
	first.End()
	for i := range uint32(16) { // an OR of four neighbours AND one of eight
		batch.Any(4*i, 4*i+1, 4*i+2, 4*i+3)
		batch.Any(all[i : i+8]...)
		batch.Do(plan.StepAnd)
		batch.End()
	}
	check.Reset()
	check.Any(all[40:42]...)
	check.Check(0, plan.CodeRange{Lo: 0, Hi: 127})
	check.End()
	for _, k := range []struct {
		name string
		q    *plan.SelectBatch
	}{{"count", one(plan.OutputCounts)}, {"resident", one(plan.OutputResident)}, {"bits", one(plan.OutputBits)},
		{"batch", batch}, {"check", check}, {"first", first}} {
		if profiling {
			k.name += " stages"
		}
		bytes := 0.0
		for _, v := range k.q.Operands {
			bytes += float64(t.Vectors[v].Words) * float64(t.Word()/8)
		}
		b.Run(name+k.name, func(b *testing.B) {
			var out plan.Rows
			var sum plan.Stats
			if err := s.Select(context.Background(), k.q, &out); err != nil { // stored values and room come with it
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.Select(context.Background(), k.q, &out); err != nil {
					b.Fatal(err)
				}
				sum.Add(out.Stats)
			}
			n := float64(b.N)
			took := b.Elapsed().Seconds() / n
			b.ReportMetric(1e6*took/float64(k.q.Len()), "µs/selection")
			b.ReportMetric(bytes/1e6, "MB")
			if profiling {
				took = sum.Probe.Seconds() / n
				b.ReportMetric(1e6*took, "kernel-µs")
				b.ReportMetric(1e6*sum.Download.Seconds()/n, "download-µs")
			}
			b.ReportMetric(bytes/took/1e9, "GB/s")
		})
	}
}

// benchTable has 64 vectors, by the name of the data: of random bits with the same
// probability (p=0.1), with probabilities of Zipf's law with exponent 2 (zipf2), in long
// runs (runs), or of columns of bins (skew 0, 1, …); and a column of codes of eight bits.
func benchTable(rows uint32, word int, data string) *plan.Table {
	const vectors = 64
	t := &plan.Table{Rows: rows}
	codes := make([][]uint32, vectors)
	wide := make([][]uint64, vectors)
	if strings.HasPrefix(data, "skew ") {
		var skew float64
		if _, err := fmt.Sscanf(data, "skew %g", &skew); err != nil {
			panic(err)
		}
		appendSkewed(t, skew, vectors, word)
		addBenchColumn(t)
		return t
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for v := range vectors {
		free <- struct{}{}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(v), 7))
			p := map[string]float64{"p=0.1": 0.1, "zipf2": 0.62 / float64((v+1)*(v+1))}[data]
			if word == 64 {
				wide[v] = benchVector[uint64](r, rows, p)
			} else {
				codes[v] = benchVector[uint32](r, rows, p)
			}
			<-free
		})
	}
	wg.Wait()
	for v := range vectors {
		if word == 64 {
			t.AppendVector64(wide[v])
		} else {
			t.AppendVector32(codes[v])
		}
	}
	addBenchColumn(t)
	return t
}

// appendSkewed appends so many of the vectors of ten columns of ten bins, drawn at random, column after column. Bin k
// of a column has a probability in proportion to k^-skew (Nelson et al. 2020, section 5.1).
func appendSkewed(t *plan.Table, skew float64, vectors, word int) {
	const columns, bins = 10, 10
	var ends [bins]float64
	sum := 0.0
	for k := range ends {
		sum += math.Pow(float64(k+1), -skew)
		ends[k] = sum
	}
	narrow, wide := make([][]uint32, columns*bins), make([][]uint64, columns*bins)
	var wg sync.WaitGroup
	for c := range columns {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 8))
			var b32 [bins]wah.Builder[uint32]
			var b64 [bins]wah.Builder[uint64]
			for row := range uint64(t.Rows) {
				k := 0
				for x := r.Float64() * sum; k < bins-1 && x >= ends[k]; k++ {
				}
				if word == 64 {
					b64[k].Add(row)
				} else {
					b32[k].Add(row)
				}
			}
			for k := range bins {
				if word == 64 {
					wide[c*bins+k] = b64[k].AppendTo(nil, uint64(t.Rows))
				} else {
					narrow[c*bins+k] = b32[k].AppendTo(nil, uint64(t.Rows))
				}
			}
		})
	}
	wg.Wait()
	picks := rand.New(rand.NewPCG(1, 64)).Perm(columns * bins)[:vectors]
	slices.Sort(picks)
	for _, v := range picks {
		if word == 64 {
			t.AppendVector64(wide[v])
		} else {
			t.AppendVector32(narrow[v])
		}
	}
}

// addBenchColumn adds a column of codes of eight bits.
func addBenchColumn(t *plan.Table) {
	r, codes := rand.New(rand.NewPCG(3, 4)), make([]uint64, t.Rows)
	for i := range codes {
		codes[i] = r.Uint64() >> 56
	}
	if _, err := t.AppendCodes(codes); err != nil {
		panic(err)
	}
}

// benchVector makes random bits with probability p, or runs where it is 0.
func benchVector[W wah.Word](r *rand.Rand, rows uint32, p float64) []W {
	var b wah.Builder[W]
	at := uint64(0)
	gap := func(mean float64) uint64 { return 1 + uint64(-math.Log(1-r.Float64())*mean) }
	switch {
	case p == 0:
		for at += gap(100_000); at < uint64(rows); at += gap(100_000) {
			to := min(at+gap(4_000), uint64(rows))
			b.AddRun(at, to)
			at = to
		}
	case p < 0.03:
		for at += gap(1/p) - 1; at < uint64(rows); at += gap(1/p - 0.5) {
			b.Add(at)
		}
	default:
		for ; at < uint64(rows); at += 64 {
			bits := uint64(0) // each digit of p halves the way to 0 or to 1
			for d := range 12 {
				if int(p*4096)>>d&1 == 1 {
					bits |= r.Uint64()
				} else {
					bits &= r.Uint64()
				}
			}
			for ; bits != 0; bits &= bits - 1 {
				if x := at + uint64(bits64.TrailingZeros64(bits)); x < uint64(rows) {
					b.Add(x)
				}
			}
		}
	}
	return b.AppendTo(nil, uint64(rows))
}
