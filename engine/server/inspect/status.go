package inspect

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"heddle/engine/api"
	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	"heddle/engine/syntax"
)

// mark is the state of all counters at a moment.
type mark struct {
	at     time.Time
	stats  observe.Stats
	counts map[string]*meter.Count
}

// begin is the mark of the start, at which all counters are 0.
func begin() mark { return mark{at: time.Now()} }

// mark reads the counters.
func (s *Service) mark() (mark, error) {
	e, err := s.Engine()
	if err != nil {
		return mark{}, err
	}
	m := mark{at: time.Now(), stats: e.Stats()}
	if s.Meter != nil {
		m.counts = s.Meter.Counts()
	}
	return m, nil
}

// GetStatus implements api.InspectServiceHandler.
func (s *Service) GetStatus(context.Context, *api.GetStatusRequest) (*api.Status, error) {
	now, err := s.mark()
	if err != nil {
		return nil, err
	}
	return s.status(&s.start, &now), nil
}

// status describes the time between two marks.
func (s *Service) status(old, now *mark) *api.Status {
	took := now.at.Sub(old.at)
	a, b := &old.stats, &now.stats
	out := &api.Status{
		TimeMs: uint64(now.at.UnixMilli()), IntervalMs: ms(took), Mode: b.Mode, Load: b.Load,
		Queue:    &api.QueueStatus{Either: uint64(b.Waiting.Either), Device: uint64(b.Waiting.Device), Host: uint64(b.Waiting.Host), Capacity: uint64(b.Capacity)},
		Answered: b.Answered - a.Answered, Failed: b.Failed - a.Failed, Refused: b.Refused - a.Refused, Expired: b.Expired - a.Expired,
		Answers: &api.CacheStatus{Hits: b.Results.Hits - a.Results.Hits, Misses: b.Results.Misses - a.Results.Misses, Bytes: b.Results.Bytes, Capacity: b.Results.Capacity},
	}
	memory := s.deviceMemory()
	for i := range b.Processors {
		p := b.Processors[i]
		var before observe.Processor
		if i < len(a.Processors) {
			before = a.Processors[i]
		}
		d := &api.ProcessorStatus{
			Name: valid(p.Name), Running: uint64(p.Running), Memory: p.Memory, DeviceMemory: memory[p.Name],
			Busy: (p.Busy - before.Busy).Seconds() / took.Seconds(),
		}
		if p.Removed != nil {
			d.Removed = valid(p.Removed.Error())
		}
		if n := p.Batches - before.Batches; n > 0 {
			d.Batch = float64(p.Jobs-before.Jobs) / float64(n)
		}
		if c := now.counts[p.Name]; c != nil {
			c = c.Since(old.counts[p.Name])
			d.Queries, d.QueriesPerSecond = c.Queries, float64(c.Queries)/took.Seconds()
			d.P50Ms, d.P99Ms, d.PredictionError = ms(c.Quantile(0.5)), ms(c.Quantile(0.99)), c.PredictionError()
		}
		if l := p.Lists; l != nil {
			d.Lists = &api.CacheStatus{Hits: l.Hits, Misses: l.Misses, Bytes: l.Used, Capacity: l.Capacity}
			if q := before.Lists; q != nil {
				d.Lists.Hits, d.Lists.Misses = l.Hits-q.Hits, l.Misses-q.Misses
			}
		}
		out.Processors = append(out.Processors, d)
	}
	return out
}

// deviceMemory returns the memory of each device in bytes, by name of the processor.
func (s *Service) deviceMemory() map[string]uint64 {
	e, err := s.Engine()
	if err != nil {
		return nil
	}
	all := map[string]uint64{}
	for _, p := range e.Processors() {
		all[p.Name] = p.Info.Memory
	}
	return all
}

// The interval of events, in milliseconds.
const (
	defaultInterval = 1000
	leastInterval   = 100
	mostInterval    = 60_000
)

// number returns the whole number of a parameter of a request.
func number(r *http.Request, name string, usual, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest("%s %s: want %d to %d", name, syntax.Quote(text), least, most)
	}
	return n, nil
}

// Events answers GET /v1/events: a Status for each interval, as server-sent events, until the
// client leaves or the server drains. The parameter interval_ms sets the interval, and past_s the
// number of last seconds whose kept events come first. Stall is the time in which a client must
// accept an event.
func (s *Service) Events(w http.ResponseWriter, r *http.Request, stall time.Duration) error {
	interval, err := number(r, "interval_ms", defaultInterval, leastInterval, mostInterval)
	if err != nil {
		return err
	}
	past, err := number(r, "past_s", 0, 0, kept)
	if err != nil {
		return err
	}
	last, err := s.mark()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	out.SetWriteDeadline(time.Now().Add(stall)) // writers of tests have no deadlines
	w.WriteHeader(http.StatusOK)
	for _, e := range s.past.since(last.at.Add(-time.Duration(past) * time.Second)) {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", e.text); err != nil {
			return nil
		}
	}
	if out.Flush() != nil { // the client has left
		return nil
	}
	tick := time.NewTicker(time.Duration(interval) * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-s.Ended:
			return nil
		case <-tick.C:
		}
		now, err := s.mark()
		if err != nil { // the engine is closed
			return nil
		}
		out.SetWriteDeadline(time.Now().Add(stall + time.Duration(interval)*time.Millisecond))
		if _, err := fmt.Fprintf(w, "data: %s\n\n", api.AppendJSON(nil, s.status(&last, &now))); err != nil || out.Flush() != nil {
			return nil
		}
		last = now
	}
}
