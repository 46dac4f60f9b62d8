package hostfallback

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/work"
)

// realSets are the sets of bitmaps from real tables that BenchmarkReal reads.
var realSets = []string{"census-income", "census-income_srt", "census1881", "census1881_srt", "dimension_003", "dimension_008", "dimension_033", "uscensus2000",
	"weather_sept_85", "weather_sept_85_srt", "wikileaks-noquotes", "wikileaks-noquotes_srt"}

// BenchmarkReal intersects successive lists and unites all lists of real sets, in turns with
// Roaring, on -gov.threads cores each. -gov.only selects contenders. The unit is microseconds,
// the median over the rounds. HEDDLE_REAL_ROARING is the folder of the module
// github.com/RoaringBitmap/real-roaring-datasets.
func BenchmarkReal(b *testing.B) {
	dir := os.Getenv("HEDDLE_REAL_ROARING")
	if dir == "" {
		b.Skip("HEDDLE_REAL_ROARING does not name the folder with the sets")
	}
	for _, name := range realSets {
		b.Run(name, func(b *testing.B) {
			lists, err := readSet(filepath.Join(dir, name+".zip"))
			if err != nil {
				b.Fatal(err)
			}
			benchmarkReal(b, lists)
		})
	}
}

func benchmarkReal(b *testing.B, lists [][]uint32) {
	src := &plan.Source{}
	bitmaps := make([]*roaring.Bitmap, len(lists))
	var handles []plan.Handle
	for i, docs := range lists {
		bitmaps[i] = roaring.BitmapOf(docs...)
		bitmaps[i].RunOptimize()
		if len(docs) > 0 {
			src.Docs = max(src.Docs, docs[len(docs)-1]+1)
		}
		h, err := src.Append(codec.Raw, docs, codec.DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		handles = append(handles, h)
	}
	st := open(b, src, Options{Threads: *govThreads})
	pairs := &plan.MatchBatch{}
	for h := range len(handles) - 1 {
		pairs.Add(src, handles[h], handles[h+1])
	}
	counts := *pairs
	counts.CountOnly = true
	var out plan.Results
	and := func(batch *plan.MatchBatch) func() uint64 {
		return func() uint64 {
			if err := st.Match(b.Context(), batch, &out); err != nil {
				b.Fatal(err)
			}
			return out.Stats.Matches
		}
	}
	pairwise := func(f func(x, y *roaring.Bitmap) uint64) func() uint64 {
		return func() uint64 {
			var n atomic.Uint64
			_ = work.Parallel(context.Background(), *govThreads, 8**govThreads, func(_, part int) error {
				k := len(bitmaps) - 1
				sum := uint64(0)
				for i := part * k / (8 * *govThreads); i < (part+1)*k/(8**govThreads); i++ {
					sum += f(bitmaps[i], bitmaps[i+1])
				}
				n.Add(sum)
				return nil
			})
			return n.Load()
		}
	}
	or := func(countOnly bool) func() uint64 {
		all := plan.Expr{Op: plan.OpOr}
		for h := range handles {
			all.Args = append(all.Args, plan.Expr{Op: plan.OpList, List: uint32(h)})
		}
		f := &plan.MatchBatch{CountOnly: countOnly}
		if err := f.AddExpr(src, all); err != nil {
			b.Fatal(err)
		}
		var out plan.Results
		return func() uint64 {
			if err := st.Match(b.Context(), f, &out); err != nil {
				b.Fatal(err)
			}
			return out.Stats.Matches
		}
	}
	for _, group := range [][]*contender{{
		{name: "and", run: and(pairs)},
		{name: "and-roaring", run: pairwise(func(x, y *roaring.Bitmap) uint64 { return roaring.And(x, y).GetCardinality() })},
		{name: "and-count", run: and(&counts)},
		{name: "and-count-roaring", run: pairwise(func(x, y *roaring.Bitmap) uint64 { return x.AndCardinality(y) })},
	}, {
		{name: "or", run: or(false)},
		{name: "or-count", run: or(true)},
		{name: "or-roaring-fast", run: func() uint64 { return roaring.FastOr(bitmaps...).GetCardinality() }},
		{name: "or-roaring-fast-docs", run: func() uint64 { return uint64(len(roaring.FastOr(bitmaps...).ToArray())) }},
		{name: "or-roaring-par", run: func() uint64 { return roaring.ParOr(2, bitmaps...).GetCardinality() }},
	}} {
		group = slices.DeleteFunc(group, func(c *contender) bool { return !regexp.MustCompile(*govOnly).MatchString(c.name) })
		if len(group) == 0 {
			continue
		}
		want := group[0].run()
		for _, c := range group {
			if got := c.run(); got != want {
				b.Fatalf("%s found %d, want %d", c.name, got, want)
			}
		}
		for range max(b.N, 30) {
			for _, c := range group {
				start := time.Now()
				c.run()
				c.took = append(c.took, time.Since(start).Seconds())
			}
		}
		for _, c := range group {
			b.ReportMetric(median(c.took)*1e6, c.name+"-µs")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// readSet reads a zip file of lists of numbers separated by commas.
func readSet(path string) (lists [][]uint32, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		in := bufio.NewReader(r)
		var docs []uint32
		for {
			text, err := in.ReadString(',')
			if text = strings.Trim(text, ", \n\r"); text != "" {
				x, err := strconv.ParseUint(text, 10, 32)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", f.Name, err)
				}
				docs = append(docs, uint32(x))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		if !slices.IsSorted(docs) {
			return nil, fmt.Errorf("%s does not ascend", f.Name)
		}
		lists = append(lists, docs)
	}
	return lists, nil
}
