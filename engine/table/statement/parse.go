package statement

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/token"
)

// Parse reads the clauses. An error is a *syntax.Error with the text of the clause.
func Parse(c Clauses) (*Statement, error) {
	s := &Statement{Clauses: c}
	if err := list(c.Select, "", &s.Items, (*parser).item); err != nil {
		return nil, err
	}
	if c.GroupBy != "" {
		if err := list(c.GroupBy, "GROUP BY: ", &s.Groups, (*parser).grouping); err != nil {
			return nil, err
		}
	}
	if c.OrderBy != "" {
		return s, list(c.OrderBy, "ORDER BY: ", &s.Keys, (*parser).key)
	}
	return s, nil
}

// parser reads one clause.
type parser struct {
	token.Lexer
	clause string // name of the clause, which stands before the reasons of errors
}

// list reads a clause of parts with commas between them.
func list[T any](text, clause string, to *[]T, part func(*parser) (T, error)) error {
	p := parser{token.Lexer{Source: text, Symbols: "(),*"}, clause}
	if err := p.Next(); err != nil {
		return err
	}
	for {
		x, err := part(&p)
		if err != nil {
			return err
		}
		*to = append(*to, x)
		if more, err := p.Accept(","); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if p.Kind != token.End {
		return p.wrong("a comma or the end")
	}
	return nil
}

// wrong is the error for another token than the expected one.
func (p *parser) wrong(expected string) error {
	return p.Fail(p.At, p.clause+expected+" is expected here")
}

// word passes a word, in any case, if that is the token.
func (p *parser) word(word string) (bool, error) {
	if p.Kind != token.Name || p.Source[p.At] == '"' || !strings.EqualFold(p.Token.Text, word) {
		return false, nil
	}
	return true, p.Next()
}

func (p *parser) item() (item Item, err error) {
	if item.At = p.At; p.Is("*") {
		item.Function = All
		return item, p.Next()
	}
	if item.Term, err = p.term(); err != nil {
		return item, err
	}
	as, err := p.word("AS")
	if err != nil {
		return item, err
	}
	if p.Kind != token.Name {
		if as {
			err = p.wrong("a name")
		}
		return item, err
	}
	item.Name = p.Token.Text
	return item, p.Next()
}

// column reads the name of a column.
func (p *parser) column() (t Term, err error) {
	if p.Kind != token.Name {
		return t, p.wrong(`a column (a name with other characters than letters, digits and _ goes in "double quotes")`)
	}
	t = Term{Column: p.Token.Text, At: p.At, ColumnAt: p.At}
	return t, p.Next()
}

// grouping reads a column or the bins of a column.
func (p *parser) grouping() (Term, error) {
	t, err := p.term()
	if err == nil && t.Function > Bins {
		err = p.Fail(t.At, p.clause+"a column or bins(column, bounds) is expected here")
	}
	return t, err
}

// term reads a column, bins or an aggregate.
func (p *parser) term() (Term, error) {
	t, err := p.column()
	if err != nil || !p.Is("(") {
		return t, err
	}
	f, ok := functions[strings.ToLower(t.Column)]
	if !ok {
		return t, p.Fail(t.At, p.clause+"unknown function "+syntax.Short(t.Column)+" (one of count, sum, avg, min, max, quantile, bins)")
	}
	t.Function, t.Column = f, ""
	if err := p.Next(); err != nil {
		return t, err
	}
	if f == Count && p.Is("*") {
		t.Function = Rows
		if err := p.Next(); err != nil {
			return t, err
		}
		return t, p.close()
	}
	if err := p.argument(&t); err != nil {
		return t, err
	}
	switch f {
	case Quantile:
		err = p.fraction(&t)
	case Bins:
		err = p.bounds(&t)
	}
	if err != nil {
		return t, err
	}
	return t, p.close()
}

// argument reads the column of an aggregate, and DISTINCT before it.
func (p *parser) argument(t *Term) error {
	start := p.Lexer
	distinct, err := p.word("DISTINCT")
	if err != nil {
		return err
	}
	if distinct && p.Kind != token.Name { // a column of this name
		p.Lexer, distinct = start, false
	}
	if distinct && t.Function != Count {
		return p.Fail(start.At, p.clause+"DISTINCT is for count")
	}
	c, err := p.column()
	if err != nil {
		return err
	}
	if t.Column, t.ColumnAt = c.Column, c.At; distinct {
		t.Function = CountDistinct
	}
	return nil
}

// fraction reads the second argument of quantile.
func (p *parser) fraction(t *Term) error {
	if more, err := p.Accept(","); err != nil {
		return err
	} else if !more {
		return p.wrong("a comma and a fraction such as 0.5")
	}
	const most = 40 // characters
	q, ok := new(big.Rat), p.Kind == token.Number && p.To-p.At <= most && !strings.ContainsAny(p.Token.Text, "eE")
	if ok {
		_, ok = q.SetString(p.Token.Text)
	}
	if !ok || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0 {
		return p.wrong("a fraction from 0 to 1 such as 0.95")
	}
	t.Fraction = p.Token.Text
	return p.Next()
}

// MaxBins bounds the bins of a term.
const MaxBins = 1024

// bounds reads the arguments of bins behind the column.
func (p *parser) bounds(t *Term) error {
	for {
		if more, err := p.Accept(","); err != nil || !more {
			return err
		}
		b := Bound{column.Literal{Text: p.Token.Text}, p.At}
		switch {
		case p.Kind == token.Number:
			b.Kind = column.Number
		case p.Kind == token.Text:
			b.Kind = column.Text
		case p.Is("TRUE") || p.Is("FALSE"):
			b.Kind, b.Text = column.Boolean, strings.ToLower(b.Text)
		default:
			return p.wrong("a bound such as 10 or '2001-02-03'")
		}
		if t.Bounds = append(t.Bounds, b); len(t.Bounds) == MaxBins {
			return p.Fail(p.At, fmt.Sprintf("%smore than %d bins", p.clause, MaxBins))
		}
		if err := p.Next(); err != nil {
			return err
		}
	}
}

func (p *parser) close() error {
	if !p.Is(")") {
		return p.wrong("a )")
	}
	return p.Next()
}

// key reads a part of ORDER BY.
func (p *parser) key() (k Key, err error) {
	if p.Kind == token.Number {
		k.At = p.At
		if k.Place, err = strconv.Atoi(p.Token.Text); err != nil || k.Place < 1 {
			return k, p.wrong("the number of an item of the select list, from 1,")
		}
		err = p.Next()
	} else {
		k.Term, err = p.term()
	}
	if err != nil {
		return k, err
	}
	if k.Descending, err = p.word("DESC"); err != nil {
		return k, err
	}
	if !k.Descending {
		if _, err = p.word("ASC"); err != nil {
			return k, err
		}
	}
	if nulls, err := p.word("NULLS"); err != nil || !nulls {
		return k, err
	}
	if k.MissingFirst, err = p.word("FIRST"); err != nil || k.MissingFirst {
		return k, err
	}
	if last, err := p.word("LAST"); err != nil || last {
		return k, err
	}
	return k, p.wrong("FIRST or LAST")
}
