package bitmap

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/wah"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// set is a set of bit vectors over the same rows: a data set of Nelson et al. 2020,
// section "Evaluation methodology", or one of our own.
type set struct {
	name  string
	table *plan.Table
	// picks holds the vectors in a random order. A query of m bins takes the first m.
	picks []uint32

	columns []column.Column // columns of a built table
	release func() error    // closes the set; nil if there is nothing to close
}

// close releases the resources of the set. It must not be used afterwards.
func (s *set) close() error {
	if s.release == nil {
		return nil
	}
	return s.release()
}

// Parameters of the Zipf sets.
const (
	zipfAttributes = 10
	zipfBins       = 10
	mostBins       = 64 // bins of the largest query
)

// zipfSet draws a set of 10 attributes with 10 bins. Bin k has the probability k^-skew
// over the sum of all.
func zipfSet(ctx context.Context, seed uint64, skew float64, rows uint32, word int) (*set, error) {
	var limits [zipfBins]uint64 // upper ends, in units of 2^-32
	sum, total := 0.0, 0.0
	for k := range zipfBins {
		total += math.Pow(float64(k+1), -skew)
	}
	for k := range zipfBins {
		sum += math.Pow(float64(k+1), -skew)
		limits[k] = uint64(math.Round(sum / total * (1 << 32)))
	}
	t := &plan.Table{Rows: rows}
	vectors := make([]vectorWords, zipfAttributes*zipfBins)
	err := workload.Each(ctx, zipfAttributes, func(a int) error {
		r := rand.New(rand.NewPCG(seed, uint64(a)+uint64(skew*16)<<8))
		// guess is the bin of a draw by its upper bits, if these decide it.
		var guess [1 << 12]uint8
		for i := range guess {
			for uint64(i)<<20 >= limits[guess[i]] {
				guess[i]++
			}
		}
		builders := make([]vectorBuilder, zipfBins)
		for i := range builders {
			builders[i].wide = word == 64
		}
		for row := uint64(0); row < uint64(rows); {
			for draw, n := r.Uint64(), 0; n < 2 && row < uint64(rows); n++ {
				x := draw & math.MaxUint32
				k := guess[x>>20]
				for x >= limits[k] {
					k++
				}
				builders[k].add(row)
				row++
				draw >>= 32
			}
		}
		for k := range builders {
			vectors[a*zipfBins+k] = builders[k].end(uint64(rows))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	addVectors(t, vectors, word)
	return newSet(fmt.Sprintf("zipf skew %g", skew), t, seed), nil
}

// runsSet draws a set like network traffic: bins of long runs with a few thousand
// changes. It replaces KDD if that is missing.
func runsSet(seed uint64, rows uint32, word int) *set {
	const attributes, bins, changes = 19, 25, 2000
	t := &plan.Table{Rows: rows}
	var vectors []vectorWords
	for a := range uint64(attributes) {
		r := rand.New(rand.NewPCG(seed, a))
		builders := make([]vectorBuilder, bins)
		for i := range builders {
			builders[i].wide = word == 64
		}
		for row := uint64(0); row < uint64(rows); {
			// the lengths of runs span orders of magnitude
			n := uint64(math.Exp(r.Float64()*math.Log(float64(rows)/changes*8))) + 1
			end := min(row+n, uint64(rows))
			builders[int(bins*r.Float64()*r.Float64()*r.Float64())].run(row, end)
			row = end
		}
		for k := range builders {
			vectors = append(vectors, builders[k].end(uint64(rows)))
		}
	}
	addVectors(t, vectors, word)
	return newSet("runs", t, seed)
}

func newSet(name string, t *plan.Table, seed uint64) *set {
	s := &set{name: name, table: t, picks: make([]uint32, len(t.Vectors))}
	for i := range s.picks {
		s.picks[i] = uint32(i)
	}
	r := rand.New(rand.NewPCG(seed, 64))
	r.Shuffle(len(s.picks), func(i, j int) { s.picks[i], s.picks[j] = s.picks[j], s.picks[i] })
	return s
}

// vectorBuilder builds a vector of 32-bit or 64-bit words.
type vectorBuilder struct {
	wide bool
	b32  wah.Builder[uint32]
	b64  wah.Builder[uint64]
}

// vectorWords is a finished vector: one of the two.
type vectorWords struct {
	w32 []uint32
	w64 []uint64
}

func (b *vectorBuilder) add(row uint64) {
	if b.wide {
		b.b64.Add(row)
		return
	}
	b.b32.Add(row)
}

func (b *vectorBuilder) run(from, to uint64) {
	if b.wide {
		b.b64.AddRun(from, to)
		return
	}
	b.b32.AddRun(from, to)
}

func (b *vectorBuilder) end(rows uint64) vectorWords {
	if b.wide {
		return vectorWords{w64: b.b64.AppendTo(nil, rows)}
	}
	return vectorWords{w32: b.b32.AppendTo(nil, rows)}
}

// addVectors appends vectors to t.
func addVectors(t *plan.Table, vectors []vectorWords, word int) {
	n := 0
	for _, v := range vectors {
		n += len(v.w32) + len(v.w64) + plan.ListAlign
	}
	if word == 64 {
		t.Words64 = make([]uint64, 0, n)
	} else {
		t.Words32 = make([]uint32, 0, n)
	}
	for _, v := range vectors {
		if word == 64 {
			t.AppendVector64(v.w64)
		} else {
			t.AppendVector32(v.w32)
		}
	}
}

// published is the expected WAH size of vectors with independent rows, in bytes per row
// of the table (Wu et al. 2006, section 4): a row is one with probability d, so a
// fraction 1 - (1-d)^2bits - d^2bits of the groups has its own word.
func (s *set) published(vectors []uint32) (bytes float64) {
	bits := float64(s.table.GroupBits())
	for _, v := range vectors {
		ones := uint64(0)
		if s.table.Word() == 64 {
			ones = wah.Count(s.table.Vector64(v))
		} else {
			ones = wah.Count(s.table.Vector32(v))
		}
		d := float64(ones) / float64(s.table.Rows)
		bytes += (1 - math.Pow(1-d, 2*bits) - math.Pow(d, 2*bits)) / bits * (bits + 1) / 8
	}
	return bytes
}

// ratio is the compressed size over the size of plain bitsets.
func (s *set) ratio() float64 {
	return float64(s.table.VectorBytes(s.picks)) / (float64(len(s.picks)) * float64(s.table.Rows) / 8)
}

// peer holds the vectors of a query in the formats of other libraries.
type peer struct {
	roaring []*roaring.Bitmap // run-optimized
	plain   [][]uint64
}

func newPeer(ctx context.Context, s *set, vectors []uint32) (*peer, error) {
	p := &peer{roaring: make([]*roaring.Bitmap, len(vectors)), plain: make([][]uint64, len(vectors))}
	return p, workload.Each(ctx, len(vectors), func(i int) (err error) {
		if p.plain[i], err = s.table.Bitset(vectors[i]); err != nil {
			return err
		}
		p.roaring[i] = roaring.FromDense(p.plain[i], true)
		p.roaring[i].RunOptimize()
		return nil
	})
}

// size is the size of the Roaring bitmaps in bytes.
func (p *peer) size() (n uint64) {
	for _, b := range p.roaring {
		n += b.GetSizeInBytes()
	}
	return n
}

// plainOr counts the rows of the OR of m plain bitsets on all cores, in pieces that
// stay in the first-level cache.
func (p *peer) plainOr(ctx context.Context, m int) (uint64, error) {
	const piece = 2048 // words
	n := len(p.plain[0])
	counts := make([]uint64, (n+piece-1)/piece)
	err := workload.Each(ctx, len(counts), func(i int) error {
		var sum [piece]uint64
		from, to := i*piece, min((i+1)*piece, n)
		for _, b := range p.plain[:m] {
			for j, w := range b[from:to] {
				sum[j] |= w
			}
		}
		for _, w := range sum[:to-from] {
			counts[i] += uint64(bits.OnesCount64(w))
		}
		return nil
	})
	total := uint64(0)
	for _, c := range counts {
		total += c
	}
	return total, err
}

// query returns the OR of the first m picks.
func (s *set) query(m int) *plan.SelectBatch {
	q := new(plan.SelectBatch)
	q.Reset()
	q.Any(slices.Clone(s.picks[:min(m, len(s.picks))])...)
	q.End()
	return q
}
