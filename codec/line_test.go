package codec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// checkLine checks, for every list, the documented bounds of the line, that every docID
// is inside its range, and that ranges of other values are valid.
func checkLine(tb rapid.TB, docs []uint32) Line {
	tb.Helper()
	l, n := FitLine(docs), uint32(len(docs))
	if l.Slope < 0 || l.Slope > 1<<30 || l.Intercept < -1<<62 || l.Intercept > 1<<62 ||
		l.Left < 0 || l.Left >= 1<<34 || l.Right < 0 || l.Right >= 1<<34 {
		tb.Fatalf("%+v is out of bounds", l)
	}
	for i, d := range docs {
		if lo, hi := l.Range(d, n); uint32(i) < lo || uint32(i) >= hi || hi > n {
			tb.Fatalf("%+v: docID %d at index %d, range %d to %d", l, d, i, lo, hi)
		}
	}
	for _, x := range []uint32{0, 1, 1 << 16, 1 << 31, math.MaxUint32 - 1, math.MaxUint32} {
		if lo, hi := l.Range(x, n); lo > hi || hi > n {
			tb.Fatalf("%+v: range of %d is %d to %d of %d", l, x, lo, hi, n)
		}
		p := new(big.Int).Mul(big.NewInt(int64(x)), big.NewInt(l.Slope))
		p.Add(p, big.NewInt(l.Intercept)).Rsh(p, LineShift) // Rsh rounds down, as >> does
		if !p.IsInt64() || p.Int64() != l.position(x) {
			tb.Fatalf("%+v: position of %d is %d, exactly %v", l, x, l.position(x), p)
		}
	}
	return l
}

func TestLine(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint64Range(1, codectest.Universe).Draw(t, "universe")
				n := rapid.IntRange(0, 3000).Draw(t, "n")
				checkLine(t, g.List(rapid.Uint64().Draw(t, "seed"), n, universe))
			})
		})
	}
}

func TestLineExtremes(t *testing.T) {
	const top = math.MaxUint32
	run := func(from uint32, n int) []uint32 {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = from + uint32(i)
		}
		return docs
	}
	half := append(run(0, 1<<20), run(top-1<<20+1, 1<<20)...)
	for name, docs := range map[string][]uint32{
		"empty": nil, "zero": {0}, "top": {top}, "both ends": {0, top}, "two at the top": {top - 1, top},
		"run at the top": run(top-1<<20+1, 1<<20), "runs at both ends": half,
		"all but one at the top": append([]uint32{0}, run(top-1<<20+1, 1<<20)...),
		"all but one at zero":    append(run(0, 1<<20), top),
	} {
		t.Run(name, func(t *testing.T) { checkLine(t, docs) })
	}
}

// Long lists of every shape over all docIDs keep the bounds.
func TestLineLong(t *testing.T) {
	for _, g := range codectest.Generators() {
		checkLine(t, g.List(3, 1<<19, codectest.Universe))
	}
}

// A list on a line needs no search. Slopes have 30 bits, so over 2^32 docIDs a position
// may be off by 2.
func TestLineIsTight(t *testing.T) {
	for _, k := range []uint32{1, 2, 3, 7, 100, 4096, 100_000} {
		for _, n := range []uint32{1, 2, 3, 1000, 40_000} {
			docs := make([]uint32, n)
			for i := range docs {
				docs[i] = 17 + uint32(i)*k
			}
			if l := checkLine(t, docs); l.Left+l.Right > 4 {
				t.Errorf("%d docIDs, every %d: %+v", n, k, l)
			}
		}
	}
}

// The line is the inverse of the least squares line of docIDs over indexes.
func TestLineIsRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		var docs []uint32
		docID := rng.Uint32N(1000)
		for range 2 + rng.IntN(2000) {
			docs = append(docs, docID)
			docID += 1 + rng.Uint32N(1000)
		}
		n := float64(len(docs))
		var sumI, sumD, sumII, sumID float64
		for i, d := range docs {
			x, y := float64(i), float64(d)
			sumI, sumD, sumII, sumID = sumI+x, sumD+y, sumII+x*x, sumID+x*y
		}
		alpha := (n*sumID - sumI*sumD) / (n*sumII - sumI*sumI)
		beta := (sumD - alpha*sumI) / n
		l := FitLine(docs)
		for _, x := range []uint32{0, docs[len(docs)/2], docs[len(docs)-1]} {
			want := (float64(x) - beta) / alpha
			if got := float64(l.position(x)); math.Abs(got-want) > 1 {
				t.Fatalf("%d docIDs: position of %d is %v, want %v", len(docs), x, got, want)
			}
		}
	}
}
