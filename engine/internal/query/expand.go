package query

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"heddle/engine/index/querylang"
	"heddle/engine/index/tolerant"
	"heddle/engine/internal/limit"
	"heddle/engine/syntax"
)

// Prefixes is a Dictionary that finds terms by their beginning.
type Prefixes interface {
	// Prefix yields all terms that begin with prefix. It is safe for concurrent use.
	Prefix(prefix string) iter.Seq[string]
}

// Ordered is a Dictionary that finds terms by their order.
type Ordered interface {
	// From yields the terms that are not below a string, ascending. A term is valid until the next. It is safe for
	// concurrent use.
	From(first string) iter.Seq[[]byte]
}

// leaf is a prefix or tolerant word of an expression.
type leaf struct {
	op          querylang.Op
	field, term string
}

// expanded is the terms that a leaf stands for, ascending.
type expanded struct {
	field string
	terms []string        // behind their field
	set   *tolerant.Words // nil: of a prefix
}

// appendExpanded appends the terms of a leaf to the terms of b. For scores all of them are in as many documents as the
// most frequent one, as in Lucene's BlendedTermQuery: a rare misspelling weighs no more than the word.
func (x *Index) appendExpanded(b *Batch, e *expanded, weight float64) {
	df := uint64(0)
	for _, t := range e.terms {
		df = max(df, x.df(b, t))
	}
	for _, t := range e.terms {
		w := weight
		if e.set != nil {
			w *= e.set.Boost(t[len(key(e.field, "")):])
		}
		b.terms, b.weights, b.dfs = append(b.terms, t), append(b.weights, w), append(b.dfs, df)
	}
}

// expand returns the terms that a leaf stands for: terms of the index, or of a shard terms of the whole.
func (x *Index) expand(b *Batch, e *querylang.Expr) (*expanded, error) {
	of := leaf{e.Op, e.Field, e.Term}
	out := b.expanded[of]
	if out != nil {
		return out, nil
	}
	if err := b.ended(); err != nil {
		return nil, err
	}
	word, err := x.word(b, e)
	if err != nil {
		return nil, err
	}
	out = &expanded{field: e.Field, set: word.set}
	for t := range x.candidates(b, word) {
		if len(out.terms) == limit.MostExpansions {
			return nil, b.refuse(e, fmt.Sprintf("it stands for more than %d terms: write a longer word", limit.MostExpansions))
		}
		out.terms = append(out.terms, t)
	}
	if word.set != nil && word.set.Err() != nil {
		return nil, b.refuse(e, word.set.Err().Error())
	}
	slices.Sort(out.terms)
	most := cmp.Or(b.expansion.Limit, x.Limits.Expansions)
	if n := len(out.terms); n > most {
		if !b.expansion.Top {
			return nil, b.refuse(e, TooMany(n, most))
		}
		out.terms = Top(out.terms, most, func(t string) uint64 { return x.df(b, t) })
	}
	if b.expanded == nil {
		b.expanded = map[leaf]*expanded{}
	}
	b.expanded[of] = out
	return out, nil
}

// TooMany is the reason why a word that stands for n terms is refused.
func TooMany(n, most int) string {
	return fmt.Sprintf(`it stands for %d terms, and limits.expansions is %d: write a longer word, or ask for the most frequent terms ("expand": "top")`, n, most)
}

// Top returns the terms in the most documents, at most a number of them, ties by their order. It sorts terms anew.
func Top(terms []string, most int, df func(string) uint64) []string {
	slices.SortFunc(terms, func(s, t string) int { return cmp.Or(cmp.Compare(df(t), df(s)), strings.Compare(s, t)) })
	terms = terms[:min(most, len(terms))]
	slices.Sort(terms)
	return terms
}

// df is the number of documents with a term: of the index, or by the statistics of the query.
func (x *Index) df(b *Batch, term string) uint64 {
	if b.whole != nil {
		return b.whole.DF[term]
	}
	if h, ok := x.Dictionary.Lookup(term); ok {
		return uint64(x.Source.Lists[h].Len)
	}
	return 0
}

