package observe

import (
	"context"
	"errors"

	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Outcome is what became of a query, in a word.
type Outcome uint8

const (
	Answered  Outcome = iota
	Refused           // there was no room in the queue, or the engine was closed
	Expired           // the deadline passed
	Cancelled         // the caller gave up
	Failed            // any other error
)

// Outcomes returns all of them.
func Outcomes() []Outcome { return []Outcome{Answered, Refused, Expired, Cancelled, Failed} }

func (o Outcome) String() string {
	return [...]string{"answered", "refused", "expired", "cancelled", "failed"}[o]
}

// Outcome tells which one Err is.
func (q *Query) Outcome() Outcome {
	switch {
	case q.Err == nil:
		return Answered
	case errors.Is(q.Err, schedule.ErrFull), errors.Is(q.Err, plan.ErrClosed):
		return Refused
	case errors.Is(q.Err, schedule.ErrDeadline), errors.Is(q.Err, context.DeadlineExceeded):
		return Expired
	case errors.Is(q.Err, context.Canceled):
		return Cancelled
	}
	return Failed
}

// PredictionError is by what part of the time that the batch took it was estimated to
// take longer: 0.5 where 3 ms were estimated and 2 ms passed, -0.5 where it was 1 ms. It
// is false where no batch has answered.
func (q *Query) PredictionError() (float64, bool) {
	t := &q.Trace
	if q.Err != nil || q.Cached || t.Attempts == 0 || t.Ran <= 0 {
		return 0, false
	}
	return float64(t.Estimate-t.Ran) / float64(t.Ran), true
}
