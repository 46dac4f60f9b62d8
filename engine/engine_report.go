package engine

import (
	"context"
	"errors"

	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Stats returns a snapshot of the engine; the zero value after Close.
func (e *Engine) Stats() observe.Stats {
	v, err := e.View()
	if err != nil {
		return observe.Stats{}
	}
	defer v.Close()
	s := v.g.sched.Stats()
	st := observe.Stats{
		Mode: s.Mode.String(), Load: s.Load, Capacity: s.Capacity,
		Answered: s.Answered, Failed: s.Failed, Refused: s.Refused, Expired: s.Expired,
		Retried: s.Retried, Stolen: s.Stolen, Changes: s.Changes,
		Results: observe.ResultCache(e.results.Stats()),
	}
	st.Waiting.Either, st.Waiting.Device, st.Waiting.Host = s.Queued[schedule.Either], s.Queued[schedule.Device], s.Queued[schedule.Host]
	for i, p := range v.g.processors {
		q := s.Processors[i]
		r := observe.Processor{Name: q.Name, Removed: q.Out, Running: q.Running, Batches: q.Batches, Jobs: q.Jobs, Busy: q.Busy,
			Memory: p.store.Memory(), Placement: p.why}
		if p.cached != nil {
			c := p.cached.CacheStats()
			r.Lists = &c
		}
		st.Processors = append(st.Processors, r)
	}
	return st
}

// setTrace copies the part of an explanation that the scheduler knows.
func setTrace(q *observe.Explanation, t *schedule.Trace) {
	q.Arrived, q.Mode, q.Class, q.Estimates = t.Arrived, t.Mode.String(), t.Class.String(), t.Estimates
	q.Processor, q.Attempts, q.Batch, q.Estimate, q.Queued, q.Ran = t.Processor, t.Attempts, t.Batch, t.Estimate, t.Queued, t.Ran
}

// outcomeOf returns the outcome of a query with this error.
func outcomeOf(err error) observe.Outcome {
	switch {
	case err == nil:
		return observe.Answered
	case errors.Is(err, schedule.ErrFull), errors.Is(err, plan.ErrClosed):
		return observe.Refused
	case errors.Is(err, schedule.ErrDeadline), errors.Is(err, context.DeadlineExceeded):
		return observe.Expired
	case errors.Is(err, context.Canceled):
		return observe.Cancelled
	}
	return observe.Failed
}

func eventOf(v schedule.Event) observe.Event {
	e := observe.Event{Time: v.Time, Load: v.Load, Processor: v.Processor, Err: v.Err}
	if v.Mode != schedule.Auto {
		e.Mode = v.Mode.String()
	}
	return e
}
