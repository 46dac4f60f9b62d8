package predicate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/engine/table/column"
)

var comparisons = map[string]column.Op{
	"=": column.Eq, "==": column.Eq, "<>": column.Ne, "!=": column.Ne,
	"<": column.Lt, "<=": column.Le, ">": column.Gt, ">=": column.Ge,
}

// Parse reads a predicate. An error is a *syntax.Error.
func Parse(text string) (Expr, error) {
	p := parser{lexer: lexer{text: text}}
	if err := p.next(); err != nil {
		return Expr{}, err
	}
	root, err := p.or()
	if err == nil && p.kind != end {
		err = p.trailing()
	}
	if err != nil {
		return Expr{}, err
	}
	return Expr{Text: text, Root: root}, nil
}

// parser is a recursive descent with one token in hand.
type parser struct {
	lexer
	depth int
}

// is reports whether the token is a keyword or a symbol.
func (p *parser) is(word string) bool {
	return (p.kind == keyword || p.kind == symbol) && p.token.text == word
}

// accept passes a keyword or a symbol, if that is the token.
func (p *parser) accept(word string) (bool, error) {
	if !p.is(word) {
		return false, nil
	}
	return true, p.next()
}

// compares reports whether the token continues a comparison.
func (p *parser) compares() bool {
	_, ok := comparisons[p.token.text]
	return ok && p.kind == symbol || p.is("BETWEEN") || p.is("IN") || p.is("LIKE")
}

// trailing is the error for a token behind a predicate.
func (p *parser) trailing() error {
	switch {
	case p.is(")"):
		return p.fail(p.at, "a ) without its (")
	case p.kind == symbol && p.compares():
		return p.fail(p.at, "comparisons do not go on: write a < b AND b < c for a < b < c")
	}
	return p.fail(p.at, "AND, OR or the end is expected here")
}

func (p *parser) or() (Node, error)  { return p.list(Or, "OR", (*parser).and) }
func (p *parser) and() (Node, error) { return p.list(And, "AND", (*parser).not) }

// list reads operands with a keyword between each two.
func (p *parser) list(op Op, word string, operand func(*parser) (Node, error)) (Node, error) {
	var args []Node
	for {
		a, err := operand(p)
		if err != nil {
			return a, err
		}
		args = append(args, a)
		more, err := p.accept(word)
		switch {
		case err != nil:
			return a, err
		case !more && len(args) == 1:
			return a, nil
		case !more:
			return Node{Op: op, Args: args}, nil
		}
	}
}

func (p *parser) not() (Node, error) {
	if !p.is("NOT") && !p.is("(") {
		return p.truth(p.test())
	}
	if p.depth++; p.depth > MaxNesting {
		return Node{}, p.fail(p.at, fmt.Sprintf("more than %d parentheses and NOTs inside one another", MaxNesting))
	}
	defer func() { p.depth-- }()
	at, opens := p.at, p.is("(")
	if err := p.next(); err != nil {
		return Node{}, err
	}
	if !opens {
		a, err := p.not()
		return Node{Op: Not, Args: []Node{a}}, err
	}
	return p.truth(p.group(at))
}

// group reads the rest of a parenthesis that opens at at.
func (p *parser) group(at int) (Node, error) {
	if p.is(")") {
		return Node{}, p.fail(at, "nothing between these parentheses")
	}
	a, err := p.or()
	if err != nil {
		return a, err
	}
	if p.kind == end {
		return a, p.fail(at, "a ( without its )")
	}
	if !p.is(")") {
		return a, p.trailing()
	}
	if err := p.next(); err != nil {
		return a, err
	}
	if p.compares() {
		return a, p.fail(at, "parentheses contain conditions: a column or a value that is compared stands without them")
	}
	return a, nil
}

// truth reads the IS [ NOT ] TRUE or FALSE that may follow a test or a parenthesis.
func (p *parser) truth(a Node, err error) (Node, error) {
	if err != nil {
		return a, err
	}
	if is, err := p.accept("IS"); !is || err != nil {
		return a, err
	}
	not, err := p.accept("NOT")
	if err != nil {
		return a, err
	}
	n := Node{Op: IsTrue, Args: []Node{a}, At: a.At}
	switch {
	case p.is("FALSE"):
		n.Op = IsFalse
	case !p.is("TRUE"):
		return a, p.fail(p.at, "TRUE or FALSE is expected here")
	}
	if not {
		n = Node{Op: Not, Args: []Node{n}}
	}
	return n, p.next()
}

// test reads an operand without NOT and parentheses.
func (p *parser) test() (Node, error) {
	if p.kind == name && !p.isTime() {
		return p.column()
	}
	if !p.isValue() {
		reason := "a column, a value, NOT or ( is expected here"
		if _, compares := comparisons[p.token.text]; compares || p.kind == keyword {
			reason += `: a column whose name is a keyword goes in "double quotes"`
		}
		return Node{}, p.fail(p.at, reason)
	}
	v, err := p.value()
	if err != nil {
		return Node{}, err
	}
	if by, ok := comparisons[p.token.text]; ok && p.kind == symbol {
		if err := p.next(); err != nil {
			return Node{}, err
		}
		if p.kind != name {
			return Node{}, p.fail(p.at, "a column is expected here: the other side of this comparison is a value")
		}
		n := Node{Op: Compare, By: by.Swap(), Column: p.token.text, Values: []Value{v}, At: p.at}
		return n, p.next()
	}
	if p.is("BETWEEN") || p.is("IN") || p.is("LIKE") || p.is("IS") && v.Kind != column.Boolean || p.is("NOT") {
		return Node{}, p.fail(v.At, fmt.Sprintf("a column is expected before %s", p.token.text))
	}
	if v.Kind == column.Boolean || v.Kind == column.Null {
		return Node{Op: Constant, Values: []Value{v}, At: v.At}, nil
	}
	return Node{}, p.fail(v.At, "a value that is compared with nothing")
}

