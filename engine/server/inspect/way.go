package inspect

import (
	"time"

	"heddle/engine/api"
	"heddle/engine/observe"
)

// wayOf describes the way of a query.
func wayOf(e *observe.Explanation) *api.Way {
	w := &api.Way{Kind: e.Kind, Cached: e.Cached, TookMs: ms(e.Took)}
	if e.Cached {
		return w
	}
	w.Mode, w.Class, w.Processor = e.Mode, e.Class, valid(e.Processor)
	w.Batch, w.Attempts = uint32(e.Batch), uint32(e.Attempts)
	w.EstimateMs, w.RanMs, w.QueuedMs = ms(e.Estimate), ms(e.Ran), ms(e.Queued)
	w.MissingBytes, w.BytesUp, w.BytesDown = e.Missing, e.Stats.BytesUp, e.Stats.BytesDown
	for i, alone := range e.Estimates {
		if alone >= 0 && i < len(e.Processors) {
			w.Estimates = append(w.Estimates, &api.Estimate{Processor: valid(e.Processors[i]), Ms: ms(alone)})
		}
	}
	for name, took := range observe.Stages(&e.Stats) {
		w.Stages = append(w.Stages, &api.Stage{Name: name, Ms: ms(took)})
	}
	return w
}

// ms returns a time in milliseconds, to a nanosecond.
func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
