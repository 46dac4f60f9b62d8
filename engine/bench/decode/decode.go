package decode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
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
// clock for the kernel. Every list is checked.
func (s *bench) decode(ctx context.Context, who harness.Contestant, threads int, id codec.ID, opt codec.Options, lists [][]uint32) (decoding, error) {
	return s.decodeTo(ctx, who, threads, id, opt, lists, false)
}

// decodeTo is decode, on a device with gaps in place of docIDs if gaps is true.
func (s *bench) decodeTo(ctx context.Context, who harness.Contestant, threads int, id codec.ID, opt codec.Options, lists [][]uint32, gaps bool) (decoding, error) {
	src, err := workload.EncodeAll(ctx, workload.Universe(lists), lists, opt, workload.Always(id))
	if err != nil {
		return decoding{}, err
	}
	ints := workload.Collection{Lists: lists}.Postings()
	d := decoding{bytes: 4 * (uint64(len(src.Words)) + ints)}
	if who.Name == "host" {
		d.rate, err = decodeHost(ctx, src, lists, threads, s.Opt.Runs)
	} else {
		d.rate, err = s.decodeDevice(ctx, who, src, lists, gaps)
	}
	if peak := s.Peak(ctx, who); peak > 0 && ints > 0 {
		d.peak = d.rate.Median * 1e9 / float64(ints) * float64(d.bytes) / peak
	}
	return d, err
}

// decodeHost decodes all lists on threads, each into its own memory.
func decodeHost(ctx context.Context, src *plan.Source, lists [][]uint32, threads, runs int) (measure.Summary, error) {
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
	for range runs {
		passes, began := 0, time.Now()
		for passes == 0 || time.Since(began) < measure.LeastTime {
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

// decodeDevice decodes all lists in one launch.
func (s *bench) decodeDevice(ctx context.Context, who harness.Contestant, src *plan.Source, lists [][]uint32, gaps bool) (measure.Summary, error) {
	b, err := s.Backend(ctx, who, harness.Profiled)
	if err != nil {
		return measure.Summary{}, err
	}
	repeats := deviceRepeats
	if who.Info.Type != "gpu" {
		repeats = 2
	}
	decoded, times, err := b.Decode(ctx, src, gaps, (s.Opt.Runs+1)*repeats)
	if err != nil {
		return measure.Summary{}, err
	}
	for h, want := range lists {
		if !equalDocs(decoded[h], want, gaps) {
			return measure.Summary{}, fmt.Errorf("list %d as %s decodes to something else on %s", h, src.Lists[h].Codec, who)
		}
	}
	var rates []float64
	for run := range slices.Chunk(times[repeats:], repeats) { // the first run warms up
		var took time.Duration
		for _, t := range run {
			took += t
		}
		rates = append(rates, float64(repeats)*float64(workload.Collection{Lists: lists}.Postings())/took.Seconds()/1e9)
	}
	return measure.Summarize(rates), nil
}

// equalDocs tells whether decoded has docIDs, or the gaps between them as cl.Backend.Decode
// writes them.
func equalDocs(decoded, docs []uint32, gaps bool) bool {
	if !gaps || len(decoded) != len(docs) {
		return slices.Equal(decoded, docs)
	}
	before := uint32(math.MaxUint32)
	for i, doc := range docs {
		if decoded[i] != doc-before-1 {
			return false
		}
		before = doc
	}
	return true
}
