package coordinator

import (
	"cmp"
	"context"
	"fmt"

	"heddle/engine/failure"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
)

// Score returns the score that q, which is ranked, gives to a document. A document that q does not match is an error with
// code NotFound. Members of q that choose an order, a page, other documents or parts of documents have no effect.
func (c *Coordinator) Score(ctx context.Context, index string, q *Query, id uint64) (out *part.Scored, err error) {
	ctx, cancel := c.Deadline(ctx, q.Timeout)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		out = new(part.Scored)
		words := query.Query{Text: q.Text, Terms: q.Terms}
		if id < x.Layout.Docs && !words.Wordless() {
			one := *q
			one.K, one.Offset, one.Total, one.CountOnly, one.After, one.Order, one.Filter, one.Fetch = 1, 0, 0, false, "", nil, nil, nil
			qs := []Query{one}
			s := &search{run: run{c, Reach{Collection: x}}, qs: qs, expanding: expanding(qs), order: make([]*order.Spec, 1)}
			if err := s.prepare(ctx); err != nil {
				return err
			}
			r, wrong := s.message(s.kindOf(0), []int{0})
			n := x.Layout.Find(id)
			pieces, err := Spread(ctx, &s.Reach, Fan{Size: 1, Shards: []int{n}}, func(ctx context.Context, f *Fan) ([]Piece[*part.Scored], []error) {
				return c.shards.Score(ctx, f, r, uint32(id-x.Layout.Shards[n].First))
			})
			refused, _ := s.refused(0)
			if err := cmp.Or(wrong[0], err, refused); err != nil {
				return err
			}
			out = pieces[0].Answer
		}
		if out.Why == nil {
			return &failure.Error{Code: failure.NotFound, Op: "explain score", Err: fmt.Errorf("the query does not match document %d", id)}
		}
		return nil
	})
	return out, err
}
