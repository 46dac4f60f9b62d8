package query

import (
	"cmp"
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

// leaf is the word of a query that a term is.
func (x *Index) leaf(term string) querylang.Expr {
	e := querylang.Expr{Term: term}
	if x.hasFields() {
		e.Field, e.Term, _ = strings.Cut(term, hdl.FieldMark)
	}
	return e
}

// inFields puts the words of e into the fields of a query. It checks all fields.
func (x *Index) inFields(q *Query, e *querylang.Expr) (*querylang.Expr, error) {
	var err error
	for field := range e.Fields {
		if reason := x.refuseField(field); reason != "" {
			text := cmp.Or(q.Text, key(field, "")) // of an expression without a text
			err = &syntax.Error{Text: text, Offset: querylang.FieldAt(q.Text, field), Reason: reason}
			break
		}
	}
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
		if reason := x.refuseField(f.Name); reason != "" {
			return nil, &syntax.Error{Text: text, Offset: at, Reason: reason}
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

// refuseField returns the reason why a query cannot have a field; it is empty for a field of the index.
func (x *Index) refuseField(name string) string {
	if !x.hasFields() {
		return `the index has no fields: build it with --fields, or write \: for the character`
	}
	if slices.ContainsFunc(x.Source.Fields, func(f plan.Field) bool { return f.Name == name }) {
		return ""
	}
	names := make([]string, len(x.Source.Fields))
	for i, f := range x.Source.Fields {
		names[i] = f.Name
	}
	reason := "no document has the field " + name
	if near := config.Nearest(name, names); near != "" {
		reason += ", did you mean " + near + "?"
	}
	return reason + " (fields: " + strings.Join(names, ", ") + `; \: is the character)`
}

// wordsIn is the expression of the words of a query on an index with fields. Under AllElseAny the words of a text without
// operators are all needed, unless too few documents have them.
func (x *Index) wordsIn(q *Query) (*querylang.Expr, error) {
	join := q.Match.Join()
	if q.Match == querylang.AllElseAny && (q.Literal || !querylang.HasOperators(q.Text)) {
		join = querylang.And
	}
	if q.Literal {
		e := querylang.Words(q.Text, join)
		return &e, x.check(&e)
	}
	e, err := querylang.Parse(q.Text, join)
	if err != nil {
		return nil, err
	}
	return &e, x.check(&e)
}

var errFields = errors.New("the statistics have no fields: ask for the statistics of the index, which has fields")

// settleFields sets the scoring of each field.
func (s *Settings) settleFields(x *Index) error {
	s.fields = make([]plan.Norm, len(x.Source.Fields))
	for i, f := range x.Source.Fields {
		one := bm25.FieldStatistics{Name: f.Name, Docs: f.Docs, Length: f.Length}
		if st := s.Options.Statistics; st != nil {
			at := slices.IndexFunc(st.Fields, func(other bm25.FieldStatistics) bool { return other.Name == f.Name })
			if at < 0 {
				return option{errFields}
			}
			one = st.Fields[at]
		}
		norm, ok := s.norm(one.Docs, one.Length, f.Length)
		if !ok {
			return optionf("ranking: statistics of %d documents with %d tokens in field %s", one.Docs, one.Length, f.Name)
		}
		s.fields[i], s.whole.Fields = norm, append(s.whole.Fields, one)
	}
	return nil
}

// phraseBase is the list of the first phrase of a query. The lists between those of the source and it are the documents with a
// word in each field.
func (x *Index) phraseBase() plan.Handle {
	return plan.Handle(len(x.Source.Lists) + len(x.Source.Fields))
}

// newPhrased returns a query without documents.
func (x *Index) newPhrased() *phrased { return &phrased{base: x.phraseBase(), withField: x.withField} }

// inField is the documents with a word in a field, which pure Go finds.
func (x *Index) inField(b *Batch, name string) set {
	if b.phrased == nil {
		b.phrased = x.newPhrased()
	}
	i := slices.IndexFunc(x.Source.Fields, func(f plan.Field) bool { return f.Name == name })
	return set{Expr: plan.Expr{List: plan.Handle(len(x.Source.Lists) + i)}}
}

// inFields is the number of the documents of each title:*.
func (p *phrased) inFields(src *plan.Source) (n uint64) {
	for h := range p.set.Lists {
		if i := int(h) - len(src.Lists); i >= 0 && h < p.base {
			n += src.Fields[i].Docs
		}
	}
	return n
}

// lengthRule returns the scoring of a list of a query that p is, or of another query: its norm and the lengths of documents.
func (p *phrased) lengthRule(src *plan.Source, h plan.Handle, norm plan.Norm) (plan.Norm, []uint32) {
	if p == nil || p.fields == nil {
		return norm, src.Lengths
	}
	i := src.FieldOf(h)
	return p.fields[i], src.Fields[i].Lengths
}

// rankFields makes the present query one that pure Go ranks by the rules of its fields and groups.
func (b *Batch) rankFields(x *Index, s *Settings, f set, other *set) {
	if b.phrased == nil {
		b.phrased = x.newPhrased()
		b.phrased.set = f
	}
	b.phrased.fields, b.phrased.other = s.fields, other
}

// why is the explanation of a query that pure Go answers.
func (p *phrased) why() string {
	if p.groups != nil {
		return fmt.Sprintf("best of terms or fields: pure Go, %d phrases", len(p.phrases))
	}
	if p.fields != nil || len(p.phrases) == 0 {
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
