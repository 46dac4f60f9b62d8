package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/config"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// A term of a field is the name of the field, hdl.FieldMark and the word. A word of a query without a field stands for
// an Or of the word in each field of the query, whose scores add up. Pure Go ranks them: backends know one length a document.

// hasFields tells whether the index has fields.
func (x *Index) hasFields() bool { return len(x.Source.Fields) > 0 }

// key is the term of a word in a field; without a field it is the word.
func key(field, word string) string {
	if field == "" {
		return word
	}
	return field + hdl.FieldMark + word
}

// bare is a term without its field.
func (x *Index) bare(term string) string {
	if x.hasFields() {
		_, term, _ = strings.Cut(term, hdl.FieldMark)
	}
	return term
}

// leaf is the word of a query that a term is.
func (x *Index) leaf(term string) querylang.Expr {
	e := querylang.Expr{Term: term}
	if x.hasFields() {
		e.Field, e.Term, _ = strings.Cut(term, hdl.FieldMark)
	}
	return e
}

func (x *Index) words(terms []string) []string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = x.bare(t)
	}
	return all
}

// inFields puts the words of e into the fields of a query. It checks all fields.
func (x *Index) inFields(q *Query, e *querylang.Expr) (*querylang.Expr, error) {
	var err error
	e.Leaves(func(leaf querylang.Expr) bool {
		if leaf.Field != "" {
			err = x.checkField(q.Text, leaf.Field, querylang.FieldAt(q.Text, leaf.Field))
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	fields, err := x.queryFields(q.Fields)
	if err != nil || !x.hasFields() {
		return e, err
	}
	in, ok := e.InFields(fields)
	if !ok {
		return nil, invalidf("the product of the weight of a field and the weight of a word is out of range")
	}
	return &in, x.check(&in)
}

// queryFields returns the fields of a query: by default all, with the weight 1.
func (x *Index) queryFields(text string) ([]querylang.Field, error) {
	fields, err := querylang.ParseFields(text)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, f := range fields {
		at += strings.Index(text[at:], f.Name)
		if err := x.checkField(text, f.Name, at); err != nil {
			return nil, err
		}
		at += len(f.Name)
	}
	if len(fields) == 0 {
		for _, f := range x.Source.Fields {
			fields = append(fields, querylang.Field{Name: f.Name, Weight: 1})
		}
	}
	return fields, nil
}

// checkField refuses a field that the index does not have.
func (x *Index) checkField(text, name string, at int) error {
	if !x.hasFields() {
		return fieldError(text, name, at, `the index has no fields: build it with --fields, or write \: for the character`)
	}
	names := make([]string, len(x.Source.Fields))
	for i, f := range x.Source.Fields {
		names[i] = f.Name
	}
	if slices.Contains(names, name) {
		return nil
	}
	reason := "no document has the field " + name
	if near := config.Nearest(name, names); near != "" {
		reason += ", did you mean " + near + "?"
	}
	return fieldError(text, name, at, reason+" (fields: "+strings.Join(names, ", ")+`; \: is the character)`)
}

func fieldError(text, name string, at int, reason string) error {
	if text == "" {
		text = name + hdl.FieldMark
	}
	return &syntax.Error{Text: text, Offset: at, Reason: reason}
}

// wordsIn is the expression of the words of a query on an index with fields. Under AllElseAny the words of a text without
// operators are all needed, unless too few documents have them.
func (x *Index) wordsIn(q *Query) (*querylang.Expr, error) {
	mode := querylang.Or
	if q.Match == querylang.AllTerms || q.Match == querylang.AllElseAny && (q.Literal || !querylang.HasOperators(q.Text)) {
		mode = querylang.And
	}
	var e querylang.Expr
	if q.Literal {
		for word := range strings.FieldsSeq(q.Text) {
			e.Args = append(e.Args, querylang.Expr{Term: word})
		}
		if e.Op = mode; len(e.Args) == 0 {
			e.Op = querylang.Or
		}
	} else {
		var err error
		if e, err = querylang.Parse(q.Text, mode); err != nil {
			return nil, err
		}
	}
	return &e, x.check(&e)
}

// fieldRule is the scoring of a field.
type fieldRule struct {
	docs uint64 // N of BM25
	norm plan.Norm
}

var errFields = errors.New("the statistics have no fields: ask for the statistics of the index, which has fields")

// settleFields sets the scoring of each field.
func (s *Settings) settleFields(x *Index) error {
	st := s.Options.Statistics
	s.fields = make([]fieldRule, len(x.Source.Fields))
	for i, f := range x.Source.Fields {
		one := bm25.FieldStatistics{Docs: f.Docs, Length: f.Length}
		if st != nil {
			at := slices.IndexFunc(st.Fields, func(other bm25.FieldStatistics) bool { return other.Name == f.Name })
			if at < 0 {
				return option{errFields}
			}
			one = st.Fields[at]
		}
		average := 1.0 // any value will do where all lengths are 0
		if one.Length > 0 && one.Docs > 0 {
			average = float64(one.Length) / float64(one.Docs)
		} else if f.Length > 0 && (st == nil || !st.Shard) {
			return optionf("ranking: statistics of %d documents with %d tokens in field %s", one.Docs, one.Length, f.Name)
		}
		s.fields[i] = fieldRule{one.Docs, s.params.Norm(average)}
	}
	return nil
}

// docsOf is N of BM25 for a term.
func (s *Settings) docsOf(x *Index, term string) uint64 {
	if s.fields != nil {
		name, _, _ := strings.Cut(term, hdl.FieldMark)
		for i, f := range x.Source.Fields {
			if f.Name == name {
				return s.fields[i].docs
			}
		}
	}
	return s.docs
}

// lengthRule returns the scoring of a list of a query that p is, or of another query: its norm and the lengths of documents.
func (p *phrased) lengthRule(src *plan.Source, h plan.Handle, norm plan.Norm) (plan.Norm, []uint32) {
	if p == nil || p.fields == nil {
		return norm, src.Lengths
	}
	i := src.FieldOf(h)
	return p.fields[i].norm, src.Fields[i].Lengths
}

// rankFields makes the present query one that pure Go ranks by the rules of its fields.
func (b *Batch) rankFields(x *Index, s *Settings, f set, other *set) {
	if b.phrased == nil {
		b.phrased = &phrased{base: plan.Handle(len(x.Source.Lists)), set: f}
	}
	b.phrased.fields, b.phrased.other = s.fields, other
}

// why is the explanation of a query that pure Go answers.
func (p *phrased) why() string {
	if p.fields != nil {
		return fmt.Sprintf("fields: pure Go, %d phrases", len(p.phrases))
	}
	return "phrases: pure Go"
}

// termSets is the documents of a query of terms; the second set is phrased.other.
func (b *Batch) termSets(x *Index) (of set, other *set) {
	any, all := set{Expr: x.anyOf(slices.Values(b.terms))}, set{Expr: x.allOf(b.terms)}
	switch b.kind.Match {
	case querylang.AnyTerm:
		return any, nil
	case querylang.AllTerms:
		return all, nil
	}
	return all, &any
}

// elseAny is the documents with any word of a query under AllElseAny whose words wordsIn joins by And; nil for other queries.
func (x *Index) elseAny(b *Batch, q *Query, e *querylang.Expr) (*set, error) {
	if !x.hasFields() || b.kind.Match != querylang.AllElseAny || e.Op != querylang.And || q.Text == "" || !q.Literal && querylang.HasOperators(q.Text) {
		return nil, nil
	}
	b.read = 0
	any, _, err := x.translate(b, &querylang.Expr{Op: querylang.Or, Args: e.Args})
	return &any, err
}
