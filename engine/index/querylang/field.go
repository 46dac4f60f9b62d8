package querylang

import (
	"cmp"
	"slices"
	"strings"

	"heddle/engine/syntax"
)

// Field is a field of a query with the weight of the words in it.
type Field struct {
	Name   string
	Weight float64
}

// IsField tells whether a text may be the name of a field.
func IsField(name string) bool { return name != "" && syntax.FieldName(name) == len(name) }

// ParseFields reads fields with weights, such as title^3,body. A field without a weight has the weight 1. An error is a
// *syntax.Error. A text of white space has no fields.
func ParseFields(text string) (all []Field, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		name, number, weighted := strings.Cut(strings.TrimSpace(part), "^")
		f := Field{name, 1}
		if weighted {
			f.Weight = weight(number)
		}
		reason := ""
		switch {
		case !IsField(name):
			reason = "no name of a field: write fields and their weights as in title^3,body"
		case f.Weight == 0:
			reason = "the weight " + syntax.Quote(number) + " is no positive decimal number"
		}
		for _, other := range all {
			if other.Name == name {
				reason = "the field " + name + " comes twice"
			}
		}
		if reason != "" {
			return nil, &syntax.Error{Text: text, Offset: at, Reason: reason}
		}
		all = append(all, f)
		at += len(part) + 1
	}
	return all, nil
}

// Fields yields the fields that e names.
func (e Expr) Fields(yield func(string) bool) { e.fields(yield) }

func (e Expr) fields(yield func(string) bool) bool {
	if e.Field != "" && !yield(e.Field) {
		return false
	}
	return !slices.ContainsFunc(e.Args, func(a Expr) bool { return !a.fields(yield) })
}

// Within gives a field to the leaves that have none.
func (e *Expr) Within(field string) {
	if e.leaf() {
		e.Field = cmp.Or(e.Field, field)
		return
	}
	for i := range e.Args {
		e.Args[i].Within(field)
	}
}

// InFields returns e with an Or (Expr.Spread) of a leaf in each of the fields in the place of each leaf without a field.
// Weights multiply. It returns false if a product is not positive and finite.
func (e Expr) InFields(fields []Field) (Expr, bool) {
	if !e.leaf() {
		args, ok := make([]Expr, len(e.Args)), true
		for i, a := range e.Args {
			in, fits := a.InFields(fields)
			args[i], ok = in, ok && fits
		}
		if e.Args = args; len(args) == 0 {
			e.Args = nil
		}
		return e, ok
	}
	if e.Field != "" {
		return e, true
	}
	all, ok := make([]Expr, len(fields)), true
	for i, f := range fields {
		one := e
		one.Field = f.Name
		ok = (f.Weight == 1 || one.scale(f.Weight)) && ok
		all[i] = one
	}
	e = join(Or, all)
	e.Spread = len(all) > 1
	return e, ok
}

// FieldAt returns the offset in a text of the first use of a field; 0 if it is not there.
func FieldAt(text, field string) int {
	l := newLexer(text)
	for l.next() == nil && l.kind != end {
		if l.field == field {
			return l.at - len(field) - 1
		}
	}
	return 0
}
