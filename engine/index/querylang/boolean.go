// Package querylang reads boolean queries:
//
//	heaven AND (earth OR sea) NOT hell
//
//	query    = { or }
//	or       = and { "OR" and }
//	and      = operand { [ "AND" ] operand | [ "AND" ] "NOT" operand }
//	operand  = word | quoted | "(" or ")"
//
// AND, OR and NOT are operators only in capitals. AND is optional and binds closer than
// OR. NOT subtracts from the operands of the AND around it, so it needs an operand before
// it: "a NOT b" is "a AND NOT b", and "NOT b" alone is an error. A word ends at white
// space, a parenthesis or a quote. Any text between quotes is one term, operators too; \"
// is a quote and \\ a backslash there.
//
// The engine sends each term through the analyser of the index.
package querylang

import (
	"strings"
	"unicode"
)

// Op is the kind of an Expr.
type Op uint8

const (
	Term Op = iota
	And
	Or
	Not // Args[0] without the documents of Args[1:]
)

// Expr is a boolean query as a tree. The zero value is the empty term.
type Expr struct {
	Op   Op
	Term string // of Term, as it stands in the query, without quotes
	// Args are at least two, but for a query without any term, which is an Or of
	// none and matches nothing.
	Args []Expr
}

// Bounds of a query.
const (
	MaxTerms   = 4095 // below 2^(plan.MaxDepth-1), so that they fit where each is an AND of its parts
	MaxNesting = 1000 // parentheses inside one another
)

// Terms yields every term of e from left to right.
func (e Expr) Terms(yield func(string) bool) { e.terms(yield) }

func (e Expr) terms(yield func(string) bool) bool {
	if e.Op == Term {
		return yield(e.Term)
	}
	for _, a := range e.Args {
		if !a.terms(yield) {
			return false
		}
	}
	return true
}

// String writes e so that Parse gives e again.
func (e Expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e Expr) write(b *strings.Builder) {
	if e.Op == Term {
		writeTerm(b, e.Term)
		return
	}
	for i, a := range e.Args {
		if i > 0 {
			b.WriteString([]string{And: " AND ", Or: " OR ", Not: " NOT "}[e.Op])
		}
		// A NOT applies to the whole AND before it.
		if a.Op == Term || e.Op == Or && a.Op != Or || e.Op == Not && i == 0 && a.Op == And {
			a.write(b)
		} else {
			b.WriteByte('(')
			a.write(b)
			b.WriteByte(')')
		}
	}
}

func writeTerm(b *strings.Builder, term string) {
	if term != "" && !operators[term] && wordEnd(term, 0) == len(term) {
		b.WriteString(term)
		return
	}
	b.WriteByte('"')
	for i := range len(term) {
		if term[i] == '"' || term[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(term[i])
	}
	b.WriteByte('"')
}

var operators = map[string]bool{"AND": true, "OR": true, "NOT": true}

// wordEnd is where the word that begins at text[from] ends.
func wordEnd(text string, from int) int {
	n := strings.IndexFunc(text[from:], func(r rune) bool {
		return r == '(' || r == ')' || r == '"' || unicode.IsSpace(r)
	})
	if n < 0 {
		return len(text)
	}
	return from + n
}
