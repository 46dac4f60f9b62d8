package bitmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
)

// batchSizes are numbers of predicates per batch.
var batchSizes = []int{1, 16, 256}

func (s *bench) batchExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "batch", Title: "Predicates a second, by the size of batches",
		Ours: "Generated flights, 64 bins of about as many rows, 64-bit words. A predicate is delay BETWEEN a AND b AND distance BETWEEN c AND d, the ends drawn from the rows, so that bit slices select the rows. Text in, counts out, one batch at a time; each predicate is parsed. The scan looks at every row for each predicate, without branches, on all cores, and gives the counts that all must have.",
		Rows: "batch",
		Run: func(ctx context.Context) (err error) {
			f, err := s.newFlights()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.close()) }()
			file, err := f.build(ctx, tablebuild.Options{Settings: tablebuild.Settings{Binning: column.Quantile}, Word: 64}, "delay", "distance")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			b, err := s.newBatches(ctx, f)
			if err != nil {
				return err
			}
			return s.onTables(ctx, file, func(who harness.Contestant, t *table) error { return b.put(ctx, s, who, t) })
		},
	}
}

// batches are predicates on flights with the numbers of rows that they select.
type batches struct {
	where []string
	want  []uint32
	scan  float64 // predicates per second
}

func (s *bench) newBatches(ctx context.Context, f *flightFile) (*batches, error) {
	b := &batches{}
	r := rand.New(rand.NewPCG(s.Opt.Seed, 256))
	between := func(values []int16) [2]int16 {
		x, y := values[r.IntN(len(values))], values[r.IntN(len(values))]
		return [2]int16{min(x, y), max(x, y)}
	}
	var ends [][2][2]int16
	for range slices.Max(batchSizes) {
		e := [2][2]int16{between(f.delay), between(f.distance)}
		ends = append(ends, e)
		b.where = append(b.where, fmt.Sprintf("delay BETWEEN %d AND %d AND distance BETWEEN %d AND %d", e[0][0], e[0][1], e[1][0], e[1][1]))
	}
	b.want = make([]uint32, len(ends))
	began := time.Now()
	err := workload.Each(ctx, len(ends), func(i int) error {
		b.want[i] = f.count(ends[i][0], ends[i][1])
		return nil
	})
	b.scan = float64(len(ends)) / time.Since(began).Seconds()
	return b, err
}

// put measures a table.
func (b *batches) put(ctx context.Context, s *bench, who harness.Contestant, t *table) error {
	out := new(plan.Rows)
	for _, n := range batchSizes {
		at := 0
		time, err := s.Timed(func() error {
			if err := t.count(ctx, b.where[at:at+n], out); err != nil {
				return err
			}
			if want := b.want[at : at+n]; !slices.Equal(out.Counts, want) {
				return fmt.Errorf("predicates from %d: %d rows, a scan has %d", at, out.Counts, want)
			}
			at = (at + n) % len(b.where)
			return nil
		})
		if err != nil {
			return err
		}
		rate := float64(n) * 1e6
		r := harness.Reading{Panel: "flights", Series: who.String(), At: fmt.Sprint(n), Row: time.Per(rate).
			Into(measure.Row{Metric: "throughput", Unit: "predicates/s", Baseline: "scan", Ratio: rate / time.Median / b.scan})}
		s.Put(who.On(r))
	}
	return nil
}

// rangeWidths are widths of ranges, in bins of 64.
var rangeWidths = []int{1, 2, 4, 8, 16, 32, 48, 62}

const rangesEach = 8 // ranges of each width

func (s *bench) encodingsExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "encodings", Title: "Ranges under the encodings",
		Ours: "Distances of generated flights in 64 bins, 64-bit words; ranges that begin and end with bins, each by itself, counts. Equality reads a vector a bin, or the vectors of all other bins if these are fewer; range and interval at most two.",
		Rows: "bins",
		Run: func(ctx context.Context) (err error) {
			f, err := s.newFlights()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.close()) }()
			for _, e := range []column.Encoding{column.Equality, column.Range, column.Interval} {
				if err := s.putEncoding(ctx, f, e); err != nil {
					return fmt.Errorf("%s: %w", e, err)
				}
			}
			return nil
		},
	}
}

// putEncoding measures ranges of one encoding.
func (s *bench) putEncoding(ctx context.Context, f *flightFile, e column.Encoding) (err error) {
	file, err := f.build(ctx, tablebuild.Options{Settings: tablebuild.Settings{Binning: column.Quantile, Encoding: e}, Word: 64}, "distance")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	vectors, _ := file.ColumnSize(0)
	size := float64(vectors) / float64(file.Rows())
	s.Put(harness.Reading{Panel: "size", Series: e.String(), At: "all", Row: measure.Row{Metric: "size", Unit: "bytes/row", Median: size, Min: size, Max: size, Runs: 1}})
	c := &file.Columns()[0]
	read := false // vectors are counted once
	return s.onTables(ctx, file, func(who harness.Contestant, t *table) error {
		out := new(plan.Rows)
		for _, width := range rangeWidths {
			r := rand.New(rand.NewPCG(s.Opt.Seed, uint64(width)))
			var ranges []prepared
			var want []uint32
			vectors := 0.0
			for range rangesEach {
				from := r.IntN(max(len(c.Bins)-width, 0) + 1)
				to := min(from+width, len(c.Bins)) - 1
				p, err := t.prepare(ctx, fmt.Sprintf("distance BETWEEN %s AND %s", c.Format(c.Bins[from].Lo), c.Format(c.Bins[to].Hi)))
				if err != nil {
					return err
				}
				ranges, vectors = append(ranges, p), vectors+float64(p.vectors())
				want = append(want, uint32(c.Rows([]column.Run{{From: from, To: to}})))
			}
			time, err := s.Timed(func() error {
				for i := range ranges {
					if err := t.countPrepared(ctx, ranges[i], out); err != nil {
						return err
					}
					if out.Counts[0] != want[i] {
						return fmt.Errorf("%s: %d rows, its bins have %d", ranges[i], out.Counts[0], want[i])
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			at := fmt.Sprint(width)
			row := time.Times(1.0 / rangesEach).Into(measure.Row{Metric: "time", Unit: "µs"})
			s.Put(who.On(harness.Reading{Panel: who.String(), Series: e.String(), At: at, Row: row}))
			if vectors /= rangesEach; !read {
				r := harness.Reading{Panel: "vectors read", Series: e.String(), At: at, Row: measure.Row{Metric: "vectors", Unit: "vectors", Median: vectors, Min: vectors, Max: vectors, Runs: rangesEach}}
				s.Put(r)
			}
		}
		read = true
		return nil
	})
}
