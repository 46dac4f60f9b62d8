package coordinator

import (
	"context"
	"slices"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/suggest"
)

// Suggest returns the terms with a beginning that the most documents have: see suggest.Prefix.
func (c *Coordinator) Suggest(ctx context.Context, index, prefix string, most int) (all []suggest.Term, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) (err error) {
		all, err = suggest.Prefix((&run{c, Reach{Collection: x}}).expanded(ctx), prefix, most)
		return err
	})
	return all, err
}

// Corrections returns terms in place of the words of a query that no document has: see suggest.Correct.
func (c *Coordinator) Corrections(ctx context.Context, index string, q *Query) (all []suggest.Correction, err error) {
	ctx, cancel := c.Deadline(ctx, q.Timeout)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		r, plain := &run{c, Reach{Collection: x}}, *q
		if e := expanding([]Query{*q})[0]; e != nil {
			plain.Text = querylang.Expr{Op: querylang.Or, Args: words(nil, e)}.String()
		}
		f, err := r.facts(ctx, []Query{plain}, []*querylang.Expr{nil}, nil)
		if err != nil {
			return err
		}
		var terms []string
		var df []uint64
		for _, k := range f.known {
			if k.err != nil {
				return k.err
			}
			terms, df = append(terms, k.terms...), append(df, k.df...)
		}
		all, err = suggest.Correct(r.expanded(ctx), terms, df, len(f.fields) > 0)
		return err
	})
	return all, err
}

// words appends the words and phrases of an expression to all: prefixes and tolerant words stand for terms of the index, also of
// deleted documents, and excluded words count not.
func words(all []querylang.Expr, e *querylang.Expr) []querylang.Expr {
	args := e.Args
	switch {
	case e.Op == querylang.Term:
		return append(all, *e)
	case e.Positional():
		one := *e
		one.Args = slices.DeleteFunc(slices.Clone(args), func(a querylang.Expr) bool { return a.Op == querylang.Prefix })
		if len(one.Args) > 0 {
			all = append(all, one)
		}
		return all
	case e.Op == querylang.Not:
		args = args[:1]
	}
	for i := range args {
		all = words(all, &args[i])
	}
	return all
}

// expanded returns the terms of a prefix or tolerant word from all shards.
func (r *run) expanded(ctx context.Context) suggest.Expand {
	return func(word string) ([]string, []uint64, error) {
		qs := []Query{{Text: word}}
		f, err := r.facts(ctx, qs, expanding(qs), nil)
		if err != nil {
			return nil, nil, err
		}
		k := f.known[0]
		return k.terms, k.df, k.err
	}
}
