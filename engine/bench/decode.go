package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/hdl"
	"heddle/engine/plan"
)

// decodeWork is a set of parapfor lists with gaps of 1 to 256, 8 bits each.
type decodeWork struct {
	lists, length int
}

func (d decodeWork) String() string {
	return fmt.Sprintf("%d lists of %d, gaps of 8 bits", d.lists, d.length)
}

// source makes the lists and a one-term query for each.
func (d decodeWork) source(ctx context.Context, seed uint64) (*plan.Source, *hdl.Dictionary, []engine.Query, error) {
	src := &plan.Source{Docs: uint32(d.length)*256 + 1, Lists: make([]plan.List, d.lists)}
	encoded := make([][]uint32, d.lists)
	err := parallel(ctx, d.lists, func(s *scratch, h int) (err error) {
		r := newRandom(seed, streamGaps, uint64(h))
		doc := uint32(0)
		docs := s.positions[:0]
		for range d.length {
			doc += 1 + uint32(r.below(256))
			docs = append(docs, doc)
		}
		s.positions = docs
		encoded[h], err = codec.Append(nil, codec.ParaPFor, docs, codec.DefaultOptions())
		src.Lists[h] = plan.List{Codec: codec.ParaPFor, Len: uint32(d.length), Words: uint32(len(encoded[h]))}
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	src.Words = make([]uint32, place(src.Lists))
	var terms []string
	var queries []engine.Query
	for h, words := range encoded {
		copy(src.Words[src.Lists[h].Off:], words)
		terms = append(terms, fmt.Sprintf("t%06d", h))
		queries = append(queries, engine.Query{Terms: terms[h:]})
	}
	for h := range queries {
		queries[h].Terms = terms[h : h+1]
	}
	dict, err := hdl.NewDictionary(terms)
	return src, dict, queries, err
}

// Decode measures the decoding of parapfor lists to docIDs that are written out:
// long lists, and short ones, many in a batch. On a device it takes the device's
// own clock for the kernel; on the host the whole call, which also copies.
// It uses Backend, Device, Threads, Seed, Short, Runs and JSON of opt.
func Decode(ctx context.Context, opt ListsOptions, stdout, stderr io.Writer) (err error) {
	b, err := newListsBench(opt, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() { err = b.rows.close(err) }()
	opt = b.opt
	works := []decodeWork{{64, 1 << 20}, {100_000, 1000}}
	if opt.Short {
		works = []decodeWork{{8, 1 << 18}, {2000, 1000}}
	}
	for _, work := range works {
		src, dict, queries, err := work.source(ctx, opt.Seed)
		if err != nil {
			return err
		}
		b.dict, b.queries = dict, queries
		names, required := opt.backends()
		for _, name := range names {
			err := b.decode(ctx, work, src, name)
			if !required && errors.Is(err, plan.ErrNoDevice) {
				b.logf("%s left out: %v", name, err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// decode measures one set of lists on one backend.
func (b *listsBench) decode(ctx context.Context, work decodeWork, src *plan.Source, backend string) (err error) {
	ints := uint64(work.lists) * uint64(work.length)
	x, err := b.open(ctx, src, backend, engine.Options{Workers: 1, Profiling: true, BatchCandidates: ints})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	peak, err := b.peak(ctx, x)
	if err != nil {
		return err
	}
	// The first pass brings the docIDs back, to see that there are some. A device
	// then decodes the same batch again and again, without the copies that would
	// let it cool down between launches; the host has nothing but the whole call.
	repeats, opt := 1, engine.SearchOptions{}
	var rates []float64
	for run := range b.opt.Runs + 1 {
		var took time.Duration
		began := time.Now()
		for range repeats {
			err := x.SearchBatches(ctx, b.queries, opt, func(_ int, r *plan.Results) error {
				took += r.Stats.Decode
				if !opt.CountOnly && r.Docs[len(r.Docs)-1] == 0 {
					return errors.New("bench: the last list decoded to nothing")
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if took == 0 {
			took = time.Since(began)
		}
		if run > 0 { // the first one warms up
			rates = append(rates, float64(repeats)*float64(ints)/took.Seconds()/1e9)
		} else if backend != "host" {
			repeats, opt.CountOnly = 50, true
		}
	}
	// What must be moved: the words read, the docIDs written.
	bytes := 4 * (uint64(len(src.Words)) + ints)
	info := x.Backend()
	r := summarize(rates).into(Row{Bench: "decode", Workload: work.String(), Row: "parapfor", Backend: info.Kind, Device: info.Device,
		Metric: "decode", Unit: "G ints/s", Bytes: bytes})
	if peak > 0 {
		r.PeakFraction = r.Median * 1e9 / float64(ints) * float64(bytes) / peak
	}
	fmt.Fprintf(b.out, "%s on %s: %.2f G ints/s (%.2f to %.2f, %d runs), %d MB moved, %s of the copy bandwidth\n",
		work, info.Device, r.Median, r.Min, r.Max, r.Runs, bytes>>20, known("%.1f %%", 100*r.PeakFraction, peak > 0))
	return b.rows.write(r)
}
