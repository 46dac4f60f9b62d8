package predicate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/engine/table/column"
	"heddle/engine/table/token"
)

// Parse reads a predicate. An error is a *syntax.Error.
func Parse(text string) (Expr, error) { return ParseUntil(text, nil) }

// ParseUntil is Parse for a text of any length: it and Compile call ended now and then, and
// return its error. A nil ended has no effect.
func ParseUntil(text string, ended func() error) (Expr, error) {
	p := parser{Lexer: token.Lexer{Source: text, Symbols: "(),", Ended: ended}}
	if err := p.Next(); err != nil {
		return Expr{}, err
	}
	root, err := p.or()
	if err == nil && p.Kind != token.End {
		err = p.trailing()
	}
	if err != nil {
		return Expr{}, err
	}
	return Expr{Text: text, Root: root, ended: ended}, nil
}

// parser is a recursive descent with one token in hand.
type parser struct {
	token.Lexer
	depth int
}

// compares reports whether the token continues a comparison.
func (p *parser) compares() bool {
	_, ok := token.Comparisons[p.Token.Text]
	return ok && p.Kind == token.Symbol || p.Is("BETWEEN") || p.Is("IN") || p.Is("LIKE")
}

// trailing is the error for a token behind a predicate.
func (p *parser) trailing() error {
	switch {
	case p.Is(")"):
		return p.Fail(p.At, "a ) without its (")
	case p.Kind == token.Symbol && p.compares():
		return p.Fail(p.At, "comparisons do not go on: write a < b AND b < c for a < b < c")
	}
	return p.Fail(p.At, "AND, OR or the end is expected here")
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
		more, err := p.Accept(word)
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
	if !p.Is("NOT") && !p.Is("(") {
		return p.truth(p.test())
	}
	if p.depth++; p.depth > MaxNesting {
		return Node{}, p.Fail(p.At, fmt.Sprintf("more than %d parentheses and NOTs inside one another", MaxNesting))
	}
	defer func() { p.depth-- }()
	at, opens := p.At, p.Is("(")
	if err := p.Next(); err != nil {
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
	if p.Is(")") {
		return Node{}, p.Fail(at, "nothing between these parentheses")
	}
	a, err := p.or()
	if err != nil {
		return a, err
	}
	if p.Kind == token.End {
		return a, p.Fail(at, "a ( without its )")
	}
	if !p.Is(")") {
		return a, p.trailing()
	}
	if err := p.Next(); err != nil {
		return a, err
	}
	if p.compares() {
		return a, p.Fail(at, "parentheses contain conditions: a column or a value that is compared stands without them")
	}
	return a, nil
}

// truth reads the IS [ NOT ] TRUE or FALSE that may follow a test or a parenthesis.
func (p *parser) truth(a Node, err error) (Node, error) {
	if err != nil {
		return a, err
	}
	if is, err := p.Accept("IS"); !is || err != nil {
		return a, err
	}
	not, err := p.Accept("NOT")
	if err != nil {
		return a, err
	}
	n := Node{Op: IsTrue, Args: []Node{a}, At: a.At}
	switch {
	case p.Is("FALSE"):
		n.Op = IsFalse
	case !p.Is("TRUE"):
		return a, p.Fail(p.At, "TRUE or FALSE is expected here")
	}
	if not {
		n = Node{Op: Not, Args: []Node{n}}
	}
	return n, p.Next()
}

// test reads an operand without NOT and parentheses.
func (p *parser) test() (Node, error) {
	if p.Kind == token.Name && !p.isTime() {
		return p.column()
	}
	if !p.isValue() {
		reason := "a column, a value, NOT or ( is expected here"
		if _, compares := token.Comparisons[p.Token.Text]; compares || p.Kind == token.Keyword {
			reason += `: a column whose name is a keyword goes in "double quotes"`
		}
		return Node{}, p.Fail(p.At, reason)
	}
	v, err := p.value()
	if err != nil {
		return Node{}, err
	}
	if by, ok := token.Comparisons[p.Token.Text]; ok && p.Kind == token.Symbol {
		if err := p.Next(); err != nil {
			return Node{}, err
		}
		if p.Kind != token.Name {
			return Node{}, p.Fail(p.At, "a column is expected here: the other side of this comparison is a value")
		}
		n := Node{Op: Compare, By: by.Swap(), Column: p.Token.Text, Values: []Value{v}, At: p.At}
		return n, p.Next()
	}
	if p.Is("BETWEEN") || p.Is("IN") || p.Is("LIKE") || p.Is("IS") && v.Kind != column.Boolean || p.Is("NOT") {
		return Node{}, p.Fail(v.At, fmt.Sprintf("a column is expected before %s", p.Token.Text))
	}
	if v.Kind == column.Boolean || v.Kind == column.Null {
		return Node{Op: Constant, Values: []Value{v}, At: v.At}, nil
	}
	return Node{}, p.Fail(v.At, "a value that is compared with nothing")
}

// column reads a test that begins with a column.
func (p *parser) column() (Node, error) {
	n := Node{Op: Compare, Column: p.Token.Text, At: p.At}
	if err := p.Next(); err != nil {
		return n, err
	}
	if by, ok := token.Comparisons[p.Token.Text]; ok && p.Kind == token.Symbol {
		n.By = by
		if err := p.Next(); err != nil {
			return n, err
		}
		if p.Kind == token.Name && !p.isTime() {
			n.Op, n.Other = Columns, p.Token.Text
			n.Values = []Value{{At: p.At}}
			return n, p.Next()
		}
		return n, p.appendValue(&n)
	}
	if p.Is("IS") {
		return p.isNull(n)
	}
	not := p.Is("NOT")
	if not {
		if err := p.Next(); err != nil {
			return n, err
		}
	}
	var err error
	switch {
	case p.Is("BETWEEN"):
		n.Op, err = Between, p.between(&n)
	case p.Is("IN"):
		n.Op, err = In, p.in(&n)
	case p.Is("LIKE"):
		n.Op, err = Like, p.like(&n)
	case p.isName("CONTAINS"):
		err = p.contains(&n)
	case not:
		err = p.Fail(p.At, "BETWEEN, IN, LIKE or CONTAINS is expected here")
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
	start := p.Lexer
	if err := p.Next(); err != nil {
		return n, err
	}
	not, err := p.Accept("NOT")
	if err != nil {
		return n, err
	}
	switch {
	case p.Is("TRUE"), p.Is("FALSE"):
		p.Lexer = start
		n.Values = []Value{{column.Literal{Kind: column.Boolean, Text: "true"}, n.At}}
		return n, nil
	case !p.Is("NULL"):
		return n, p.Fail(p.At, "NULL, TRUE or FALSE is expected here")
	}
	n.Op = IsNull
	if not {
		n = Node{Op: Not, Args: []Node{n}}
	}
	return n, p.Next()
}

func (p *parser) between(n *Node) error {
	if err := p.Next(); err != nil {
		return err
	}
	if err := p.appendValue(n); err != nil {
		return err
	}
	if err := p.Expect("AND"); err != nil {
		return err
	}
	return p.appendValue(n)
}

// contains reads ALL or ANY, and a list of values.
func (p *parser) contains(n *Node) error {
	if err := p.Next(); err != nil {
		return err
	}
	switch {
	case p.isName("ALL"):
		n.Op = ContainsAll
	case p.isName("ANY"):
		n.Op = In
	default:
		return p.Fail(p.At, "ALL or ANY is expected here, as in CONTAINS ALL ('x', 'y')")
	}
	return p.in(n)
}

// isName reports whether the token is a word that is no keyword.
func (p *parser) isName(word string) bool {
	return p.Kind == token.Name && strings.EqualFold(p.Token.Text, word)
}

func (p *parser) in(n *Node) error {
	if err := p.Next(); err != nil {
		return err
	}
	if err := p.Expect("("); err != nil {
		return err
	}
	for {
		if err := p.appendValue(n); err != nil {
			return err
		}
		if more, err := p.Accept(","); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if !p.Is(")") {
		return p.Fail(p.At, "a comma or a ) is expected here")
	}
	return p.Next()
}

// like reads a pattern, and ESCAPE with its character.
func (p *parser) like(n *Node) error {
	if err := p.Next(); err != nil {
		return err
	}
	if p.Kind != token.Text && !p.Is("NULL") {
		return p.Fail(p.At, "a pattern in 'single quotes' is expected here")
	}
	if err := p.appendValue(n); err != nil || !p.isName("ESCAPE") {
		return err
	}
	if err := p.Next(); err != nil {
		return err
	}
	if p.Kind != token.Text || utf8.RuneCountInString(p.Token.Text) != 1 {
		return p.Fail(p.At, "one character in 'single quotes' is expected here")
	}
	return p.appendValue(n)
}

func (p *parser) isValue() bool {
	return p.Kind == token.Number || p.Kind == token.Text || p.Is("NULL") || p.Is("TRUE") || p.Is("FALSE") || p.isTime()
}

// isTime reports whether the token is the word DATE or TIMESTAMP before a text. Elsewhere
// these words are names.
func (p *parser) isTime() bool {
	if !p.isName("DATE") && !p.isName("TIMESTAMP") {
		return false
	}
	ahead := p.Lexer
	return ahead.Next() == nil && ahead.Kind == token.Text
}

func (p *parser) appendValue(n *Node) error {
	if !p.isValue() {
		reason := "a value is expected here"
		if p.Kind == token.Name {
			reason += ", and this is a column: a text goes in 'single quotes'"
		}
		return p.Fail(p.At, reason)
	}
	v, err := p.value()
	n.Values = append(n.Values, v)
	return err
}

// value passes the value that the token is.
func (p *parser) value() (Value, error) {
	v := Value{At: p.At}
	if p.isTime() {
		word := p.Token.Text
		if err := p.Next(); err != nil {
			return v, err
		}
		v.Literal = column.Literal{Kind: column.Time, Text: p.Token.Text}
		if strings.EqualFold(word, "DATE") && strings.Contains(v.Text, ":") {
			return v, p.Fail(p.At, "a DATE is a day such as '2001-02-03': TIMESTAMP has a time of day")
		}
		return v, p.Next()
	}
	v.Text = p.Token.Text
	switch {
	case p.Kind == token.Number:
		v.Kind = column.Number
	case p.Kind == token.Text:
		v.Kind = column.Text
	case p.Is("NULL"):
		v.Literal = column.Literal{}
	default:
		v.Literal = column.Literal{Kind: column.Boolean, Text: map[bool]string{true: "true", false: "false"}[p.Is("TRUE")]}
	}
	return v, p.Next()
}
