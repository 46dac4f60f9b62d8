package build

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"heddle/codec"
	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// A sample decides the size of words, and the columns without a vector for each bin: a number of windows of
// consecutive rows, each a whole number of groups.
const (
	sampleWindows = 8
	sampleRows    = 8 * groupRows
)

// sizes are the words of the vectors of a column in the sample, by the size of words.
type sizes struct{ narrow, wide uint64 }

// shape drops the vectors of bins that do not pay, and chooses the size of words, in bits.
func (b *builder) shape(ctx context.Context, columns []*planned) (word int, err error) {
	all, failed := make([]sizes, len(columns)), make([]error, 2*len(columns))
	read.Parallel(len(failed), func(i int) {
		if c, s := columns[i/2], &all[i/2]; i%2 == 0 {
			s.narrow, failed[i] = vectorWords[uint32](ctx, b, c)
		} else if b.opt.Word == 0 {
			s.wide, failed[i] = vectorWords[uint64](ctx, b, c)
		}
	})
	if err := errors.Join(failed...); err != nil {
		return 0, err
	}
	var sum sizes
	for i, c := range columns {
		scattered, why := c.scattered(all[i].narrow)
		if c.reason = why; scattered {
			c.Encoding = column.None
			continue
		}
		sum.narrow, sum.wide = sum.narrow+all[i].narrow, sum.wide+all[i].wide
	}
	switch {
	case b.opt.Word != 0:
		return b.opt.Word, nil
	case 20*2*sum.wide <= 21*sum.narrow:
		return 64, nil
	}
	return 32, nil
}

// sample is the windows of a column.
func (p *planned) sample() []window {
	if p.rows <= sampleWindows*sampleRows {
		return []window{{0, p.rows}}
	}
	var windows []window
	for i := range uint64(sampleWindows) {
		from := i * (p.rows - sampleRows) / (sampleWindows - 1)
		windows = append(windows, window{from, from + sampleRows})
	}
	return windows
}

// leastRows is the number of rows from which on a column may lose the vectors of its bins: smaller vectors cost nothing.
const leastRows = 4 * bitslice.TileRows

// wordRows is the number of rows whose codes have as many bits, for each bit of their width, as a word of a vector.
// Vectors that take more bits than the codes are left out. Medians of CPU time, ns for 1,000 rows, of vectors and slices
// in pure Go, and in PoCL, for a quarter of the bins (RESULTS.md, "Vectors of bins beside slices"):
//
//	values  runs of  bits a row: vectors, codes  pure Go    PoCL
//	     2        1  2.06, 1                     24,  66    21,  69
//	    16        1  16.2, 4                     25, 166    29, 103
//	    16       32  2.84, 4                     43, 166    83, 108
//	    64        1  41.1, 6                     76, 230    337, 138
//	    64       32  2.98, 6                     70, 220    52, 116
//	 1,000       32  2.97, 10                    71, 284    54, 126
//	 1,000    2,048  0.08, 10                    16,  88    24,  71
const wordRows = 32

// scattered reports that the vectors of bins do not pay, by their number of words of 32 bits in the sample, and why: that
// they take more bits than the codes, or that the bins are quantiles and the rows of a bin lie in half of all segments or
// more, so that a vector is nearly as large as a bit slice. Bins that the caller asked for stay.
func (p *planned) scattered(words uint64) (yes bool, why string) {
	bins, rows := uint64(len(p.upper)), min(p.rows, sampleWindows*sampleRows)
	switch {
	case bins < 2:
		return false, ""
	case !p.auto || p.Encoding != column.Equality:
		return false, "asked for"
	case p.Binning == column.Quantile && words*2*codec.SegmentLen >= bins*rows:
		return true, fmt.Sprintf("the rows of a quantile lie in %d %% of all pieces of %d rows", min(100, 100*words*codec.SegmentLen/(bins*rows)), codec.SegmentLen)
	case p.rows < leastRows:
		return false, "few rows"
	}
	width := uint64(bits.Len64(p.upper[bins-1]))
	return words*wordRows > rows*width, fmt.Sprintf("vectors have %.3g bits a row, codes %d", float64(32*words)/float64(rows), width)
}

// vectorWords is the number of words of the vectors of a column, in its sample.
func vectorWords[W wah.Word](ctx context.Context, b *builder, c *planned) (n uint64, err error) {
	windows := c.sample()
	p := newPile[W](b, c, len(windows))
	defer p.release()
	var s sorter[W]
	for i, w := range windows {
		if err := s.make(ctx, p, i, w); err != nil {
			return 0, err
		}
	}
	err = p.encode(ctx, c.Encoding, func(words []W) error {
		n += uint64(len(words))
		return nil
	})
	return n, err
}
