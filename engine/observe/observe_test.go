package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/schedule"
)

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{nil, Answered},
		{schedule.ErrFull, Refused},
		{fmt.Errorf("query 3: %w", &schedule.FullError{}), Refused},
		{plan.ErrClosed, Refused},
		{&schedule.DeadlineError{}, Expired},
		{context.DeadlineExceeded, Expired},
		{context.Canceled, Cancelled},
		{schedule.ErrNoProcessor, Failed},
		{plan.ErrOutOfMemory, Failed},
		{errors.New("anything"), Failed},
	} {
		q := Query{Err: c.err}
		if got := q.Outcome(); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
	seen := make(map[string]bool)
	for _, o := range Outcomes() {
		if seen[o.String()] {
			t.Errorf("two outcomes are %v", o)
		}
		seen[o.String()] = true
	}
}

func TestPredictionError(t *testing.T) {
	ran := schedule.Trace{Attempts: 1, Estimate: 3 * time.Millisecond, Ran: 2 * time.Millisecond}
	q := Query{Trace: ran}
	if e, ok := q.PredictionError(); !ok || e != 0.5 {
		t.Errorf("got %v %v", e, ok)
	}
	q.Trace.Estimate = time.Millisecond
	if e, ok := q.PredictionError(); !ok || e != -0.5 {
		t.Errorf("got %v %v", e, ok)
	}
	for _, none := range []Query{{}, {Trace: ran, Err: plan.ErrClosed}, {Trace: ran, Cached: true}, {Trace: schedule.Trace{Attempts: 1}}} {
		if e, ok := none.PredictionError(); ok {
			t.Errorf("%+v: %v", none, e)
		}
	}
}

type recorder struct {
	name string
	log  *[]string
}

func (r recorder) Answered(_ context.Context, q *Query) { *r.log = append(*r.log, r.name+" "+q.Kind) }
func (r recorder) Happened(e schedule.Event)            { *r.log = append(*r.log, r.name+" "+e.Processor) }

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
	o.Answered(t.Context(), &Query{Kind: "and"})
	o.Happened(schedule.Event{Processor: "gpu"})
	if got := strings.Join(log, ", "); got != "a and, b and, a gpu, b gpu" {
		t.Error(got)
	}
}

func TestString(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		q    Query
		want string
	}{
		{"cached", Query{Kind: "and", Cached: true, Took: 1234 * time.Nanosecond}, `and: answered after 1.23µs
  from the result cache
`},
		{"refused", Query{Kind: "rank or", Queries: 64, Err: &schedule.FullError{Caller: "a", Held: 3, Queued: 9, Room: 9}}, `rank or, 64 queries: refused after 0s: the queue is full: 9 of 9 places are taken, 3 by caller "a"
  scheduled auto, class either
`},
		{"batch", Query{
			Kind: "formula", Queries: 1, Took: 9 * ms, Missing: 1.5e6, Processors: []string{"gpu"},
			Trace: schedule.Trace{Mode: schedule.Sync, Class: schedule.Device, Processor: "gpu", Estimates: []time.Duration{ms, -1},
				Estimate: 4 * ms, Batch: 32, Queued: 3 * ms, Ran: 5 * ms, Attempts: 2},
			Stats: plan.Stats{Upload: ms, Probe: 2 * ms},
		}, `formula: answered after 9ms
  gpu: alone it should take 1ms
  processor 1: it cannot run there
  scheduled sync, class device
  ran on gpu in a batch of 32: queued 3ms, estimated 4ms, took 5ms (estimate -20 %), attempt 2
  1.500 MB of lists were to be brought in
  stages: upload 1ms, probe 2ms
`},
		{"many", Query{Kind: "and", Queries: 1000, Took: 9 * ms, Trace: schedule.Trace{Mode: schedule.Sync}, Stats: plan.Stats{Compact: 3 * ms}},
			`and, 1000 queries: answered after 9ms
  scheduled sync, class either
  stages: compact 3ms
`},
		{"failed while it ran", Query{
			Kind: "and", Took: 2 * ms, Err: plan.ErrDeviceLost,
			Trace: schedule.Trace{Mode: schedule.Async, Estimate: ms, Batch: 1, Ran: ms, Attempts: 1},
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
