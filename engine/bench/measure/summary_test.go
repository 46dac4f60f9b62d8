package measure

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Summary
	}{
		{nil, Summary{}},
		{[]float64{3}, Summary{3, 3, 3, 1}},
		{[]float64{3, 1}, Summary{2, 1, 3, 2}},
		{[]float64{9, 1, 2}, Summary{2, 1, 9, 3}},
	} {
		if got := Summarize(c.in); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		n    int
		want Summary
	}{
		{nil, 5, Summary{}},
		{[]float64{3, 1}, 5, Summary{2, 1, 3, 2}},
		{[]float64{1, 9, 2, 4, 5, 100, 6}, 2, Summary{3.75, 2, 5.5, 2}},
	} {
		if got := Parts(c.in, c.n); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestInTurns(t *testing.T) {
	var order []int
	turns := make([]Turn, 3)
	for i := range turns {
		turns[i] = Turn{Queries: 10, Run: func() error { order = append(order, i); return nil }}
	}
	rates, err := InTurns(turns, 2)
	if err != nil || !slices.Equal(order, []int{0, 1, 2, 0, 1, 2}) || len(rates) != 3 || rates[0].Runs != 2 {
		t.Errorf("%v, %v, %v", order, rates, err)
	}
	turns[1].Run = func() error { return context.Canceled }
	if _, err := InTurns(turns, 1); err != context.Canceled {
		t.Errorf("a failing turn: %v", err)
	}
}

// TestRepeat: one slow call of many does not widen the spread.
func TestRepeat(t *testing.T) {
	calls := 0
	s, err := Repeat(manyCalls, 0, func() error {
		if calls++; calls == 5 {
			time.Sleep(50 * time.Millisecond)
		} else {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	if err != nil || calls != manyCalls+1 || s.Runs != ResponseParts || s.Max >= 50e3 {
		t.Errorf("%d calls, %+v, %v", calls, s, err)
	}
	if _, err := Repeat(1, 0, func() error { return context.Canceled }); err != context.Canceled {
		t.Errorf("a failing call: %v", err)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, c := range []struct {
		of   []float64
		p    int
		want float64
	}{{hundred, 50, 50}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred[:10], 95, 10}, {hundred[:1], 1, 1}, {nil, 50, 0}} {
		if got := Percentile(c.of, c.p); got != c.want {
			t.Errorf("%d %% of %d: %v, want %v", c.p, len(c.of), got, c.want)
		}
	}
}

func TestClock(t *testing.T) {
	if ghz := Clock(); ghz < 0.2 || ghz > 12 {
		t.Errorf("a core of %.2f GHz", ghz)
	}
	if got := chain(3, 5, 2); got != 3*uint64(math.Pow(5, 2*chainLinks)) {
		t.Errorf("chain gives %d", got)
	}
}
