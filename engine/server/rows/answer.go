// Package rows has the rows that a request selects from, and the rows of an answer in their forms.
package rows

import (
	"bufio"
	"context"
	"encoding/binary"
	"iter"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/api"
	"heddle/engine/server/bodies"
	"heddle/engine/server/problem"
	"heddle/engine/table/rowset"
	"heddle/engine/table/values/arrow"
)

// Media types of rows. The first one is the default.
const (
	RawType     = "application/octet-stream"
	RoaringType = "application/x-roaring"
	RangesType  = "text/tab-separated-values" // first TAB last of each range of consecutive rows
)

// Types are all media types.
var Types = []string{bodies.JSON, bodies.Lines, RawType, RoaringType, RangesType, arrow.Type}

// Answer is the answer of a selection.
type Answer struct {
	Count    uint64
	IDs      []uint32        // ids of the first rows
	Large    []uint64        // the same, if a number has more than 32 bits
	Ranges   []Span          // the rows as ranges, if the caller asks for ranges; then the other forms are empty
	Set      *roaring.Bitmap // the rows, if the caller asks for all as a Roaring bitmap; then the other forms are empty
	Coverage *api.Coverage
}

// Span is a range of consecutive rows.
type Span struct{ First, Last uint64 }

const spanBytes = 16

// spans yields the rows as ranges, each as long as it is.
func (s *Answer) spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for _, x := range s.Ranges {
			if !yield(x) {
				return
			}
		}
		for i := 0; i < s.Len(); i++ {
			x := Span{s.At(i), s.At(i)}
			for i+1 < s.Len() && s.At(i+1) == x.Last+1 {
				i++
				x.Last++
			}
			if !yield(x) {
				return
			}
		}
	}
}

// Ranges returns the first rows of a bitset as ranges. It stops at the given numbers of rows and of ranges.
func Ranges(ctx context.Context, bits []uint64, rows uint64, most int) (all []Span, err error) {
	for first, last := range rowset.Ranges(bits) {
		n := min(uint64(last-first)+1, rows)
		if n == 0 {
			break
		}
		if len(all) == most {
			return nil, &problem.LimitError{Limit: "documents", Max: uint64(most)}
		}
		if len(all)%4096 == 0 {
			if err := problem.Take(ctx, 2*4096*spanBytes); err != nil {
				return nil, err
			}
		}
		all = append(all, Span{uint64(first), uint64(first) + n - 1})
		rows -= n
	}
	return all, nil
}

// Len is the number of rows that are not ranges.
func (s *Answer) Len() int { return len(s.IDs) + len(s.Large) }

// At is row i.
func (s *Answer) At(i int) uint64 {
	if s.Large != nil {
		return s.Large[i]
	}
	return uint64(s.IDs[i])
}

// Write writes the answer in the form of a media type.
func (s *Answer) Write(out *bufio.Writer, kind string, took float64) {
	switch kind {
	case bodies.JSON:
		s.writeJSON(out, took)
	case bodies.Lines:
		for i := range s.Len() {
			out.Write(append(strconv.AppendUint(out.AvailableBuffer(), s.At(i), 10), '\n'))
		}
	case RawType:
		for _, id := range s.IDs {
			out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), id))
		}
	case RoaringType:
		set := s.Set
		if set == nil {
			set = roaring.BitmapOf(s.IDs...)
			set.RunOptimize()
		}
		set.WriteTo(out)
	case RangesType:
		for x := range s.spans() {
			b := append(strconv.AppendUint(out.AvailableBuffer(), x.First, 10), '\t')
			out.Write(append(strconv.AppendUint(b, x.Last, 10), '\n'))
		}
	case arrow.Type:
		arrow.WriteRows(out, s.IDs)
	}
}

// writeJSON writes api.SelectResponse without a copy of the rows.
func (s *Answer) writeJSON(out *bufio.Writer, took float64) {
	out.Write(append(strconv.AppendUint(append(out.AvailableBuffer(), `{"count":`...), s.Count, 10), `,"rows":[`...))
	for i := range s.Len() {
		b := out.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		out.Write(strconv.AppendUint(b, s.At(i), 10))
	}
	out.Write(api.AppendNumber(append(out.AvailableBuffer(), `],"took_ms":`...), took))
	if s.Coverage != nil {
		out.Write(api.AppendJSON(append(out.AvailableBuffer(), `,"coverage":`...), s.Coverage))
	}
	out.WriteString("}\n")
}
