package bitmap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/hdb"
)

func (s *bench) buildExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "build", Title: "Building tables of CSV",
		Ours: "Generated flights, five columns, 64 bins at most, of integers and airport codes; the file is in memory. Sizes are bytes a row of a column: of its vectors, of the same vectors as run-optimized Roaring bitmaps, and of the stored values.",
		Rows: "words",
		Run: func(ctx context.Context) (err error) {
			f, err := s.newFlights()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.close()) }()
			for _, word := range []int{64, 32} {
				if err := s.putBuild(ctx, f, word); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// putBuild measures the build of a table and its size.
func (s *bench) putBuild(ctx context.Context, f *flightFile, word int) error {
	// a build uses all threads of the runtime
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.Opt.Threads))
	var rates []float64
	for range s.Opt.Runs + 1 {
		began := time.Now()
		table, err := f.build(ctx, tablebuild.Options{Word: word})
		if err != nil {
			return err
		}
		rates = append(rates, float64(f.bytes)/1e6/time.Since(began).Seconds())
		if len(rates) <= s.Opt.Runs {
			if err := errors.Join(table.Close(), os.Remove(table.Path())); err != nil {
				return err
			}
			continue
		}
		if err := errors.Join(s.putColumns(ctx, table), table.Close()); err != nil {
			return err
		}
	}
	r := harness.Reading{Panel: fmt.Sprintf("time, %d threads", s.Opt.Threads), Series: "CSV", At: fmt.Sprintf("wah%d", word),
		Row: measure.Summarize(rates[1:]).Into(measure.Row{Workload: "flights", Metric: "throughput", Unit: "MB/s", Bytes: uint64(f.bytes)})}
	s.Put(r)
	return nil
}

// putColumns records the sizes of the columns of a table.
func (s *bench) putColumns(ctx context.Context, table *hdb.File) error {
	set := &set{table: table.Table()}
	rows := float64(table.Rows())
	for i, c := range table.Columns() {
		peer := make([]uint64, c.Vectors())
		err := workload.Each(ctx, len(peer), func(v int) error {
			bits, err := set.table.Bitset(c.Vector + uint32(v))
			if err != nil {
				return err
			}
			b := roaring.FromDense(bits, false)
			b.RunOptimize()
			peer[v] = b.GetSizeInBytes()
			return nil
		})
		if err != nil {
			return err
		}
		theirs := uint64(0)
		for _, n := range peer {
			theirs += n
		}
		vectors, values := table.ColumnSize(i)
		word := fmt.Sprintf("wah%d", set.table.Word())
		put := func(series string, n float64, of measure.Row) {
			of.Row, of.Workload, of.Metric, of.Unit, of.Runs = series+" of "+c.Name, "flights", "size", "bytes/row", 1
			of.Median, of.Min, of.Max, of.Bytes = n/rows, n/rows, n/rows, uint64(n)
			s.Put(harness.Reading{Panel: "size of columns", Series: series, At: fmt.Sprintf("%s, %d bins", c.Name, len(c.Bins)), Row: of})
		}
		put(word, float64(vectors), measure.Row{Baseline: "roaring", Ratio: float64(vectors) / float64(theirs)})
		if set.table.Word() == 64 {
			put("roaring", float64(theirs), measure.Row{})
			put("values", float64(values), measure.Row{})
		}
	}
	return nil
}
