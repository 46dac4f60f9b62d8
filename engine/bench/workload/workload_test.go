package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// workload returns a workload of SmallDocs documents. All tests share it.
func workload(t testing.TB, order Order) *Workload {
	t.Helper()
	w, err := small[order]()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// theme returns one theme of the full size, 16 million postings. All tests share it.
func theme(t testing.TB, order Order) *Workload {
	t.Helper()
	testneeds.Long(t)
	w, err := full[order]()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var orders = []Order{Uniform, Clustered, PageRank, Reordered}

var small, full = once(SmallDocs), once(DocCount)

func once(docs uint32) (f [4]func() (*Workload, error)) {
	for _, o := range orders {
		f[o] = sync.OnceValues(func() (*Workload, error) { return Generate(context.Background(), 1, 1, o, docs) })
	}
	return f
}

// checksum covers all lengths, some lists and all queries.
func checksum(w *Workload) uint64 {
	sum := fnv.New64a()
	for _, l := range w.Source.Lists {
		binary.Write(sum, binary.LittleEndian, l.Len)
	}
	for _, h := range []plan.Handle{0, 1, 17, 4095} {
		binary.Write(sum, binary.LittleEndian, w.List(h))
	}
	for _, q := range w.Queries {
		binary.Write(sum, binary.LittleEndian, q)
	}
	return sum.Sum64()
}

// TestGoldenSmall and TestGolden fix the bytes of a workload: a change would make old
// figures incomparable.
func TestGoldenSmall(t *testing.T) {
	for order, want := range [...]uint64{Uniform: 0x8040e1b96e84ea7c, Clustered: 0xe1ffa304636561c7, PageRank: 0x53a754b3ac5592fa, Reordered: 0xb77cb86e4e87f3a8} {
		if got := checksum(workload(t, Order(order))); got != want {
			t.Errorf("%s: checksum %#x, want %#x", Order(order), got, want)
		}
	}
}

func TestGolden(t *testing.T) {
	testneeds.Long(t)
	for order, want := range [...]uint64{Uniform: 0xf03931903942f75b, Clustered: 0xb95c4253d9b53a6a, PageRank: 0x9a174eed217290d2, Reordered: 0xa8148d580f615858} {
		if got := checksum(theme(t, Order(order))); got != want {
			t.Errorf("%s: checksum %#x, want %#x", Order(order), got, want)
		}
	}
}

// TestPostings: a theme has a sixteenth of 250 million postings.
func TestPostings(t *testing.T) {
	w := theme(t, Uniform)
	if got := float64(w.Postings()) * MaxThemes / 250e6; got < 0.95 || got > 1.05 {
		t.Errorf("%s: %d postings", w.Name(), w.Postings())
	}
	// 8.6 K in Ao et al. A theme has too few queries for more than a rough check.
	shortest := 0
	for _, q := range w.Queries {
		shortest += len(w.Sorted(q)[0])
	}
	if mean := shortest / len(w.Queries); mean < 7000 || mean > 10_200 {
		t.Errorf("mean shortest list %d", mean)
	}
}

func TestLists(t *testing.T) {
	for _, order := range orders {
		w := workload(t, order)
		if err := w.Source.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(w.Terms) != termsPerTheme || len(w.Source.Lists) != termsPerTheme || !slices.IsSorted(w.Terms) {
			t.Fatalf("%s: %d terms, %d lists", w.Name(), len(w.Terms), len(w.Source.Lists))
		}
		for h := range w.Source.Lists {
			docs := w.List(plan.Handle(h))
			if len(docs) == 0 || docs[len(docs)-1] >= SmallDocs {
				t.Fatalf("%s: list %d has %d docIDs", w.Name(), h, len(docs))
			}
			for i := 1; i < len(docs); i++ {
				if docs[i] <= docs[i-1] {
					t.Fatalf("%s: list %d does not ascend at %d", w.Name(), h, i)
				}
			}
		}
	}
}

// TestOrders: the order changes the number of matches of no query.
func TestOrders(t *testing.T) {
	w := workload(t, Uniform)
	for _, order := range orders[1:] {
		o := workload(t, order)
		for i := 0; i < len(w.Queries); i += 50 {
			if !slices.Equal(w.Queries[i], o.Queries[i]) {
				t.Fatalf("query %d is another one in %s order", i, order)
			}
			if a, b := len(answer(w, i)), len(answer(o, i)); a != b {
				t.Errorf("query %d matches %d documents in uniform order, %d in %s order", i, a, b, order)
			}
		}
	}
}

func answer(w *Workload, i int) []uint32 {
	lists := w.Sorted(w.Queries[i])
	left := lists[0]
	for _, l := range lists[1:] {
		left = Intersect(nil, left, l)
	}
	return left
}

// TestContraction compares the linearity of long lists with Table 1 of Ao et al. 2011,
// rows 100 K to 600 K: GOVR for uniform order, GOV for clustered order.
func TestContraction(t *testing.T) {
	paper := map[Order][3]float64{Uniform: {0.0030, 0.0019, 0.0012}, Clustered: {0.0375, 0.0306, 0.0186}}
	bounds := [4]uint32{100_000, 200_000, 400_000, 600_000}
	for order, want := range paper {
		w := theme(t, order)
		for i := range want {
			sum, n := 0.0, 0.0
			for h, l := range w.Source.Lists {
				if l.Len >= bounds[i] && l.Len < bounds[i+1] {
					line := codec.FitLine(w.List(plan.Handle(h)))
					sum += float64(line.Left+line.Right) / float64(l.Len)
					n++
				}
			}
			t.Logf("%s, lists from %d K: %.0f, contraction ratio %.4f, paper %.4f", order, bounds[i]/1000, n, sum/n, want[i])
			if got := sum / n; !(got > want[i]*0.6 && got < want[i]*1.4) {
				t.Errorf("%s, lists from %d K: contraction ratio %.4f, paper %.4f", order, bounds[i]/1000, got, want[i])
			}
		}
	}
}

func TestQueries(t *testing.T) {
	w := workload(t, Uniform)
	if len(w.Queries) != queriesPerTheme {
		t.Fatalf("%d queries", len(w.Queries))
	}
	var classes [len(classShare)]int
	seen := make(map[string]bool)
	for _, q := range w.Queries {
		classes[len(q)]++
		key := slices.Clone(q)
		slices.Sort(key)
		if len(slices.Compact(key)) != len(q) {
			t.Fatalf("query %v names a list twice", q)
		}
		var b []byte
		for _, h := range key {
			b = binary.LittleEndian.AppendUint32(b, h)
		}
		if seen[string(b)] {
			t.Fatalf("query %v comes twice", q)
		}
		seen[string(b)] = true
	}
	for k, share := range classShare {
		if got := float64(classes[k]) / queriesPerTheme * 100; math.Abs(got-float64(share)/100) > 0.03 {
			t.Errorf("%.2f %% of the queries have %d terms, want %.2f %%", got, k, float64(share)/100)
		}
	}
}

// TestThemesAreParts: a workload with fewer themes has a subset of the queries, by the
// lengths of their lists.
func TestThemesAreParts(t *testing.T) {
	one := workload(t, Uniform)
	two, err := Generate(context.Background(), 1, 2, Uniform, SmallDocs)
	if err != nil {
		t.Fatal(err)
	}
	key := func(w *Workload, q []plan.Handle) string {
		var b []byte
		for _, l := range w.Sorted(q) {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(l)))
			b = binary.LittleEndian.AppendUint32(b, l[0])
		}
		return string(b)
	}
	have := make(map[string]bool)
	for _, q := range two.Queries {
		have[key(two, q)] = true
	}
	for _, q := range one.Queries {
		if !have[key(one, q)] {
			t.Fatalf("query %v of one theme is not one of two", q)
		}
	}
}

// TestGenerateOnOneCore: the number of cores does not change the workload.
func TestGenerateOnOneCore(t *testing.T) {
	want := workload(t, Clustered)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got, err := Generate(context.Background(), 1, 1, Clustered, SmallDocs)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Source.Words, want.Source.Words) {
		t.Error("another workload on one core")
	}
}

func TestGenerateFails(t *testing.T) {
	for _, themes := range []int{-1, 0, MaxThemes + 1} {
		if _, err := Generate(context.Background(), 1, themes, Uniform, DocCount); err == nil {
			t.Errorf("%d themes: no error", themes)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Generate(ctx, 1, 1, Uniform, DocCount); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestParseOrder(t *testing.T) {
	for _, o := range orders {
		if got, err := ParseOrder(strings.ToUpper(o.String())); err != nil || got != o {
			t.Errorf("%v: %v, %v", o, got, err)
		}
	}
	if _, err := ParseOrder("sorted"); err == nil {
		t.Error("sorted: no error")
	}
}