// wordSet is a leaf after analysis: a prefix, or a set of words.
type wordSet struct {
	field  string // in front of its terms, with a mark; empty without fields
	prefix string
	set    *tolerant.Words // nil: a prefix
}

func (w *wordSet) match(term string) bool {
	term, ok := strings.CutPrefix(term, w.field)
	if !ok {
		return false
	}
	if w.set == nil {
		return strings.HasPrefix(term, w.prefix)
	}
	return w.set.Match(term)
}

// candidates yields the terms of a leaf.
func (x *Index) candidates(b *Batch, w wordSet) iter.Seq[string] {
	return func(yield func(string) bool) {
		if whole := b.whole; whole != nil && whole.Shard {
			for t, df := range whole.DF {
				if df > 0 && w.match(t) && !yield(t) {
					return
				}
			}
			return
		}
		if ordered, ok := x.Dictionary.(Ordered); ok && w.set != nil {
			for t := range w.set.Terms(within(ordered, w.field)) {
				if !yield(w.field + t) {
					return
				}
			}
			return
		}
		for t := range x.Dictionary.(Prefixes).Prefix(w.field + w.prefix) {
			if w.match(t) && !yield(t) {
				return
			}
		}
	}
}

// within is Ordered.From for the words of a field, which is in front of their terms.
func within(all Ordered, field string) func(first string) iter.Seq[[]byte] {
	if field == "" {
		return all.From
	}
	return func(first string) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for t := range all.From(field + first) {
				if t, ok := bytes.CutPrefix(t, []byte(field)); !ok || !yield(t) {
					return
				}
			}
		}
	}
}

// word analyses a leaf: its texts without stemmer and stop words, and a regular expression not at all.
func (x *Index) word(b *Batch, e *querylang.Expr) (w wordSet, err error) {
	if _, ok := x.Dictionary.(Prefixes); !ok {
		return w, b.refuse(e, "the dictionary of the index finds whole terms only")
	}
	w.field = key(e.Field, "")
	if e.Op == querylang.Prefix {
		var reason string
		if w.prefix, reason = x.plain(e.Term); reason != "" {
			err = b.refuse(e, reason)
		}
		return w, err
	}
	t, err := querylang.ReadTolerant(e.Term)
	if err != nil {
		return w, err
	}
	for i, text := range t.Words {
		if text == "" || t.Form == querylang.Regexp {
			continue
		}
		var reason string
		if t.Words[i], reason = x.plain(text); reason != "" {
			return w, b.refuse(e, reason)
		}
	}
	if t.Form == querylang.Similar && t.Fixed < 0 {
		t.Fixed = b.expansion.Fixed
	}
	if w.set, err = tolerant.New(t); err != nil {
		return w, b.refuse(e, err.Error())
	}
	return w, nil
}

// plain analyses a text that must be a part of one word, without stemmer and stop words.
func (x *Index) plain(text string) (word, reason string) {
	if x.prefixes == nil {
		return text, ""
	}
	words := x.prefixes.Terms(text)
	if len(words) != 1 {
		return "", fmt.Sprintf("the analysis of the index makes %d words of %s, one is needed", len(words), syntax.Quote(text))
	}
	return words[0], ""
}

// refuse is the error of a leaf, with a caret below it in the text of the query.
func (b *Batch) refuse(e *querylang.Expr, reason string) error {
	return Refuse(b.text, e, reason)
}

// Refuse is the error of a prefix or tolerant word of a query text; the text of an expression is empty.
func Refuse(text string, e *querylang.Expr, reason string) error {
	if text == "" {
		one := *e
		one.Weight = 0
		text = one.String()
	}
	return &syntax.Error{Text: text, Offset: querylang.Position(text, e), Reason: reason}
}
