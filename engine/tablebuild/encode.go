package tablebuild

import (
	"context"

	"heddle/codec/wah"
	"heddle/engine/column"
)

// encode calls f with the vectors of a column, in order: those of the encoding of its
// bins that have rows, which it gives, then that of rows without a value. They are made
// of the vectors of the bins by a few operations on compressed words each.
func (p *pile[W]) encode(ctx context.Context, e column.Encoding, f func(words []W) error) error {
	x := encoder[W]{p: p}
	for i, b := range p.bins {
		if b.Rows > 0 {
			x.bins = append(x.bins, i)
		}
	}
	n := len(x.bins)
	first := 1 // bins of the first vector
	if e == column.Interval {
		first = column.Span(n)
	}
	for i := range e.Vectors(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case i == 0:
			for j := range first {
				x.or(j)
			}
		case e == column.Equality:
			x.sum = x.sum[:0]
			x.or(i)
		case e == column.Range:
			x.or(i)
		default:
			x.without(i - 1)
			x.or(i - 1 + first)
		}
		if x.err != nil {
			return x.err
		}
		if err := f(x.sum); err != nil {
			return err
		}
	}
	if p.missing == 0 {
		return nil
	}
	words, err := p.vector(x.buf, len(p.bins))
	if err != nil {
		return err
	}
	return f(words)
}

// encoder adds up vectors.
type encoder[W wah.Word] struct {
	p              *pile[W]
	bins           []int // with rows
	sum, next, buf []W
	err            error
}

func (x *encoder[W]) vector(i int) []W {
	if x.err == nil {
		x.buf, x.err = x.p.vector(x.buf, x.bins[i])
	}
	return x.buf
}

// or adds bin i of those with rows to the sum.
func (x *encoder[W]) or(i int) {
	if len(x.sum) == 0 {
		x.sum = append(x.sum, x.vector(i)...)
		return
	}
	x.sum, x.next = wah.Or(x.next[:0], x.sum, x.vector(i)), x.sum
}

// without takes bin i off it.
func (x *encoder[W]) without(i int) {
	x.sum, x.next = wah.AndNot(x.next[:0], x.sum, x.vector(i)), x.sum
}
