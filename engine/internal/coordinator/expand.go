package coordinator

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"heddle/engine/failure"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/query"
	"heddle/engine/syntax"
)

// expanding returns the expressions of queries with prefixes or tolerant words; nil for other queries, and for wrong
// texts.
func expanding(qs []Query) []*querylang.Expr {
	all := make([]*querylang.Expr, len(qs))
	for i := range qs {
		all[i] = expression(&qs[i])
	}
	return all
}

func expression(q *Query) *querylang.Expr {
	if q.Literal || !strings.ContainsAny(q.Text, querylang.Tolerance) {
		return nil
	}
	e, err := querylang.Read(q.Text, q.Match.Join())
	if e == nil || err != nil || !expands(e, false) {
		return nil
	}
	return e
}

// expands tells whether an expression has a prefix or tolerant word, or one that adds to scores.
func expands(e *querylang.Expr, scored bool) bool {
	args := e.Args
	if e.Op == querylang.Not && scored {
		args = args[:1] // the other terms are excluded
	}
	for i := range args {
		if expands(&args[i], scored) {
			return true
		}
	}
	return e.Expands()
}

// leafText is the text of a leaf, with the prefix length of the query.
func leafText(leaf querylang.Expr, q *Query) string {
	leaf.Weight = 0
	if leaf.Op == querylang.Expand {
		leaf.Term = querylang.WithFixed(leaf.Term, q.Expansion.Fixed)
	}
	return leaf.String()
}

// errExpansion is the error of a query whose scale would depend on the terms of each shard.
var errExpansion = &failure.Error{Code: failure.Unsupported, Op: "search",
	Err: errors.New("a prefix or tolerant word has no scores with statistics of the client on a cluster: ask for its terms, or omit the statistics")}

// expansions is the most terms of a prefix or tolerant word.
func (c *Coordinator) expansions() int {
	return cmp.Or(c.opt.Limits.Expansions, limit.Default().Expansions)
}

// expand bounds the terms of the prefixes and tolerant words of all queries.
func (s *search) expand() {
	for i := range s.qs {
		q, e, own := &s.qs[i], s.expanding[i], s.of(i)
		if e == nil || len(own) == 0 {
			continue
		}
		n := 0
		e.Leaves(func(leaf querylang.Expr) bool {
			if leaf.Expands() {
				own[n] = s.bounded(own[n], q, &leaf)
			}
			n++
			return true
		})
	}
}

// bounded returns the terms of a leaf that some shard has, in each field at most as many as a word may have.
func (s *search) bounded(k *known, q *Query, leaf *querylang.Expr) *known {
	if wrong, ok := errors.AsType[*syntax.Error](k.err); ok {
		return &known{err: refusal(q, leaf, wrong.Reason)}
	}
	if k.err != nil {
		return k
	}
	df, most, out := make(map[string]uint64, len(k.terms)), s.c.expansions(), &known{}
	for _, field := range s.beginnings(q, leaf) {
		var own []string
		for i, t := range k.terms {
			if k.df[i] > 0 && strings.HasPrefix(t, field) {
				df[t], own = k.df[i], append(own, t)
			}
		}
		if n := len(own); n > most {
			if !q.Expansion.Top {
				return &known{err: refusal(q, leaf, query.TooMany(n, most)), many: true}
			}
			own = query.Top(own, most, func(t string) uint64 { return df[t] })
		}
		out.terms = append(out.terms, own...)
	}
	slices.Sort(out.terms)
	for _, t := range out.terms {
		out.df = append(out.df, df[t])
	}
	return out
}

// refused is the first error of a word of query i, and whether the word stands for too many terms.
func (s *search) refused(i int) (err error, many bool) {
	for _, known := range s.of(i) {
		if known.err != nil {
			return known.err, known.many
		}
	}
	return nil, false
}

// beginnings are the names of the fields of a leaf, in the order of the query, as its terms begin; an empty text without fields.
func (s *search) beginnings(q *Query, leaf *querylang.Expr) (all []string) {
	if leaf.Field != "" {
		return []string{leaf.Field + bm25.FieldMark}
	}
	fields, _ := querylang.ParseFields(q.Fields) // of a wrong text the leaf has an error
	for _, f := range fields {
		all = append(all, f.Name+bm25.FieldMark)
	}
	if all == nil {
		for _, f := range s.fields {
			all = append(all, f.Name+bm25.FieldMark)
		}
	}
	if all == nil {
		return []string{""}
	}
	return all
}

func refusal(q *Query, leaf *querylang.Expr, reason string) error {
	return failure.Wrap("search", query.Refuse(q.Text, leaf, reason))
}
