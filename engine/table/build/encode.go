package build

import (
	"context"

	"heddle/codec/wah"
	"heddle/engine/table/column"
)

// encode calls f with the vectors of a column in order: the vectors of its bins with
// rows, then the vector of rows without a value. Each is computed from the vectors of
// the bins by a few operations on compressed words.
func (p *pile[W]) encode(ctx context.Context, e column.Encoding, f func(words []W) error) error {
	x := encoder[W]{p: p}
	for i, b := range p.bins {
		if b.Rows > 0 {
			x.bins = append(x.bins, i)
		}
	}
	n := len(x.bins)
	for i := range e.Vectors(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		words := x.next(e, i)
		if x.err != nil {
			return x.err
		}
		if err := f(words); err != nil {
			return err
		}
	}
	if p.missing == 0 {
		return nil
	}
	words, err := p.vector(x.buf, p.sets)
	if err != nil {
		return err
	}
	return f(words)
}

// encoder computes the vectors of an encoding one after another.
type encoder[W wah.Word] struct {
	p               *pile[W]
	bins            []int // numbers of the bins with rows
	sum, other, buf []W
	err             error
}

// next makes vector i, behind vector i-1.
func (x *encoder[W]) next(e column.Encoding, i int) []W {
	first := 1 // bins of the first vector
	switch {
	case e == column.None:
		x.buf, x.err = x.p.vector(x.buf, 0)
		return x.buf
	case e == column.Equality:
		return x.vector(i)
	case e == column.Interval:
		first = column.Span(len(x.bins))
	}
	if i == 0 {
		for j := range first {
			x.or(j)
		}
		return x.sum
	}
	if e == column.Interval {
		x.sum, x.other = wah.AndNot(x.other[:0], x.sum, x.vector(i-1)), x.sum
	}
	x.or(i - 1 + first)
	return x.sum
}

// vector is the vector of bin i, counted among the bins with rows.
func (x *encoder[W]) vector(i int) []W {
	if x.err == nil {
		x.buf, x.err = x.p.vector(x.buf, x.bins[i])
	}
	return x.buf
}

// or adds bin i, counted among the bins with rows, to the sum.
func (x *encoder[W]) or(i int) {
	x.sum, x.other = wah.Or(x.other[:0], x.sum, x.vector(i)), x.sum
}
