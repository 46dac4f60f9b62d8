package querylang

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Op is the kind of an Expr.
type Op uint8

const (
	Term    Op = iota
	And        // every one of Args
	Or         // any of Args
	Not        // Args[0] without the documents of Args[1:]
	Prefix     // any term of the index that begins with Expr.Term
	Prefer     // the documents of Args[0]; Args[1:] only add to scores
	All        // every document, or with a Field every document with a word in it; it has no Args and adds nothing to scores
	Phrase     // Args one behind the other; Distance is the slop, as Lucene defines it
	Near       // Args in any order within Distance positions, as #uw of Indri
	Ordered    // Args in their order, each at most Distance positions behind the one before, as #od of Indri
	Expand     // any term of the index that the tolerant word Expr.Term stands for: see Tolerant
)

// Expr is a query as a tree. The zero value is the empty term.
type Expr struct {
	Op   Op
	Term string // the text of a Term or Prefix, as in the query, without backslashes; of an Expand as in the query
	// Field is the only field of a Term, Prefix, Expand, Phrase, Near, Ordered or All. Default: "", the fields of the query.
	Field string
	// Weight of Term, Prefix, Expand, Phrase, Near and Ordered in a ranked query, positive and finite. 0 means 1.
	Weight float64
	// Distance of Phrase, from 0, and of Near and Ordered, from 1. Their Args are terms and prefixes.
	Distance uint32
	// Spread marks an Or that InFields has put in the place of one leaf.
	Spread bool
	// Args are at least two, except for a query without any term, which is an Or of
	// none and matches nothing, and for All. The engine also takes an And, Or or Prefer of
	// one. It refuses an And or Prefer of none and a Not of fewer than two.
	Args []Expr
}

// Bounds of a query.
const (
	MaxTerms      = 4095    // below 2^(plan.MaxDepth-1), so that they fit where each is an AND of its parts
	MaxNesting    = 1000    // parentheses inside one another
	MaxWord       = 1 << 12 // bytes of a prefix or tolerant word
	MaxExpression = 1 << 16 // bytes of a regular expression
)

// Leaves yields every term, prefix, tolerant word, phrase and window of e from left to right.
func (e Expr) Leaves(yield func(Expr) bool) { e.leaves(yield) }

func (e Expr) leaves(yield func(Expr) bool) bool {
	if e.leaf() {
		return yield(e)
	}
	for _, a := range e.Args {
		if !a.leaves(yield) {
			return false
		}
	}
	return true
}

// leaf tells whether e is an operand with a weight.
func (e Expr) leaf() bool { return e.Op == Term || e.Expands() || e.Positional() }

// Expands tells whether e is a prefix or a tolerant word, which stands for terms of the index.
func (e Expr) Expands() bool { return e.Op == Prefix || e.Op == Expand }

// scale multiplies all weights by w. It returns false if a product is not positive and
// finite.
func (e *Expr) scale(w float64) bool {
	if e.leaf() {
		e.Weight = w * cmp.Or(e.Weight, 1)
		return e.Weight > 0 && !math.IsInf(e.Weight, 1)
	}
	for i := range e.Args {
		if !e.Args[i].scale(w) {
			return false
		}
	}
	return true
}

// Words joins the words of a text without operators, which white space splits, by And or Or. Without words it is an Or of
// nothing.
func Words(text string, join Op) Expr {
	e := Expr{Op: join}
	for word := range strings.FieldsSeq(text) {
		e.Args = append(e.Args, Expr{Term: word})
	}
	if len(e.Args) == 0 {
		e.Op = Or
	}
	return e
}

// String writes e so that Parse(e.String(), Or) gives e again. An empty term becomes a
// space.
func (e Expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e Expr) write(b *strings.Builder) {
	if e.Field != "" && (e.leaf() || e.Op == All) {
		b.WriteString(e.Field + ":")
	}
	if e.Op == All {
		b.WriteByte('*')
		return
	}
	if e.Positional() {
		e.writeGroup(b)
		e.writeWeight(b)
		return
	}
	if e.leaf() {
		// Behind a number without a backslash, ^ is text.
		if e.Op == Expand {
			b.WriteString(e.Term)
		} else {
			writeTerm(b, e.Term, e.Op == Term && e.Weight != 0 && !strings.ContainsFunc(e.Term, unicode.IsLetter))
		}
		if e.Op == Prefix {
			b.WriteByte('*')
		}
		e.writeWeight(b)
		return
	}
	if e.Op == Prefer {
		b.WriteByte('+')
	}
	for i, a := range e.Args {
		if i > 0 {
			b.WriteString([]string{And: " AND ", Or: " OR ", Not: " NOT ", Prefer: " "}[e.Op])
		}
		// A NOT applies to the whole AND before it.
		if a.leaf() || a.Op == All && e.Op != Prefer || e.Op == Or && a.Op != Or || e.Op == Not && i == 0 && a.Op == And {
			a.write(b)
		} else {
			b.WriteByte('(')
			a.write(b)
			b.WriteByte(')')
		}
	}
}

func (e Expr) writeWeight(b *strings.Builder) {
	if e.Weight != 0 {
		b.WriteString("^" + strconv.FormatFloat(e.Weight, 'g', -1, 64))
	}
}

// writeTerm writes a term with a backslash before each character that might mean something,
// and before the first one if escape is set.
func writeTerm(b *strings.Builder, term string, escape bool) {
	if term == "" {
		term = " "
	}
	if operators[term] != "" {
		b.WriteByte('\\')
		b.WriteString(term)
		return
	}
	for i, r := range term {
		if escape && i == 0 || !wordRune(r) && (i == 0 || r != '-' && r != '.' && r != '\'') {
			b.WriteByte('\\')
		}
		_, size := utf8.DecodeRuneInString(term[i:])
		b.WriteString(term[i : i+size])
	}
}

// wordRune tells whether r is always text.
func wordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// operators have their names by the words that are operators.
var operators = map[string]string{"AND": "AND", "&&": "AND", "OR": "OR", "||": "OR", "NOT": "NOT"}
