package decode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// decoding is the speed of a codec on a set of lists.
type decoding struct {
	rate  measure.Summary // G docIDs per second
	bytes uint64          // words read and docIDs written in one pass
	peak  float64         // fraction of the copy bandwidth
}

// into fills a row.
func (d decoding) into(r measure.Row) measure.Row {
	r.Metric, r.Unit, r.Bytes, r.PeakFraction = "decode", "G ints/s", d.bytes, d.peak
	return d.rate.Into(r)
}

// decode measures the speed at which lists in an encoding become docIDs in memory. The
// host uses codec.List.AppendTo on a number of threads; a device is timed by its own
// clock for the kernel. Every list is checked first.
func (s *bench) decode(ctx context.Context, who harness.Contestant, threads int, id codec.ID, opt codec.Options, lists [][]uint32) (decoding, error) {
	src, err := workload.EncodeAll(ctx, workload.Universe(lists), lists, opt, workload.Always(id))
	if err != nil {
		return decoding{}, err
	}
	ints := workload.Collection{Lists: lists}.Postings()
	d := decoding{bytes: 4 * (uint64(len(src.Words)) + ints)}
	peak := 0.0
	if who.Name == "host" {
		peak = s.Peak(ctx, who)
		d.rate, err = s.decodeHost(ctx, src, lists, threads)
	} else {
		d.rate, peak, err = s.decodeDevice(ctx, who, src, lists, ints)
	}
	if peak > 0 && ints > 0 {
		d.peak = d.rate.Median * 1e9 / float64(ints) * float64(d.bytes) / peak
	}
	return d, err
}

// decodeHost decodes all lists on threads, each into its own memory.
func (s *bench) decodeHost(ctx context.Context, src *plan.Source, lists [][]uint32, threads int) (measure.Summary, error) {
	pass := func(check bool) error {
		return workload.OnThreads(ctx, threads, len(lists), func(docs *[]uint32, h int) (err error) {
			if *docs, err = src.List(plan.Handle(h)).AppendTo((*docs)[:0]); err == nil && check && !slices.Equal(*docs, lists[h]) {
				err = errors.New("decodes to something else")
			}
			if err != nil {
				return fmt.Errorf("list %d as %s: %w", h, src.Lists[h].Codec, err)
			}
			return nil
		})
	}
	if err := pass(true); err != nil {
		return measure.Summary{}, err
	}
	var rates []float64
	for range s.Opt.Runs {
		passes, began := 0, time.Now()
		for passes == 0 || time.Since(began) < s.LeastTime() {
			if err := pass(false); err != nil {
				return measure.Summary{}, err
			}
			passes++
		}
		rates = append(rates, float64(passes)*float64(workload.Collection{Lists: lists}.Postings())/time.Since(began).Seconds()/1e9)
	}
	return measure.Summarize(rates), nil
}

// deviceRepeats is the number of consecutive launches in a run: with copies in between,
// the device would lower its clock.
const deviceRepeats = 50

// decodeDevice puts one query per list, all in one batch: between two launches of the decoder
// other kernels read the docIDs.
func (s *bench) decodeDevice(ctx context.Context, who harness.Contestant, src *plan.Source, lists [][]uint32, ints uint64) (rate measure.Summary, peak float64, err error) {
	terms := make([]string, len(lists))
	queries := make([]workload.Query, len(lists))
	for h := range terms {
		terms[h] = fmt.Sprintf("t%08d", h)
		queries[h].Terms = terms[h : h+1]
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		return rate, 0, err
	}
	x, err := harness.NewIndex(ctx, s.Runner, who, 0, harness.Profiled, src, dict)
	if err != nil {
		return rate, 0, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	peak = s.Peak(ctx, who)
	if err := x.Match(ctx, queries, harness.MatchOptions{Candidates: 2*ints + 2}, func(first int, hits []harness.Hits) error {
		for i, h := range hits {
			if !slices.Equal(h.Docs, lists[first+i]) {
				return fmt.Errorf("list %d as %s decodes to something else on %s", first+i, src.Lists[first+i].Codec, who)
			}
		}
		return nil
	}); err != nil {
		return rate, 0, err
	}
	repeats := deviceRepeats
	if who.Info.Type != "gpu" {
		repeats = 2
	}
	var rates []float64
	for run := range s.Opt.Runs + 1 {
		var took time.Duration
		for range repeats {
			var stats plan.Stats
			opt := harness.MatchOptions{CountOnly: true, Candidates: 2*ints + 2, Stats: &stats}
			if err := x.Match(ctx, queries, opt, func(int, []harness.Hits) error { return nil }); err != nil {
				return rate, 0, err
			}
			took += stats.Decode
		}
		if run > 0 && took > 0 { // the first run warms up
			rates = append(rates, float64(repeats)*float64(ints)/took.Seconds()/1e9)
		}
	}
	return measure.Summarize(rates), peak, nil
}
