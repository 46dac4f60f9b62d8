package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"heddle/engine/bench/measure"
)

// window is the outcome of a load at one rate.
type window struct {
	delays       *Delays
	requests     int
	took, queued []float64      // milliseconds, of answered requests
	errors       map[string]int // queries without an answer, by code
	held         bool
}

// Names of the errors of requests that were not sent: too many requests have no answer yet, or the
// load itself was late by more than the time-out.
const (
	busy = "client_busy"
	late = "client_late"
)

var errLate = errors.New("the load is late by more than the time-out")

// mostFailing is the fraction of requests that may fail at a rate that the server sustains.
const mostFailing = 0.001

// outcome is the result of a request.
type outcome struct {
	done         bool
	took, queued uint32 // microseconds
	failed       string
	invalid      int32 // queries of a batch
	wrong        int32 // answers
}

// window puts the load of one rate, in queries per second, on the server.
func (r *run) window(ctx context.Context, rate float64, length time.Duration) (*window, error) {
	loop := Loop{Rate: rate / float64(r.work.Batch), Seed: r.opt.Seed + uint64(r.sent), Deadline: r.opt.Timeout, Wait: r.opt.Wait}
	loop.Queries = max(int(loop.Rate*length.Seconds()), 1)
	loop.Misses = loop.Queries // the load never ends early
	outcomes := make([]outcome, loop.Queries)
	invalid := new(atomic.Pointer[string])
	began := r.sent
	r.sent += loop.Queries
	delays, err := loop.Run(ctx, func(arrived context.Context, i int) error {
		at, _ := arrived.Deadline()
		if !time.Now().Before(at) {
			outcomes[i] = outcome{done: true, failed: late}
			return errLate
		}
		call, done := context.WithDeadline(ctx, at)
		defer done()
		got, err := r.work.ask(call, r.client, began+i, r.opt.Verify)
		o := outcome{done: true, took: micros(got.took), queued: micros(got.queued), invalid: int32(len(got.errors))}
		if err != nil {
			o.failed = codeOf(err)
		} else if r.opt.Verify {
			o.wrong = int32(r.differing(began+i, got.digests))
		}
		for _, e := range got.errors {
			invalid.CompareAndSwap(nil, &e.Error.Code)
		}
		outcomes[i] = o
		return err
	})
	if err != nil {
		return nil, err
	}
	w := &window{delays: delays, requests: loop.Queries, errors: map[string]int{}, held: delays.Held(mostFailing)}
	for _, o := range outcomes {
		switch {
		case !o.done:
			w.errors[busy] += r.work.Batch
			continue
		case o.failed != "":
			w.errors[o.failed] += r.work.Batch
			continue
		case o.invalid > 0:
			w.errors[*invalid.Load()] += int(o.invalid)
		}
		if o.wrong > 0 {
			w.errors[wrong] += int(o.wrong)
			r.differ += int(o.wrong)
		}
		w.took, w.queued = append(w.took, float64(o.took)/1000), append(w.queued, float64(o.queued)/1000)
	}
	return w, nil
}

func micros(ms float64) uint32 { return uint32(math.Round(ms * 1000)) }

// Level is the outcome of one rate. Times are in milliseconds.
type Level struct {
	// Rate is the number of queries that arrive per second, and Throughput the number of answers.
	Rate       float64 `json:"rate"`
	Throughput float64 `json:"throughput"`
	Queries    int     `json:"queries"`
	Answered   int     `json:"answered"`
	// Latency of answered requests, from the intended start to the answer.
	Latency Times `json:"latency_ms"`
	// Server is the time in the engine, and Queued its part before a processor began.
	Server Times `json:"server_ms"`
	Queued Times `json:"queued_ms"`
	// Late is the 99th percentile of the time from the intended start to the actual one.
	Late float64 `json:"late_ms"`
	// Errors are the queries without an answer, by code.
	Errors map[string]int `json:"errors"`
	// Held reports whether the server sustains the rate: answers come as fast as queries, and at most
	// a thousandth of the requests fails.
	Held bool `json:"held"`
	// Limited reports that the server does not sustain the rate in windows of which most were late because of load
	// itself, on a busy machine. The server may sustain more.
	Limited bool `json:"limited"`
	// Stable reports whether the median latency of the last windows is about the same.
	Stable bool `json:"stable"`
}

// Times are percentiles.
type Times struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

func timesOf(values []float64) Times {
	slices.Sort(values)
	at := func(permille int) float64 { return round(measure.Permille(values, permille)) }
	return Times{at(500), at(900), at(990), at(999), at(1000)}
}

// round rounds to three digits after the point: milliseconds to microseconds.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// level sums up windows of one rate.
func (r *run) level(rate float64, all []*window, held, stable bool) *Level {
	l := &Level{Rate: round(rate), Errors: map[string]int{}, Held: held, Stable: stable}
	var latency, took, queued []float64
	seconds, failed, limited := 0.0, 0, 0
	for _, w := range all {
		if !w.held {
			failed++
			if w.delays.Limited() {
				limited++
			}
		}
		latency, took, queued = append(latency, w.delays.Milliseconds...), append(took, w.took...), append(queued, w.queued...)
		seconds += float64(w.requests)/w.delays.Rate + w.delays.Drain.Seconds()
		l.Queries += w.requests * r.work.Batch
		l.Late = max(l.Late, w.delays.Behind)
		for code, n := range w.errors {
			l.Errors[code] += n
		}
	}
	l.Limited = !held && 2*limited > failed
	l.Answered = l.Queries
	for _, n := range l.Errors {
		l.Answered -= n
	}
	l.Throughput, l.Late = round(float64(l.Answered)/seconds), round(l.Late)
	l.Latency, l.Server, l.Queued = timesOf(latency), timesOf(took), timesOf(queued)
	return l
}
