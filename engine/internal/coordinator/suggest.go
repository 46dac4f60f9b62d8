package coordinator

import (
	"context"

	"heddle/engine/failure"
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
	return all, failure.Wrap("suggest", err)
}

// Corrections returns terms in place of the words of a query that no document has: see suggest.Correct.
func (c *Coordinator) Corrections(ctx context.Context, index string, q *Query) (all []suggest.Correction, err error) {
	ctx, cancel := c.Deadline(ctx, q.Timeout)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		r, words, e := &run{c, Reach{Collection: x}}, *q, correctable(q)
		if e != nil {
			if words.Literal = false; len(e.Args) == 0 {
				return nil
			}
		}
		f, err := r.facts(ctx, []Query{words}, []*querylang.Expr{e}, nil)
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
	return all, failure.Wrap("corrections", err)
}

// correctable returns an Or of the words of a query that add to scores, in their order, those of phrases behind the others; nil for terms
// and for wrong texts. Prefixes and tolerant words stand for terms of the index, also of deleted documents.
func correctable(q *Query) *querylang.Expr {
	if q.Text == "" {
		return nil
	}
	e, err := querylang.Words(q.Text, querylang.Or), error(nil)
	if !q.Literal {
		e, err = querylang.Parse(q.Text, q.Match.Join())
	}
	fields, wrong := querylang.ParseFields(q.Fields)
	if err != nil || wrong != nil {
		return nil
	}
	if len(fields) > 0 {
		e, _ = e.InFields(fields)
	}
	var words, inPhrases []querylang.Expr
	var add func(e *querylang.Expr)
	add = func(e *querylang.Expr) {
		args := e.Args
		switch {
		case e.Op == querylang.Term:
			words = append(words, *e)
		case e.Positional():
			for _, a := range args {
				if a.Field = e.Field; a.Op == querylang.Term {
					inPhrases = append(inPhrases, a)
				}
			}
			return
		case e.Op == querylang.Not:
			args = args[:1]
		}
		for i := range args {
			add(&args[i])
		}
	}
	add(&e)
	return &querylang.Expr{Op: querylang.Or, Args: append(words, inPhrases...)}
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
