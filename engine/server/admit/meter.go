package admit

import (
	"math"
	"time"
)

const (
	// memory is the time in which the sums of a meter lose 63 percent of their weight. A request
	// removes at most the fraction 1/leastRequests, so that a meter of slow requests remembers more.
	memory        = time.Second
	leastRequests = 8
	// A queue longer than the mean one by this factor is new to a meter.
	longer = 4
	// Bounds of the time until another attempt.
	soonest, latest = time.Millisecond, 30 * time.Second
)

// meter measures the queue: the queries of requests that have entered and not left. The zero
// value is an idle meter.
type meter struct {
	queries  int       // number of queries in the queue
	at       time.Time // time up to which the sums count
	left     time.Time // the last request
	requests int       // number of requests that have ended

	// Sums of the recent past, with weights that decline.
	ended float64 // queries
	busy  float64 // seconds in which the queue was not empty
	area  float64 // length of the queue times seconds
}

// refuse returns a refusal if the queries ahead of a request take longer than a time, by the rate
// of the recent past. At most the whole queue is ahead. A queue that is new to the meter is no
// reason: longer queues may run faster, in larger batches. Nor is a request whose time is over:
// it ends at once.
func (m *meter) refuse(now time.Time, ahead int, most time.Duration) *Refusal {
	m.advance(now)
	if m.requests < leastRequests || m.busy == 0 || float64(m.queries)*m.busy > longer*m.area {
		return nil
	}
	ahead = min(ahead, m.queries)
	fit := m.ended / m.busy * most.Seconds()
	if most <= 0 || float64(ahead) <= fit {
		return nil
	}
	after := (float64(ahead) - fit) * m.busy / m.ended // +Inf if nothing ended
	return &Refusal{"work", int(fit), max(time.Duration(min(after, latest.Seconds())*float64(time.Second)), soonest)}
}

func (m *meter) enter(now time.Time, queries int) {
	m.advance(now)
	m.queries += queries
}

func (m *meter) leave(now time.Time, queries int, ended bool) {
	m.advance(now)
	keep := max(math.Exp(-now.Sub(m.left).Seconds()/memory.Seconds()), 1-1.0/leastRequests)
	m.left = now
	m.ended, m.busy, m.area = m.ended*keep, m.busy*keep, m.area*keep
	m.queries -= queries
	if ended {
		m.requests++
		m.ended += float64(queries)
	}
}

// advance adds the time since the last event to the sums.
func (m *meter) advance(now time.Time) {
	if past := now.Sub(m.at).Seconds(); m.queries > 0 && past > 0 {
		m.busy += past
		m.area += past * float64(m.queries)
	}
	m.at = now
}
