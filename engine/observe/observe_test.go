package observe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"heddle/engine/plan"
)

func TestOutcomes(t *testing.T) {
	seen := make(map[string]bool)
	for o := range Failed + 1 {
		if seen[o.String()] {
			t.Errorf("two outcomes are %v", o)
		}
		seen[o.String()] = true
	}
	if len(seen) != int(Failed)+1 {
		t.Errorf("outcomes: %v", seen)
	}
}

func TestPredictionError(t *testing.T) {
	q := Explanation{Attempts: 1, Estimate: 3 * time.Millisecond, Ran: 2 * time.Millisecond}
	if e, ok := q.PredictionError(); !ok || e != 0.5 {
		t.Errorf("got %v %v", e, ok)
	}
	q.Estimate = time.Millisecond
	if e, ok := q.PredictionError(); !ok || e != -0.5 {
		t.Errorf("got %v %v", e, ok)
	}
	failed, cached := q, q
	failed.Err, cached.Cached = plan.ErrClosed, true
	for _, none := range []Explanation{{}, failed, cached, {Attempts: 1}} {
		if e, ok := none.PredictionError(); ok {
			t.Errorf("%+v: %v", none, e)
		}
	}
}

type recorder struct {
	name string
	log  *[]string
}

func (r recorder) Answered(_ context.Context, q *Explanation) {
	*r.log = append(*r.log, r.name+" "+q.Kind)
}
func (r recorder) Happened(e Event) { *r.log = append(*r.log, r.name+" "+e.Processor) }

func TestAll(t *testing.T) {
	var log []string
	a, b := recorder{"a", &log}, recorder{"b", &log}
	if o := All(); o != nil {
		t.Errorf("none is %v", o)
	}
	if o := All(nil, nil); o != nil {
		t.Errorf("nothing but nil is %v", o)
	}
	if o := All(nil, a); o != Observer(a) {
		t.Errorf("one is %v", o)
	}
	o := All(a, nil, b)
	o.Answered(t.Context(), &Explanation{Kind: "and"})
	o.Happened(Event{Processor: "gpu"})
	if got := strings.Join(log, ", "); got != "a and, b and, a gpu, b gpu" {
		t.Error(got)
	}
}

func TestString(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		q    Explanation
		want string
	}{
		{"cached", Explanation{Kind: "and", Cached: true, Took: 1234 * time.Nanosecond}, `and: answered after 1.23µs
  from the result cache
`},
		{"refused", Explanation{Kind: "rank or", Queries: 64, Mode: "auto", Class: "either", Outcome: Refused, Err: errors.New("the queue is full")}, `rank or, 64 queries: refused after 0s: the queue is full
  scheduled auto, class either
`},
		{"batch", Explanation{
			Kind: "boolean", Queries: 1, Took: 9 * ms, Missing: 1.5e6, Processors: []string{"gpu"},
			Mode: "sync", Class: "device", Processor: "gpu", Estimates: []time.Duration{ms, -1},
			Estimate: 4 * ms, Batch: 32, Queued: 3 * ms, Ran: 5 * ms, Attempts: 2,
			Stats: plan.Stats{Upload: ms, Probe: 2 * ms},
		}, `boolean: answered after 9ms
  gpu: alone it should take 1ms
  processor 1: it cannot run there
  scheduled sync, class device
  ran on gpu in a batch of 32: queued 3ms, estimated 4ms, took 5ms (estimate -20 %), attempt 2
  1.500 MB of lists were to be brought in
  stages: upload 1ms, probe 2ms
`},
		{"many", Explanation{Kind: "and", Queries: 1000, Took: 9 * ms, Mode: "sync", Class: "either", Stats: plan.Stats{Compact: 3 * ms}},
			`and, 1000 queries: answered after 9ms
  scheduled sync, class either
  stages: compact 3ms
`},
		{"failed while it ran", Explanation{
			Kind: "and", Took: 2 * ms, Err: plan.ErrDeviceLost,
			Mode: "async", Estimate: ms, Batch: 1, Ran: ms, Attempts: 1, Class: "either", Outcome: Failed,
		}, `and: failed after 2ms: ` + plan.ErrDeviceLost.Error() + `
  scheduled async, class either
  ran alone: queued 0s, estimated 1ms, took 1ms
  all lists were resident
`},
	} {
		if got := c.q.String(); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 999: 999, 1234: 1230, -1234: -1230, 999_999: time.Millisecond, 98_765_432: 98_800_000, 90*time.Minute + 123*time.Millisecond: 90 * time.Minute,
	} {
		if got := Round(d); got != want {
			t.Errorf("Round(%v) = %v, want %v", d, got, want)
		}
	}
}
