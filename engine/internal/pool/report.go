package pool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Stats returns a snapshot of the scheduler and of the stores.
func (p *Pool) Stats() observe.Stats {
	s, long := p.sched.Stats(), p.analyses.Stats()
	st := observe.Stats{
		Mode: s.Mode.String(), Load: s.Load, Capacity: s.Capacity,
		Answered: s.Answered, Failed: s.Failed, Refused: s.Refused + long.Refused, Expired: s.Expired + long.Expired,
		Retried: s.Retried, Stolen: s.Stolen, Changes: s.Changes,
	}
	st.Waiting.Either, st.Waiting.Device, st.Waiting.Host = s.Queued[schedule.Either], s.Queued[schedule.Device], s.Queued[schedule.Host]
	for _, n := range long.Queued {
		st.Waiting.Host += n
	}
	p.mu.Lock() // a store whose file is closed is not among stores any more
	defer p.mu.Unlock()
	for i, q := range s.Processors {
		r := observe.Processor{Name: q.Name, Removed: q.Out, Running: q.Running, Batches: q.Batches, Jobs: q.Jobs, Busy: q.Busy}
		for _, s := range p.stores {
			if s.On[0].Index == i {
				s.report(&r)
			}
		}
		st.Processors = append(st.Processors, r)
	}
	return st
}

// report adds a store to the snapshot of its processor.
func (r *Residence) report(p *observe.Processor) {
	p.Memory += r.Store.Memory()
	if !strings.Contains(p.Placement, r.Why) {
		p.Placement = strings.TrimPrefix(p.Placement+"; "+r.Why, "; ")
	}
	if r.Cached == nil {
		return
	}
	c := r.Cached.CacheStats()
	if p.Lists != nil {
		c.Capacity, c.Used, c.Lists = c.Capacity+p.Lists.Capacity, c.Used+p.Lists.Used, c.Lists+p.Lists.Lists
		c.Hits, c.Misses, c.Evicted, c.BytesIn = c.Hits+p.Lists.Hits, c.Misses+p.Lists.Misses, c.Evicted+p.Lists.Evicted, c.BytesIn+p.Lists.BytesIn
	}
	p.Lists = &c
}

// Observed tells whether an observer wants to receive queries.
func (p *Pool) Observed() bool { return p.opt.Observer != nil }

// Busy tells whether a batch runs on any processor, so that a job may wait.
func (p *Pool) Busy() bool { return uint32(p.load.state.Load()) > 0 }

// Report completes q by the outcome and by the part that the scheduler knows, sends it to
// the observer, and copies it to explain unless that is nil.
func (p *Pool) Report(ctx context.Context, explain, q *observe.Explanation, t *schedule.Trace) {
	q.Outcome, q.Processors = outcomeOf(q.Err), p.names
	q.Arrived, q.Mode, q.Class, q.Estimates = t.Arrived, t.Mode.String(), t.Class.String(), t.Estimates
	q.Processor, q.Attempts, q.Batch, q.Estimate, q.Queued, q.Ran = t.Processor, t.Attempts, t.Batch, t.Estimate, t.Queued, t.Ran
	if explain != nil {
		*explain = *q
		explain.Estimates = slices.Clone(q.Estimates) // the job is used again
	}
	if p.opt.Observer != nil {
		p.opt.Observer.Answered(ctx, q)
	}
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

// happened logs an event and tells the observer.
func (p *Pool) happened(v schedule.Event) {
	e := observe.Event{Time: v.Time, Load: v.Load, Processor: v.Processor, Err: v.Err}
	if v.Mode != schedule.Auto {
		e.Mode = v.Mode.String()
	}
	switch {
	case v.Processor != "" && v.Err == nil:
		p.opt.Log.Info().Str("processor", v.Processor).Msg("processor restored")
	case v.Processor != "":
		p.opt.Log.Error().Err(v.Err).Str("processor", v.Processor).Msg("processor removed")
	default:
		p.opt.Log.Debug().Str("mode", e.Mode).Float64("load", v.Load).Msg("mode changed")
	}
	if p.opt.Observer != nil {
		p.opt.Observer.Happened(e)
	}
}
