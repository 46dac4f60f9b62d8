// Package predicate reads predicates on the columns of a table, in the syntax of SQL
// behind WHERE, and compiles them into steps on the bit vectors and bit slices of the table:
//
//	delay >= 60 AND distance < 500 AND NOT carrier IN ('AA', 'DL')
//
//	or        = and { OR and }
//	and       = not { AND not }
//	not       = [ NOT ] not | "(" or ")" | test
//	test      = column compare value | value compare column | column compare column
//	          | column [ NOT ] BETWEEN value AND value       both included
//	          | column [ NOT ] IN "(" value { "," value } ")"
//	          | column [ NOT ] CONTAINS ( ALL | ANY ) "(" value { "," value } ")"
//	          | column [ NOT ] LIKE 'pattern' [ ESCAPE 'character' ]
//	          | column IS [ NOT ] NULL
//	          | column                                       of type bool
//	          | TRUE | FALSE | NULL
//	compare   = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">="
//	column    = name | "name in double quotes, "" is one of them"
//	value     = [+-]digits[.digits][e[+-]digits] | 'text, '' is a quote' | TRUE | FALSE | NULL
//	          | DATE 'day' | TIMESTAMP 'time'
//
// A test or a parenthesis may end in IS [ NOT ] TRUE or IS [ NOT ] FALSE, which are never
// unknown. A comment extends from -- to the end of the line, or from /* to */.
//
// Words in capitals may be written in any case. A name begins with a letter or _ and
// continues with letters, digits and _; in double quotes any text is a name. Names match
// the names of the table, first letter by letter, then in any case. column.Compare
// defines the values that a column compares with.
//
// LIKE compares the whole of a string with a pattern, in which % stands for any
// characters, and _ stands for one character. The character of ESCAPE makes the next
// character of the pattern plain.
//
// A test of a multi-valued column is true if it is true for any value of the row. With NOT it is true for
// the rows with values of which none has the test; a != b means NOT a = b. A row without values is a
// missing value. CONTAINS ALL is true if the row has each value of the list, CONTAINS ANY is IN. Both take
// other columns too, as rows of one value.
//
// Two columns compare if both have numbers, times, strings or booleans. Numbers compare
// exactly, but with a float or float32 as the nearest value of this type (column.Order).
//
// Logic follows SQL: a comparison with a missing value or with NULL is neither true nor
// false but unknown; NOT leaves unknown as it is; AND and OR are unknown where an unknown
// operand decides. A predicate selects the rows for which it is true.
package predicate

import (
	"strings"

	"heddle/engine/table/column"
	"heddle/engine/table/token"
)

// Op is the kind of a Node.
type Op uint8

const (
	Constant Op = iota // Values[0]: TRUE, FALSE or NULL
	And                // AND of Args, two at least
	Or
	Not     // Args[0]
	Compare // Column By Values[0]
	Between // Values[0] to Values[1]
	In      // any of Values
	IsNull
	Like        // Values[0] is the pattern, Values[1] the escape character, if there is one
	Columns     // Column By Other
	IsTrue      // Args[0]
	IsFalse     // Args[0]
	ContainsAll // every one of Values
)

// Node is a part of a predicate.
type Node struct {
	Op     Op
	By     column.Op // operator of Compare and Columns
	Column string    // name of the column, for Compare to Columns and for ContainsAll
	Other  string    // the second column of Columns
	Values []Value
	Args   []Node
	At     int // offset of the column's name, or of the constant, in the text
}

// Value is a literal, and its offset in the text.
type Value struct {
	column.Literal
	At int
}

// Expr is a parsed predicate with its text.
type Expr struct {
	Text string
	Root Node

	ended func() error // see ParseUntil; nil: never
}

// MaxNesting bounds parentheses and NOTs inside one another.
const MaxNesting = 1000

// String writes e so that Parse gives e again, but for offsets.
func (e Expr) String() string {
	var b strings.Builder
	e.Root.write(&b)
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	switch n.Op {
	case Constant:
		n.Values[0].write(b)
		return
	case And, Or:
		for i := range n.Args {
			a := &n.Args[i]
			if i > 0 {
				b.WriteString([]string{And: " AND ", Or: " OR "}[n.Op])
			}
			a.writeIn(b, a.Op == Or || a.Op == And && n.Op == And)
		}
		return
	case IsTrue, IsFalse:
		n.Args[0].writeIn(b, true)
		b.WriteString(map[Op]string{IsTrue: " IS TRUE", IsFalse: " IS FALSE"}[n.Op])
		return
	case Not:
		b.WriteString("NOT ")
		n.Args[0].writeIn(b, n.Args[0].Op == And || n.Args[0].Op == Or)
		return
	}
	token.WriteName(b, n.Column)
	switch n.Op {
	case Compare:
		b.WriteString(" " + n.By.String() + " ")
		n.Values[0].write(b)
	case Between:
		b.WriteString(" BETWEEN ")
		n.Values[0].write(b)
		b.WriteString(" AND ")
		n.Values[1].write(b)
	case In:
		b.WriteString(" IN")
		n.writeValues(b)
	case ContainsAll:
		b.WriteString(" CONTAINS ALL")
		n.writeValues(b)
	case IsNull:
		b.WriteString(" IS NULL")
	case Like:
		b.WriteString(" LIKE ")
		n.Values[0].write(b)
		if len(n.Values) > 1 {
			b.WriteString(" ESCAPE ")
			n.Values[1].write(b)
		}
	case Columns:
		b.WriteString(" " + n.By.String() + " ")
		token.WriteName(b, n.Other)
	}
}

// writeValues writes a list of values in parentheses.
func (n *Node) writeValues(b *strings.Builder) {
	for i, v := range n.Values {
		b.WriteString([]string{" (", ", "}[min(i, 1)])
		v.write(b)
	}
	b.WriteByte(')')
}

func (n *Node) writeIn(b *strings.Builder, parentheses bool) {
	if parentheses {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.write(b)
}

// String writes v as a literal of a predicate.
func (v Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	switch v.Kind {
	case column.Null:
		b.WriteString("NULL")
	case column.Boolean:
		b.WriteString(strings.ToUpper(v.Text))
	case column.Number:
		b.WriteString(v.Text)
	case column.Time:
		b.WriteString("TIMESTAMP ")
		token.WriteQuoted(b, '\'', v.Text)
	case column.Text:
		token.WriteQuoted(b, '\'', v.Text)
	}
}
