package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/api"
)

// Options rule a load. The zero value is the default.
type Options struct {
	// Rate is a number of queries per second. Default: 0, a sweep.
	Rate float64
	// Length is the length of the load at Rate, or of a window of a sweep. Default: 10 s, 2 s.
	Length time.Duration
	// From is the first rate of a sweep. Default: 100 queries per second.
	From float64
	// Timeout of a request, from its intended start. Default: 10 s.
	Timeout time.Duration
	// Verify compares each answer with the one of the quiet server, which Run asks first. Run returns
	// an error after the load if some differ. Default: false.
	Verify bool
	// Seed of the gaps between arrivals.
	Seed uint64
	// Report receives each level as soon as it is known. Default: nil.
	Report func(*Level) error

	// Wait returns at a time. Default: it sleeps, and a tenth of a millisecond may be added. Tests in
	// virtual time use benchtest.SleepUntil.
	Wait func(time.Time)
}

const (
	// A level is stable if the medians of agreeing windows in sequence differ from their mean by at
	// most the fraction agreement, or by agreementLeast milliseconds.
	agreeing       = 3
	agreement      = 0.1
	agreementLeast = 0.05
	mostWindows    = 8 // greatest number of windows of a level
	// The capacity is known to a factor of 2^(1/8).
	precision = 1.0 / 8
	// The lowest and the highest rate of a sweep.
	lowest, highest = 0.1, 1 << 24
	// mostRequests bounds the memory of a load: a request takes 40 bytes.
	mostRequests = 50_000_000
)

// run is a load that runs.
type run struct {
	opt    Options
	work   *Work
	client *api.Client
	sent   int      // requests
	want   []digest // answers to the topics, with Options.Verify
	differ int      // answers that differ from them
}

// Run puts a load on a server. It returns the highest rate that the server sustains: of a single
// rate, this rate or 0.
func Run(ctx context.Context, c *api.Client, w *Work, opt Options) (capacity float64, err error) {
	if opt.Length == 0 {
		opt.Length = 2 * time.Second
		if opt.Rate > 0 {
			opt.Length = 10 * time.Second
		}
	}
	if opt.From == 0 {
		opt.From = 100
	}
	if opt.Timeout == 0 {
		opt.Timeout = 10 * time.Second
	}
	if opt.Wait == nil {
		opt.Wait = wait
	}
	if requests := max(opt.Rate, opt.From) * opt.Length.Seconds() / float64(w.Batch); requests > mostRequests {
		return 0, &engine.Error{Code: engine.InvalidOption, Op: "load", Err: fmt.Errorf("%.0f requests, at most %d", requests, mostRequests)}
	}
	if err := w.check(ctx, c); err != nil {
		return 0, err
	}
	r := &run{opt: opt, work: w, client: c}
	if opt.Verify {
		if err := r.learn(ctx); err != nil {
			return 0, err
		}
	}
	if opt.Rate > 0 {
		capacity, err = r.single(ctx)
	} else {
		capacity, err = r.sweep(ctx)
	}
	if err == nil && r.differ > 0 {
		err = fmt.Errorf("%d answers differ from those of the quiet server", r.differ)
	}
	return capacity, err
}

// single runs a load at one rate.
func (r *run) single(ctx context.Context) (capacity float64, err error) {
	w, err := r.window(ctx, r.opt.Rate, r.opt.Length)
	if err != nil {
		return 0, err
	}
	l := r.level(r.opt.Rate, []*window{w}, w.held, false)
	if l.Held {
		capacity = r.opt.Rate
	}
	return capacity, r.report(l)
}

// sweep doubles the rate until the server does not sustain it, and then halves the gap between the
// highest rate that it sustains and the lowest one that it does not.
func (r *run) sweep(ctx context.Context) (capacity float64, err error) {
	failing := math.Inf(1)
	for rate := r.opt.From; ; {
		l, err := r.measure(ctx, rate)
		if err != nil {
			return capacity, err
		}
		if err := r.report(l); err != nil {
			return capacity, err
		}
		if l.Answered == 0 {
			return capacity, fmt.Errorf("no query has an answer: %s", errorsText(l.Errors))
		}
		if l.Held {
			capacity = rate
		} else {
			failing = rate
		}
		switch {
		case capacity == 0:
			rate = failing / 2
		case math.IsInf(failing, 1):
			rate = capacity * 2
		default:
			rate = math.Sqrt(capacity * failing)
		}
		if failing < capacity*math.Exp2(1.01*precision) || rate < lowest || rate > highest || rate*r.opt.Length.Seconds()/float64(r.work.Batch) > mostRequests {
			return capacity, nil
		}
	}
}

// measure repeats windows at one rate until the latency is stable, or the server clearly does not
// sustain the rate.
func (r *run) measure(ctx context.Context, rate float64) (*Level, error) {
	var all []*window
	for {
		w, err := r.window(ctx, rate, r.opt.Length)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
		last := all[max(len(all)-agreeing, 0):]
		failed := 0
		for _, w := range last {
			if !w.held {
				failed++
			}
		}
		stable := len(last) == agreeing && agree(last)
		if failed > agreeing/2 || stable || len(all) == mostWindows {
			return r.level(rate, last, failed <= agreeing/2, stable), nil
		}
	}
}

// agree reports whether the median latencies of windows are about the same.
func agree(all []*window) bool {
	var medians []float64
	sum := 0.0
	for _, w := range all {
		median, _ := w.delays.Percentile(50)
		medians, sum = append(medians, median), sum+median
	}
	mean := sum / float64(len(medians))
	return slices.Max(medians)-slices.Min(medians) <= 2*max(agreement*mean, agreementLeast)
}

func (r *run) report(l *Level) error {
	if r.opt.Report == nil {
		return nil
	}
	return r.opt.Report(l)
}
