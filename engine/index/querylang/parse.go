package querylang

import (
	"fmt"
	"strings"
	"unicode"

	"heddle/engine/syntax"
)

// Parse reads a query. An error is a *syntax.Error. A text of white space alone
// is a query that matches nothing.
func Parse(text string) (Expr, error) {
	p := parser{text: text}
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

// The kinds of tokens.
const (
	end = iota
	word
	operator
	opening
	closing
)

// parser is a recursive descent with one token in hand.
type parser struct {
	text  string
	kind  int
	at    int    // where the token begins
	to    int    // and ends
	token string // the term or the operator

	depth, terms int
}

// next reads the next token.
func (p *parser) next() error {
	p.at = len(p.text)
	if n := strings.IndexFunc(p.text[p.to:], func(r rune) bool { return !unicode.IsSpace(r) }); n >= 0 {
		p.at = p.to + n
	}
	if p.at == len(p.text) {
		p.kind, p.to = end, p.at
		return nil
	}
	switch p.text[p.at] {
	case '(':
		p.kind, p.to = opening, p.at+1
	case ')':
		p.kind, p.to = closing, p.at+1
	case '"':
		return p.quoted()
	default:
		p.to = wordEnd(p.text, p.at)
		p.kind, p.token = word, p.text[p.at:p.to]
		if operators[p.token] {
			p.kind = operator
		}
	}
	return nil
}

// quoted reads a term between quotes.
func (p *parser) quoted() error {
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '"':
			p.kind, p.token, p.to = word, b.String(), i+1
			return nil
		case '\\':
			if i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\') {
				i++
			}
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	return p.fail(p.at, "a quote that does not end")
}

// is reports whether the token is an operator.
func (p *parser) is(op string) bool { return p.kind == operator && p.token == op }

func (p *parser) or() (Expr, error) {
	var args []Expr
	for {
		a, err := p.and()
		if err != nil {
			return a, err
		}
		args = append(args, a)
		if !p.is("OR") {
			return join(Or, args), nil
		}
		if err := p.step("OR"); err != nil {
			return a, err
		}
	}
}

func (p *parser) and() (Expr, error) {
	var args, not []Expr
	for {
		to := &args
		if p.is("AND") && len(args) > 0 {
			at := p.at
			if err := p.next(); err != nil {
				return Expr{}, err
			}
			if !p.is("NOT") {
				if err := p.operandFollows("AND", at); err != nil {
					return Expr{}, err
				}
			}
		}
		if p.is("NOT") {
			if len(args) == 0 {
				return Expr{}, p.fail(p.at, "a NOT with nothing to subtract from: NOT takes away from what stands before it, as in a NOT b")
			}
			if err := p.step("NOT"); err != nil {
				return Expr{}, err
			}
			to = &not
		}
		a, err := p.operand()
		if err != nil {
			return a, err
		}
		*to = append(*to, a)
		if p.kind == end || p.kind == closing || p.is("OR") {
			break
		}
	}
	e := join(And, args)
	if len(not) > 0 {
		e = Expr{Op: Not, Args: append([]Expr{e}, not...)}
	}
	return e, nil
}

// step passes an operator that must have an operand behind it.
func (p *parser) step(op string) error {
	at := p.at
	if err := p.next(); err != nil {
		return err
	}
	if p.is("NOT") && op == "OR" {
		return nil // the caller reports the error
	}
	return p.operandFollows(op, at)
}

// operandFollows complains about the operator at at, unless an operand is next.
func (p *parser) operandFollows(op string, at int) error {
	if p.kind == word || p.kind == opening {
		return nil
	}
	return p.fail(at, "nothing behind this "+op)
}

func (p *parser) operand() (Expr, error) {
	switch p.kind {
	case word:
		if p.terms++; p.terms > MaxTerms {
			return Expr{}, p.fail(p.at, fmt.Sprintf("more than %d terms", MaxTerms))
		}
		e := Expr{Term: p.token}
		return e, p.next()
	case opening:
		return p.group()
	case closing:
		return Expr{}, p.fail(p.at, "a ) without its (")
	}
	return Expr{}, p.fail(p.at, "nothing before this "+p.token)
}

// group reads an expression in parentheses.
func (p *parser) group() (Expr, error) {
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
	p.depth--
	return e, p.next()
}

func join(op Op, args []Expr) Expr {
	if len(args) == 1 {
		return args[0]
	}
	return Expr{Op: op, Args: args}
}

func (p *parser) fail(at int, reason string) error {
	return &syntax.Error{Text: p.text, Offset: at, Reason: reason}
}
