package meter

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine/observe"
)

// TestClasses checks that classes divide all times in order, with the stated precision.
func TestClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "nanoseconds") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		class := classOf(d)
		if top := greatest(class); top < d || float64(top-d) > float64(d)/8 || classOf(top) != class {
			t.Fatalf("%d ns has class %d, which ends at %d", d, class, top)
		}
		if d < math.MaxInt64 && classOf(d+1) < class {
			t.Fatalf("class %d of %d ns is above the class of the next time", class, d)
		}
	})
}

// TestQuantile compares quantiles with the sorted times.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(1, 1e10), 1, 200).Draw(t, "times")
		var m Meter
		for _, n := range times {
			m.Answered(t.Context(), &observe.Explanation{Processor: "host", Took: time.Duration(n)})
		}
		slices.Sort(times)
		for _, p := range []float64{0.01, 0.5, 0.99, 1} {
			want := times[max(int(math.Ceil(p*float64(len(times)))), 1)-1]
			if got := int64(m.Counts()["host"].Quantile(p)); got < want || got-want > want/8 {
				t.Fatalf("quantile %v of %d times: %d, want %d", p, len(times), got, want)
			}
		}
	})
}

func TestSince(t *testing.T) {
	var m Meter
	answered := func(q observe.Explanation) { m.Answered(t.Context(), &q) }
	answered(observe.Explanation{Processor: "host", Took: time.Millisecond, Attempts: 1, Estimate: 3, Ran: 2})
	first := m.Counts()
	if got := first["host"].PredictionError(); got != 0.5 {
		t.Errorf("error of the prediction: %v", got)
	}
	answered(observe.Explanation{Processor: "host", Queries: 10, Took: time.Second, Attempts: 1, Estimate: 1, Ran: 4})
	answered(observe.Explanation{Cached: true, Took: time.Microsecond})
	answered(observe.Explanation{Processor: "host", Err: errors.New("no"), Took: time.Hour})
	next := m.Counts()
	d := next["host"].Since(first["host"])
	if d.Queries != 10 || d.PredictionError() != 0.75 || d.Quantile(0.01) < time.Second || d.Quantile(1) > 9*time.Second/8 {
		t.Errorf("%d queries, error %v, times %v to %v", d.Queries, d.PredictionError(), d.Quantile(0.01), d.Quantile(1))
	}
	if cached := next[""].Since(nil); cached.Queries != 1 || cached.PredictionError() != 0 {
		t.Errorf("from the cache: %+v", cached)
	}
	if none := new(Count); none.Quantile(0.5) != 0 {
		t.Errorf("quantile without queries: %v", none.Quantile(0.5))
	}
}

func BenchmarkAnswered(b *testing.B) {
	var m Meter
	q := observe.Explanation{Processor: "host", Took: time.Millisecond, Attempts: 1, Estimate: 3, Ran: 2}
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			m.Answered(b.Context(), &q)
		}
	})
}