// column reads a test that begins with a column.
func (p *parser) column() (Node, error) {
	n := Node{Op: Compare, Column: p.token.text, At: p.at}
	if err := p.next(); err != nil {
		return n, err
	}
	if by, ok := comparisons[p.token.text]; ok && p.kind == symbol {
		n.By = by
		if err := p.next(); err != nil {
			return n, err
		}
		if p.kind == name && !p.isTime() {
			n.Op, n.Other = Columns, p.token.text
			n.Values = []Value{{At: p.at}}
			return n, p.next()
		}
		return n, p.appendValue(&n)
	}
	if p.is("IS") {
		return p.isNull(n)
	}
	not := p.is("NOT")
	if not {
		if err := p.next(); err != nil {
			return n, err
		}
	}
	var err error
	switch {
	case p.is("BETWEEN"):
		n.Op, err = Between, p.between(&n)
	case p.is("IN"):
		n.Op, err = In, p.in(&n)
	case p.is("LIKE"):
		n.Op, err = Like, p.like(&n)
	case not:
		err = p.fail(p.at, "BETWEEN, IN or LIKE is expected here")
	default:
		n.Values = []Value{{column.Literal{Kind: column.Boolean, Text: "true"}, n.At}}
	}
	if not {
		n = Node{Op: Not, Args: []Node{n}}
	}
	return n, err
}

// isNull reads IS [ NOT ] NULL behind a column. Before TRUE or FALSE it leaves the IS to
// the caller, and the column is a test.
func (p *parser) isNull(n Node) (Node, error) {
	start := p.lexer
	if err := p.next(); err != nil {
		return n, err
	}
	not, err := p.accept("NOT")
	if err != nil {
		return n, err
	}
	switch {
	case p.is("TRUE"), p.is("FALSE"):
		p.lexer = start
		n.Values = []Value{{column.Literal{Kind: column.Boolean, Text: "true"}, n.At}}
		return n, nil
	case !p.is("NULL"):
		return n, p.fail(p.at, "NULL, TRUE or FALSE is expected here")
	}
	n.Op = IsNull
	if not {
		n = Node{Op: Not, Args: []Node{n}}
	}
	return n, p.next()
}

func (p *parser) between(n *Node) error {
	if err := p.next(); err != nil {
		return err
	}
	if err := p.appendValue(n); err != nil {
		return err
	}
	if err := p.expect("AND"); err != nil {
		return err
	}
	return p.appendValue(n)
}

func (p *parser) in(n *Node) error {
	if err := p.next(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	for {
		if err := p.appendValue(n); err != nil {
			return err
		}
		if more, err := p.accept(","); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if !p.is(")") {
		return p.fail(p.at, "a comma or a ) is expected here")
	}
	return p.next()
}

// like reads a pattern, and ESCAPE with its character.
func (p *parser) like(n *Node) error {
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != text && !p.is("NULL") {
		return p.fail(p.at, "a pattern in 'single quotes' is expected here")
	}
	if err := p.appendValue(n); err != nil || p.kind != name || !strings.EqualFold(p.token.text, "ESCAPE") {
		return err
	}
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != text || utf8.RuneCountInString(p.token.text) != 1 {
		return p.fail(p.at, "one character in 'single quotes' is expected here")
	}
	return p.appendValue(n)
}

// expect passes a keyword or a symbol that must be there.
func (p *parser) expect(word string) error {
	if !p.is(word) {
		return p.fail(p.at, word+" is expected here")
	}
	return p.next()
}

func (p *parser) isValue() bool {
	return p.kind == number || p.kind == text || p.is("NULL") || p.is("TRUE") || p.is("FALSE") || p.isTime()
}

// isTime reports whether the token is the word DATE or TIMESTAMP before a text. Elsewhere
// these words are names.
func (p *parser) isTime() bool {
	if p.kind != name || !strings.EqualFold(p.token.text, "DATE") && !strings.EqualFold(p.token.text, "TIMESTAMP") {
		return false
	}
	ahead := p.lexer
	return ahead.next() == nil && ahead.kind == text
}

func (p *parser) appendValue(n *Node) error {
	if !p.isValue() {
		reason := "a value is expected here"
		if p.kind == name {
			reason += ", and this is a column: a text goes in 'single quotes'"
		}
		return p.fail(p.at, reason)
	}
	v, err := p.value()
	n.Values = append(n.Values, v)
	return err
}

// value passes the value that the token is.
func (p *parser) value() (Value, error) {
	v := Value{At: p.at}
	if p.isTime() {
		word := p.token.text
		if err := p.next(); err != nil {
			return v, err
		}
		v.Literal = column.Literal{Kind: column.Time, Text: p.token.text}
		if strings.EqualFold(word, "DATE") && strings.Contains(v.Text, ":") {
			return v, p.fail(p.at, "a DATE is a day such as '2001-02-03': TIMESTAMP has a time of day")
		}
		return v, p.next()
	}
	v.Text = p.token.text
	switch {
	case p.kind == number:
		v.Kind = column.Number
	case p.kind == text:
		v.Kind = column.Text
	case p.is("NULL"):
		v.Literal = column.Literal{}
	default:
		v.Literal = column.Literal{Kind: column.Boolean, Text: map[bool]string{true: "true", false: "false"}[p.is("TRUE")]}
	}
	return v, p.next()
}
