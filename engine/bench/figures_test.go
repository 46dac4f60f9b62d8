package bench

import (
	"context"
	"math"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// TestBound: Table 5 of the paper, and the second moment by its closed form.
func TestBound(t *testing.T) {
	for i, n := range widthLengths {
		if got := boundedWidth(n, widthDocs, widthError); float64(got) != paperBound[i] {
			t.Errorf("%d docIDs: %d bits, the paper has %v", n, got, paperBound[i])
		}
	}
	for _, c := range [][2]int{{1, 1}, {3, 10}, {10, 11}, {999, 4096}} {
		n, m := float64(c[0]), float64(c[1])
		i := math.Floor((n + 1) / 2)
		want := i * (1 + m) * (1 - i + n) * (m - n) / ((1 + n) * (1 + n) * (2 + n))
		if got, _ := centralMoment(c[0], c[1], 2).Float64(); math.Abs(got-want) > 1e-9*(want+1) {
			t.Errorf("variance of the middle of %v among %v: %v, want %v", n, m, got, want)
		}
	}
}

func TestDetermination(t *testing.T) {
	for _, c := range []struct {
		docs []uint32
		want float64
	}{{[]uint32{3, 5, 7, 9}, 1}, {[]uint32{7}, 1}, {[]uint32{0, 1, 5}, 25.0 / 28}} {
		if got := determination(c.docs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.docs, got, c.want)
		}
	}
}

func TestPair(t *testing.T) {
	for _, c := range [][2]int{{4096, 4096}, {1000, 100_000}, {1, 1000}} {
		p, err := pair(context.Background(), 1, c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := p.src.Validate(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.want, plan.Merge(p.a, p.b)) || len(p.a) > len(p.b) || p.inputs() != len(p.a)+len(p.b) {
			t.Errorf("%v: %d and %d docIDs, %d in both", c, len(p.a), len(p.b), len(p.want))
		}
		near := func(got, want int) bool { return math.Abs(float64(got-want)) <= 6*math.Sqrt(float64(want))+1 }
		if !near(len(p.a), c[0]) || !near(len(p.b), c[1]) {
			t.Errorf("%v: %d and %d docIDs", c, len(p.a), len(p.b))
		}
		if share := float64(len(p.want)) / float64(len(p.a)); c[0] >= 1000 && (share < 0.25 || share > 0.5) {
			t.Errorf("%v: %.2f in both", c, share)
		}
	}
}

func TestUnite(t *testing.T) {
	for _, c := range [][3][]uint32{{nil, nil, {}}, {{1}, nil, {1}}, {nil, {2}, {2}}, {{1, 3, 5}, {0, 3, 9, 10}, {0, 1, 3, 5, 9, 10}}} {
		if got := unite(c[0], c[1]); !slices.Equal(got, c[2]) {
			t.Errorf("%v and %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// TestCut: PART cuts by number, PARA by load, and both lose no query.
func TestCut(t *testing.T) {
	s := &session{w: workload(t, Uniform)}
	const n = 500
	load := func(first, end int) (sum int) {
		for _, q := range s.w.Queries[first:end] {
			sum += len(s.w.sorted(q)[0])
		}
		return sum
	}
	part, para := s.cut(method{part: true, queries: 64}, n), s.cut(method{queries: 64}, n)
	for _, ends := range [][]int{part, para} {
		if !slices.IsSorted(ends) || ends[len(ends)-1] != n || len(ends) < 5 || len(ends) > 9 {
			t.Fatalf("ends %v", ends)
		}
	}
	if part[0] != 64 || part[1] != 128 || len(part) != 8 {
		t.Errorf("PART: %v", part)
	}
	mean := load(0, n) / n * 64
	for i, end := range para[1 : len(para)-1] {
		if l := load(para[i], end); l < mean || load(para[i], end-1) >= mean {
			t.Errorf("PARA: batch %d of %d candidates, the threshold is %d", i+1, l, mean)
		}
	}
}

func TestTakesExceptions(t *testing.T) {
	if !takesExceptions(codec.ParaPFor) || takesExceptions(codec.Rice) || takesExceptions(codec.LRC) {
		t.Error("parapfor has a share of exceptions, rice and lrc have not")
	}
}

func TestClock(t *testing.T) {
	if ghz := clock(); ghz < 0.2 || ghz > 12 {
		t.Errorf("a core of %.2f GHz", ghz)
	}
	if got := chain(3, 5, 2); got != 3*uint64(math.Pow(5, 2*chainLinks)) {
		t.Errorf("chain gives %d", got)
	}
}
