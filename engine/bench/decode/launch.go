package decode

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// launch measures the decoder of a device alone, one launch of all lists after the other, to
// docIDs or to gaps. Every list is checked.
func (s *bench) launch(ctx context.Context, who harness.Contestant, id codec.ID, lists [][]uint32, gaps bool) (d decoding, err error) {
	src, err := workload.EncodeAll(ctx, workload.Universe(lists), lists, codec.DefaultOptions(), workload.Always(id))
	if err != nil {
		return d, err
	}
	b, err := s.Backend(ctx, who, harness.Profiled)
	if err != nil {
		return d, err
	}
	repeats := deviceRepeats
	if who.Info.Type != "gpu" {
		repeats = 2
	}
	decoded, times, err := b.Decode(ctx, src, gaps, (s.Opt.Runs+1)*repeats)
	if err != nil {
		return d, err
	}
	for h, want := range lists {
		if !equalDocs(decoded[h], want, gaps) {
			return d, fmt.Errorf("list %d as %s decodes to something else on %s", h, src.Lists[h].Codec, who)
		}
	}
	ints := float64(workload.Collection{Lists: lists}.Postings())
	d.bytes = 4 * (uint64(len(src.Words)) + uint64(ints))
	var rates []float64
	for run := range slices.Chunk(times[repeats:], repeats) { // the first run warms up
		var took time.Duration
		for _, t := range run {
			took += t
		}
		rates = append(rates, float64(repeats)*ints/took.Seconds()/1e9)
	}
	d.rate = measure.Summarize(rates)
	if peak := s.Peak(ctx, who); peak > 0 {
		d.peak = d.rate.Median * 1e9 / ints * float64(d.bytes) / peak
	}
	return d, nil
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
