package querylang

import (
	"cmp"
	"fmt"
)

// Parse reads a query. Join, And or Or, is the mode of the query: how it joins clauses
// without a sign or operator. An error is a *syntax.Error. A text of white space alone is a
// query that matches nothing.
func Parse(text string, join Op) (Expr, error) {
	return Rewrite(text, join, nil)
}

// Rewrite is Parse with other operands: change replaces neighbours in a list, that is, operands without signs and operators
// between them, or one with a sign. It gets each once, and returns memory of its own. Parentheses are no neighbours.
func Rewrite(text string, join Op, change func(neighbours []Expr) []Expr) (Expr, error) {
	p := parser{lexer: newLexer(text), join: join, change: change}
	if err := p.next(); err != nil {
		return Expr{}, err
	}
	if p.kind == end {
		return Expr{Op: Or}, nil
	}
	e, err := p.or()
	if err != nil {
		return Expr{}, err
	}
	if p.kind == closing {
		return Expr{}, p.fail(p.at, "a ) without its (")
	}
	return e, nil
}

// parser is a recursive descent.
type parser struct {
	lexer
	join         Op
	change       func(neighbours []Expr) []Expr
	within       string // the field before the parentheses around the token; empty: none
	depth, terms int
}

// is reports whether the token is an operator.
func (p *parser) is(op string) bool { return p.kind == operator && p.token == op }

func (p *parser) or() (Expr, error) {
	var args []Expr
	for {
		a, err := p.list()
		if err != nil {
			return a, err
		}
		args = append(args, a)
		if !p.is("OR") {
			return join(Or, args), nil
		}
		if err := p.step(); err != nil {
			return a, err
		}
	}
}

// list is the clauses between two ORs, by their kind.
type list struct{ required, other, excluded []Expr }

func (p *parser) list() (Expr, error) {
	var l list
	unmarked, neighbours := &l.other, 0 // the number of neighbours at the end of unmarked
	if p.join == And {
		unmarked = &l.required
	}
	changed := func(to *[]Expr, n int) {
		if n > 0 && p.change != nil {
			before := (*to)[:len(*to)-n]
			*to = append(before, p.change((*to)[len(before):])...)
		}
	}
	for and := false; ; {
		mark := ""
		if p.kind == sign || p.is("NOT") {
			mark = p.token
			if err := p.step(); err != nil {
				return Expr{}, err
			}
		}
		opened := p.kind == opening
		a, err := p.operand()
		if err != nil {
			return a, err
		}
		next := p.is("AND")
		to := unmarked
		switch {
		case mark == "-" || mark == "!" || mark == "NOT":
			to = &l.excluded
		case mark == "+" || and || next:
			to = &l.required
		}
		beside := mark == "" && !and && !next && !opened
		if !beside {
			changed(unmarked, neighbours)
			neighbours = 0
		}
		*to = append(*to, a)
		if beside {
			neighbours++
		} else if !opened {
			changed(to, 1)
		}
		if and = next; and {
			if err := p.step(); err != nil {
				return a, err
			}
			continue
		}
		if p.kind == end || p.kind == closing || p.is("OR") {
			break
		}
	}
	changed(unmarked, neighbours)
	if len(l.required)+len(l.other) == 0 {
		l.other = []Expr{{Op: All}} // all documents, less the excluded documents
	}
	return l.expr(), nil
}

func (l *list) expr() Expr {
	e := join(Or, l.other)
	if len(l.required) > 0 {
		e = join(And, l.required)
		if len(l.other) > 0 {
			e = Expr{Op: Prefer, Args: append([]Expr{e}, l.other...)}
		}
	}
	if len(l.excluded) > 0 {
		e = Expr{Op: Not, Args: append([]Expr{e}, l.excluded...)}
	}
	return e
}

// step passes an operator or sign, behind which an operand must stand.
func (p *parser) step() error {
	at, op, written := p.at, p.token, p.text[p.at:p.to]
	if err := p.next(); err != nil {
		return err
	}
	switch {
	case p.kind == word, p.kind == prefix, p.kind == tolerant, p.kind == group, p.kind == every, p.kind == opening:
		return nil
	case (op == "AND" || op == "OR") && (p.kind == sign || p.is("NOT")):
		return nil
	}
	return p.fail(at, "nothing behind this "+written)
}

func (p *parser) operand() (Expr, error) {
	switch p.kind {
	case every:
		return Expr{Op: All, Field: cmp.Or(p.field, p.within)}, p.next()
	case word, prefix, tolerant:
		if p.terms++; p.terms > MaxTerms {
			return Expr{}, p.fail(p.at, fmt.Sprintf("more than %d terms", MaxTerms))
		}
		e := Expr{Term: p.token, Field: cmp.Or(p.field, p.within), Weight: p.weight}
		switch p.kind {
		case prefix:
			e.Op = Prefix
		case tolerant:
			e.Op = Expand
		}
		return e, p.next()
	case group:
		if p.terms += len(p.lexer.group.Args); p.terms > MaxTerms {
			return Expr{}, p.fail(p.at, fmt.Sprintf("more than %d terms", MaxTerms))
		}
		e := p.lexer.group
		e.Weight, e.Field = p.weight, cmp.Or(p.field, p.within)
		return e, p.next()
	case opening:
		around := p.within
		p.within = cmp.Or(p.field, around)
		e, err := p.parenthesis()
		p.within = around
		return e, err
	case closing:
		return Expr{}, p.fail(p.at, "a ) without its (")
	}
	return Expr{}, p.fail(p.at, "nothing before this "+p.text[p.at:p.to])
}

// parenthesis reads an expression in parentheses.
func (p *parser) parenthesis() (Expr, error) {
	at := p.at
	if p.depth++; p.depth > MaxNesting {
		return Expr{}, p.fail(at, fmt.Sprintf("more than %d parentheses inside one another", MaxNesting))
	}
	if err := p.next(); err != nil {
		return Expr{}, err
	}
	switch p.kind {
	case closing:
		return Expr{}, p.fail(at, "nothing between these parentheses")
	case end:
		return Expr{}, p.fail(at, "a ( without its )")
	}
	e, err := p.or()
	if err != nil {
		return e, err
	}
	if p.kind != closing {
		return e, p.fail(at, "a ( without its )")
	}
	if p.weight > 0 && !e.scale(p.weight) {
		return e, p.fail(p.at+1, "the product of this weight and a weight inside the parentheses is out of range")
	}
	p.depth--
	return e, p.next()
}

// join joins args by op; one alone stays as it is.
func join(op Op, args []Expr) Expr {
	if len(args) == 1 {
		return args[0]
	}
	return Expr{Op: op, Args: args}
}
