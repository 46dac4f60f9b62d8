package query

import (
	"iter"
	"math"
	"slices"
	"strings"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// everything is the query that a filter alone is.
var everything = querylang.Expr{Op: querylang.All}

// read sets the terms and weights of b to the words of q. For a query with operators it
// returns an expression instead.
func (x *Index) read(b *Batch, q *Query) (*querylang.Expr, error) {
	b.scoredPhrases, b.scoredLeaves, b.phrased, b.resolved = b.scoredPhrases[:0], b.scoredLeaves[:0], nil, nil
	b.terms, b.weights, b.dfs = b.terms[:0], b.weights[:0], b.dfs[:0]
	b.until, b.whole, b.text, b.expansion, b.dismax = &q.Until, q.Statistics, q.Text, q.Expansion, q.Dismax.On
	clear(b.expanded)
	switch {
	case q.Expr != nil:
		if err := x.check(q.Expr); err != nil {
			return nil, err
		}
		return x.inFields(q, q.Expr)
	case q.Text == "" && len(q.Terms) == 0 && q.Filter != nil:
		return &everything, nil
	case q.Text == "":
		if err := x.Limits.CheckTerms(len(q.Terms)); err != nil {
			return nil, err
		}
		b.terms = append(b.terms, q.Terms...)
		b.weights = append(b.weights, q.Weights...)
		b.weigh(1)
		return nil, nil
	}
	if err := x.Limits.CheckText(q.Text); err != nil {
		return nil, err
	}
	if len(q.Text) > limit.Step { // the scheduler refuses a short one
		if err := b.ended(); err != nil {
			return nil, err
		}
	}
	if x.hasFields() {
		e, err := x.wordsIn(q)
		if err != nil {
			return nil, err
		}
		return x.inFields(q, e)
	}
	if q.Fields != "" {
		if _, err := x.queryFields(q.Fields); err != nil {
			return nil, err
		}
	}
	if q.Literal {
		err := x.appendTerms(b, q.Text, x.Limits.Terms)
		b.weigh(1)
		return nil, err
	}
	n := 0
	words, err := querylang.EachWord(q.Text, func(part string, weight float64) error {
		if n++; n%256 == 0 {
			if err := b.ended(); err != nil {
				return err
			}
		}
		err := x.appendTerms(b, part, x.Limits.Terms)
		b.weigh(weight)
		return err
	})
	if words || err != nil {
		return nil, err
	}
	e, err := querylang.Parse(q.Text, q.Match.Join())
	if err != nil {
		return nil, err
	}
	if err := x.check(&e); err != nil {
		return nil, err
	}
	return x.inFields(q, &e)
}

// The effort of looking up a term, of finding the terms of a prefix and of a tolerant word, and of a phrase.
const lookupEffort, prefixEffort, expandEffort, phraseEffort = 2, 1 << 10, 1 << 13, 1 << 8

// Effort estimates the time of the analysis of q, in bytes of text that take as long. The error
// is a *limit.Error of an expression.
func (x *Index) Effort(q *Query) (bytes int, err error) {
	switch {
	case q.Expr != nil:
		return x.effortOf(q.Expr)
	case q.Text == "":
		return lookupEffort * len(q.Terms), nil
	case q.Literal || !strings.ContainsAny(q.Text, querylang.Tolerance):
		return len(q.Text), nil
	}
	if e, err := querylang.Read(q.Text, querylang.Or); e != nil && err == nil {
		return x.effortOf(e)
	}
	return len(q.Text), nil
}

func (x *Index) effortOf(e *querylang.Expr) (bytes int, err error) {
	err = limit.CheckTree(&x.Limits, e, func(e *querylang.Expr) []querylang.Expr {
		bytes += lookupEffort + len(e.Term)
		switch e.Op {
		case querylang.Prefix:
			bytes += prefixEffort
		case querylang.Expand:
			bytes += expandEffort
		}
		if e.Positional() {
			bytes += phraseEffort
		}
		return e.Args
	})
	return bytes, err
}

// check returns an error for an expression above the limits or with a wrong number of operands.
func (x *Index) check(e *querylang.Expr) (err error) {
	large := limit.CheckTree(&x.Limits, e, func(e *querylang.Expr) []querylang.Expr {
		if err == nil {
			err = checkOperands(e)
		}
		return e.Args
	})
	if large != nil {
		return large
	}
	return err
}

func checkOperands(e *querylang.Expr) error {
	n := len(e.Args)
	switch e.Op {
	case querylang.Term, querylang.Prefix, querylang.Expand, querylang.All:
		if n > 0 {
			return invalidf("term %s of an expression has operands", syntax.Quote(e.Term))
		}
	case querylang.And, querylang.Prefer:
		if n == 0 {
			return invalidf("an And or Prefer of an expression has no operands")
		}
	case querylang.Not:
		if n < 2 {
			return invalidf("a Not of an expression has %d operands: it needs the documents and, behind them, those to exclude", n)
		}
	case querylang.Or:
	case querylang.Phrase, querylang.Near, querylang.Ordered:
		if n == 0 || slices.ContainsFunc(e.Args, func(a querylang.Expr) bool { return a.Op != querylang.Term && a.Op != querylang.Prefix }) {
			return invalidf("a phrase or window of an expression has %d operands: it needs terms and prefixes alone", n)
		}
		if e.Op != querylang.Phrase && e.Distance == 0 {
			return invalidf("a window of an expression has the distance 0: at least 1 is needed")
		}
	default:
		return invalidf("unknown operation %d in an expression", e.Op)
	}
	return nil
}

// weigh gives a weight, and their own document frequencies, to the terms that have none.
func (b *Batch) weigh(weight float64) {
	for len(b.weights) < len(b.terms) {
		b.weights = append(b.weights, weight)
	}
	for len(b.dfs) < len(b.terms) {
		b.dfs = append(b.dfs, 0)
	}
}

// Expression returns the meaning of q over the lists of the index, in canonical form
// (plan.Expr.Simplify): the documents of f, or with not all other documents. Each term is analysed as
// documents were: a term that the analysis splits is an AND of its parts; a term of which nothing is left, such as a stop word, drops
// out, with the terms that NOT subtracts from it; a term that no document has is the empty
// set.
func (x *Index) Expression(q *Query) (f plan.Expr, not bool, err error) {
	b := x.Batch()
	defer x.Put(b)
	s, err := x.documents(b, q)
	if err == nil && b.phrased != nil {
		err = invalidf("a query with phrases or title:* is no expression over lists")
	}
	return s.Expr, s.not, err
}

// documents returns the documents of q, in canonical form unless q has phrases.
func (x *Index) documents(b *Batch, q *Query) (set, error) {
	e, err := x.read(b, q)
	switch {
	case err != nil:
		return set{}, err
	case e != nil:
		return x.compile(b, e)
	case q.Match == querylang.AllTerms:
		return set{Expr: x.allOf(b.terms).Simplify(x.Source)}, nil
	}
	return set{Expr: x.anyOf(slices.Values(b.terms)).Simplify(x.Source)}, nil
}

func (x *Index) compile(b *Batch, e *querylang.Expr) (set, error) {
	b.read = 0
	s, _, err := x.translate(b, e)
	if err != nil {
		return s, err
	}
	if b.phrased != nil {
		b.phrased.set = s
		return s, nil
	}
	return set{s.Simplify(x.Source), s.not}, nil
}

// anyOf returns the documents with any of the terms.
func (x *Index) anyOf(terms iter.Seq[string]) plan.Expr {
	f := plan.Expr{Op: plan.OpOr}
	for t := range terms {
		if h, ok := x.Dictionary.Lookup(t); ok {
			f.Args = append(f.Args, plan.Expr{List: h})
		}
	}
	return f
}

// allOf returns the documents with all of the terms.
func (x *Index) allOf(terms []string) plan.Expr {
	f := plan.Expr{Op: plan.OpAnd}
	for _, t := range terms {
		h, ok := x.Dictionary.Lookup(t)
		if !ok {
			return plan.Expr{Op: plan.OpOr}
		}
		f.Args = append(f.Args, plan.Expr{List: h})
	}
	return f
}

// translate returns false, and the empty set, where nothing is left of e.
func (x *Index) translate(b *Batch, e *querylang.Expr) (f set, left bool, err error) {
	if err := b.ended(); err != nil {
		return f, false, err
	}
	switch e.Op {
	case querylang.All:
		if e.Field != "" {
			return x.inField(b, e.Field), true, nil
		}
		return everySet(), true, nil
	case querylang.Prefix, querylang.Expand:
		terms, err := x.expand(b, e)
		if err != nil {
			return f, false, err
		}
		b.read += len(terms.terms)
		return set{Expr: x.anyOf(slices.Values(terms.terms))}, true, x.Limits.CheckTerms(b.read)
	case querylang.Term:
		b.terms = b.terms[:0]
		if err := x.appendWord(b, e); err != nil {
			return f, false, err
		}
		b.read += len(b.terms)
		if err := x.Limits.CheckTerms(b.read); err != nil {
			return f, false, err
		}
		return set{Expr: x.allOf(b.terms)}, len(b.terms) > 0, nil
	case querylang.Phrase, querylang.Near, querylang.Ordered:
		return x.translatePhrase(b, e)
	case querylang.Prefer:
		f, left, err = x.translate(b, &e.Args[0])
		if err != nil {
			return f, left, err
		}
		if left {
			return f, left, x.bound(b, e.Args[1:])
		}
		return x.translate(b, &querylang.Expr{Op: querylang.Or, Args: e.Args[1:]})
	}
	var all []set
	for i := range e.Args {
		g, ok, err := x.translate(b, &e.Args[i])
		if err != nil {
			return g, false, err
		}
		if ok {
			all = append(all, g)
		} else if i == 0 && e.Op == querylang.Not {
			return emptySet(), false, x.bound(b, e.Args[1:])
		}
	}
	switch {
	case len(all) == 0:
		return emptySet(), false, nil
	case e.Op == querylang.Or:
		return or(all), true, nil
	case e.Op == querylang.And:
		return and(all, nil), true, nil
	}
	return and(all[:1], all[1:]), true, nil
}

// bound checks the prefixes and tolerant words of operands that change no documents: one that stands for too many terms is an
// error wherever it is.
func (x *Index) bound(b *Batch, args []querylang.Expr) (err error) {
	for i := range args {
		args[i].Leaves(func(leaf querylang.Expr) bool {
			if leaf.Expands() {
				_, err = x.expand(b, &leaf)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scored sets the terms of b to the terms of e that add to scores: all terms except excluded
// ones.
func (x *Index) scored(b *Batch, e *querylang.Expr) error {
	b.terms, b.weights, b.dfs, b.scoredPhrases, b.scoredLeaves = b.terms[:0], b.weights[:0], b.dfs[:0], b.scoredPhrases[:0], b.scoredLeaves[:0]
	return x.appendScored(b, e)
}

func (x *Index) appendScored(b *Batch, e *querylang.Expr) error {
	if err := b.ended(); err != nil {
		return err
	}
	args := e.Args
	switch e.Op {
	case querylang.Term, querylang.Prefix, querylang.Expand, querylang.Phrase, querylang.Near, querylang.Ordered:
		weight := e.Weight
		if weight == 0 {
			weight = 1
		}
		if !(weight > 0) || math.IsInf(weight, 1) {
			return invalidf("weight %v of term %s is not positive and finite", weight, syntax.Quote(e.Term))
		}
		leaf := scoredLeaf{from: len(b.terms), phrase: len(b.scoredPhrases), best: e.Expands() && b.expansion.Best}
		if err := x.appendLeaf(b, e, weight); err != nil {
			return err
		}
		leaf.to, leaf.phrases = len(b.terms), len(b.scoredPhrases)-leaf.phrase
		b.scoredLeaves = append(b.scoredLeaves, leaf)
		args = nil
		if err := x.Limits.CheckTerms(len(b.terms)); err != nil {
			return err
		}
	case querylang.Not:
		args = args[:min(1, len(args))]
	}
	first := len(b.scoredLeaves)
	for i := range args {
		if err := x.appendScored(b, &args[i]); err != nil {
			return err
		}
	}
	if e.Spread && b.dismax {
		for i := first + 1; i < len(b.scoredLeaves); i++ {
			b.scoredLeaves[i].other = true
		}
	}
	return nil
}

// appendLeaf appends the terms of a leaf and their weights to the terms of b.
func (x *Index) appendLeaf(b *Batch, e *querylang.Expr, weight float64) error {
	switch {
	case e.Positional():
		r, err := x.placesOf(b, e)
		if err == nil && len(r.places) > 1 {
			b.scoredPhrases = append(b.scoredPhrases, r)
		} else if err == nil {
			b.terms = slices.AppendSeq(b.terms, r.terms())
			b.weigh(weight)
		}
		return err
	case e.Op == querylang.Term:
		err := x.appendWord(b, e)
		b.weigh(weight)
		return err
	}
	terms, err := x.expand(b, e)
	if err == nil {
		x.appendExpanded(b, terms, weight)
	}
	return err
}
