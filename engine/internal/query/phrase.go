package query

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// errPositions is the error of a phrase on an index without positions.
var errPositions = errors.New("phrases and windows need the positions of words, which the index does not have: build it with --positions (index.positions, a collection with collection create --positions), or omit the quotes")

// place is a place of a phrase with the terms that match there.
type place struct {
	offset uint32
	terms  []string
}

// resolved is a phrase of the present query.
type resolved struct {
	of     *querylang.Expr
	places []place
	number int // among the phrases of phrased; -1: it is no list of its own
}

// placesOf analyses a phrase or window. A phrase of one place is its terms.
func (x *Index) placesOf(b *Batch, e *querylang.Expr) (*resolved, error) {
	for _, r := range b.resolved {
		if r.of == e {
			return r, nil
		}
	}
	r := &resolved{of: e, number: -1}
	var err error
	if r.places, err = x.analysePlaces(b, e); err != nil {
		return nil, err
	}
	if len(r.places) > 1 && x.Source.Positions == nil {
		return nil, invalid{errPositions}
	}
	b.resolved = append(b.resolved, r)
	return r, nil
}

// span is the part of a text that is an operand of a phrase.
type span struct {
	end    int
	prefix bool
}

func (x *Index) analysePlaces(b *Batch, e *querylang.Expr) (_ []place, err error) {
	var text strings.Builder
	text.Grow(8 * len(e.Args))
	spans, places := make([]span, 0, len(e.Args)), make([]place, 0, len(e.Args))
	for _, a := range e.Args {
		text.WriteString(a.Term)
		spans = append(spans, span{text.Len(), a.Op == querylang.Prefix})
		text.WriteByte(' ')
	}
	spanAt := func(start int) int {
		i, _ := slices.BinarySearchFunc(spans, start+1, func(s span, least int) int { return s.end - least })
		return min(i, len(spans)-1)
	}
	add := func(position uint32, terms ...string) {
		if e.Op == querylang.Phrase {
			if n := len(places); n > 0 && places[n-1].offset == position {
				places[n-1].terms = append(places[n-1].terms, terms...)
				return
			}
		}
		places = append(places, place{position, terms})
	}
	if x.analyzer == nil {
		for i, a := range e.Args {
			if a.Op == querylang.Prefix {
				a.Field = e.Field
				all, err := x.expand(b, &a)
				if err != nil {
					return nil, err
				}
				add(uint32(i), slices.Clone(all.terms)...)
			} else {
				add(uint32(i), key(e.Field, a.Term))
			}
		}
		return places, x.checkPlaces(b, places)
	}
	if b.tokens == nil {
		b.tokens = x.analyzer.Tokenizer()
	}
	for token := range b.tokens.Tokens([]byte(text.String())) {
		if !spans[spanAt(token.Start)].prefix {
			add(token.Position, key(e.Field, string(token.Term)))
		}
	}
	if e.HasPrefix() {
		stands, terms := make([]*expanded, len(spans)), 0 // by operand
		for i, s := range spans {
			if !s.prefix {
				continue
			}
			a := e.Args[i]
			a.Field = e.Field
			if stands[i], err = x.expand(b, &a); err != nil {
				return nil, err
			}
			if terms += len(stands[i].terms); terms > x.Limits.Terms {
				return nil, x.Limits.CheckTerms(terms)
			}
		}
		for token := range x.prefixes.Tokenizer().Tokens([]byte(text.String())) {
			if all := stands[spanAt(token.Start)]; all != nil {
				places = append(places, place{token.Position, slices.Clone(all.terms)})
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.offset, b.offset) })
	if len(places) > 0 {
		first := places[0].offset
		for i := range places {
			places[i].offset -= first
		}
	}
	return places, x.checkPlaces(b, places)
}

// checkPlaces checks the number of the terms.
func (x *Index) checkPlaces(b *Batch, places []place) error {
	n := 0
	for i := range places {
		slices.Sort(places[i].terms)
		places[i].terms = slices.Compact(places[i].terms)
		n += len(places[i].terms)
	}
	if err := b.ended(); err != nil {
		return err
	}
	return x.Limits.CheckTerms(n)
}

// translatePhrase is translate of a phrase or window.
func (x *Index) translatePhrase(b *Batch, e *querylang.Expr) (f set, left bool, err error) {
	r, err := x.placesOf(b, e)
	if err != nil {
		return f, false, err
	}
	for _, p := range r.places {
		b.read += len(p.terms)
	}
	if err := x.Limits.CheckTerms(b.read); err != nil {
		return f, false, err
	}
	switch len(r.places) {
	case 0:
		return emptySet(), false, nil
	case 1:
		return set{Expr: x.anyOf(slices.Values(r.places[0].terms))}, true, nil
	}
	h, ok := x.list(b, r)
	if !ok {
		return emptySet(), true, nil
	}
	return set{Expr: plan.Expr{List: h}}, true, nil
}

// terms are the terms of a phrase.
func (r *resolved) terms() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range r.places {
			for _, t := range p.terms {
				if !yield(t) {
					return
				}
			}
		}
	}
}

func (r *resolved) kind() plan.PhraseKind {
	switch {
	case r.of.Op == querylang.Near:
		return plan.Near
	case r.of.Op == querylang.Ordered:
		return plan.Ordered
	case r.of.Distance > 0:
		return plan.Sloppy
	}
	return plan.Exact
}

// list returns the list of a phrase for an expression; false if a place has no terms.
func (x *Index) list(b *Batch, r *resolved) (plan.Handle, bool) {
	p := plan.Phrase{Kind: r.kind(), Distance: r.of.Distance, Slots: make([]plan.Slot, 0, len(r.places))}
	for _, place := range r.places {
		s := plan.Slot{Offset: place.offset, Lists: make([]plan.Handle, 0, len(place.terms))}
		for _, t := range place.terms {
			if h, ok := x.Dictionary.Lookup(t); ok {
				s.Lists = append(s.Lists, h)
			}
		}
		if len(s.Lists) == 0 {
			return 0, false
		}
		p.Slots = append(p.Slots, s)
	}
	if b.phrased == nil {
		b.phrased = x.newPhrased()
	}
	if r.number < 0 {
		r.number = len(b.phrased.phrases)
		b.phrased.phrases = append(b.phrased.phrases, p)
	}
	return b.phrased.base + plan.Handle(r.number), true
}

// optional makes lists of the phrases that only add to the scores of the documents of f.
func (x *Index) optional(b *Batch, f set) {
	for _, r := range b.scoredPhrases {
		if r.number < 0 {
			x.list(b, r)
		}
	}
	if b.phrased != nil {
		b.phrased.set = f
	}
}
