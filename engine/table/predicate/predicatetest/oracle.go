// Package predicatetest helps to test predicates: tables made from plain Go values,
// random tables and predicates, and an oracle that evaluates row after row.
package predicatetest

import (
	"cmp"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
)

// Truth is a value of three-valued logic. AND is the least, OR the greatest of its
// operands, NOT the negative.
type Truth int

const (
	False Truth = iota - 1
	Unknown
	True
)

// Eval evaluates n for a row whose value of a column is an int64, float64, string, bool
// or time.Time, or nil where it is missing.
func Eval(n *predicate.Node, value func(column string) any) Truth {
	switch n.Op {
	case predicate.Constant:
		return compare(true, n.Values[0], column.Eq)
	case predicate.And:
		t := True
		for i := range n.Args {
			t = min(t, Eval(&n.Args[i], value))
		}
		return t
	case predicate.Or:
		t := False
		for i := range n.Args {
			t = max(t, Eval(&n.Args[i], value))
		}
		return t
	case predicate.Not:
		return -Eval(&n.Args[0], value)
	case predicate.IsTrue:
		return truth(Eval(&n.Args[0], value) == True)
	case predicate.IsFalse:
		return truth(Eval(&n.Args[0], value) == False)
	}
	v := value(n.Column)
	switch n.Op {
	case predicate.IsNull:
		return truth(v == nil)
	case predicate.Between:
		return min(compare(v, n.Values[0], column.Ge), compare(v, n.Values[1], column.Le))
	case predicate.In:
		t := False
		for _, x := range n.Values {
			t = max(t, compare(v, x, column.Eq))
		}
		return t
	case predicate.Like:
		if v == nil {
			return Unknown
		}
		return truth(like(n.Values).MatchString(v.(string)))
	case predicate.Columns:
		return compareValues(v, value(n.Other), n.By)
	}
	return compare(v, n.Values[0], n.By)
}

// like is the pattern of LIKE as a regular expression. Bytes that are not UTF-8 are
// characters, too.
func like(values []predicate.Value) *regexp.Regexp {
	var b strings.Builder
	escaped := false
	for _, r := range values[0].Text {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case len(values) > 1 && string(r) == values[1].Text:
			escaped = true
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile("(?s)^" + b.String() + "$")
}

// compareValues compares values of columns of one type, or an integer with a float.
func compareValues(v, w any, by column.Op) Truth {
	if v == nil || w == nil {
		return Unknown
	}
	order := 0
	switch v := v.(type) {
	case int64:
		if f, ok := w.(float64); ok {
			order = cmp.Compare(float64(v), f)
		} else {
			order = cmp.Compare(v, w.(int64))
		}
	case float64:
		if n, ok := w.(int64); ok {
			order = cmp.Compare(v, float64(n))
		} else {
			order = cmp.Compare(v, w.(float64))
		}
	case string:
		order = cmp.Compare(v, w.(string))
	case bool:
		order = cmp.Compare(strconv.FormatBool(v), strconv.FormatBool(w.(bool)))
	case time.Time:
		order = v.Compare(w.(time.Time))
	}
	return truth([]bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}[by])
}

// Bin is the bin of a value: the number of bounds that are not above it.
func Bin(v any, bounds []column.Literal) (n int) {
	for _, b := range bounds {
		if compare(v, predicate.Value{Literal: b}, column.Ge) == True {
			n++
		}
	}
	return n
}

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

func compare(v any, l predicate.Value, by column.Op) Truth {
	if v == nil || l.Kind == column.Null {
		return Unknown
	}
	order := 0
	switch v := v.(type) {
	case int64:
		order = new(big.Rat).SetInt64(v).Cmp(rational(l.Text))
	case float64:
		order = compareFloat(v, l.Text)
	case string:
		order = cmp.Compare(v, l.Text)
	case bool:
		order = cmp.Compare(strconv.FormatBool(v), l.Text) // false is before true
	case time.Time:
		order = v.Compare(instant(l.Text))
	}
	return truth([]bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}[by])
}

func rational(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// compareFloat compares with the nearest double. A number beyond all finite doubles is
// compared by its exact value.
func compareFloat(v float64, s string) int {
	x, err := strconv.ParseFloat(s, 64)
	if err == nil || math.IsInf(v, 0) {
		if err != nil {
			x = math.Copysign(math.MaxFloat64, x)
		}
		return cmp.Compare(v, x)
	}
	return cmp.Compare(0, x)
}

func instant(s string) time.Time {
	if at, ok := strings.CutPrefix(s, "@"); ok {
		micros := new(big.Rat).Mul(rational(at), big.NewRat(1e6, 1))
		return time.UnixMicro(micros.Num().Int64() / micros.Denom().Int64()).UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	panic(s)
}
