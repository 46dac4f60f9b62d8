package result_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/engine/table/column"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/engine/table/statement"
)

// The oracle answers statements from the plain values of columns: nil, int64, float64, string,
// bool, time.Time, and *big.Int for sums.

// compareValues puts nil last.
func compareValues(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64: // NaN is the greatest
		return cmp.Or(cmp.Compare(unordered(a), unordered(b.(float64))), cmp.Compare(a, b.(float64)))
	case string:
		return cmp.Compare(a, b.(string))
	case time.Time:
		return a.Compare(b.(time.Time))
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case bin:
		return cmp.Compare(a.number, b.(bin).number)
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// bin is the bin of a value.
type bin struct {
	number int
	label  string
}

// String is the form of a bin in a result.
func (b bin) String() string { return b.label }

// binOf is the bin of a value under the bounds of a term.
func binOf(v any, t statement.Term) any {
	if v == nil {
		return nil
	}
	var bounds []column.Literal
	for _, b := range t.Bounds {
		bounds = append(bounds, b.Literal)
	}
	b := bin{number: predicatetest.Bin(v, bounds)}
	switch n := len(bounds); b.number {
	case 0:
		b.label = "< " + bounds[0].Text
	case n:
		b.label = ">= " + bounds[n-1].Text
	default:
		b.label = "[" + bounds[b.number-1].Text + ", " + bounds[b.number].Text + ")"
	}
	return b
}

// value is the value of a column, or its bin.
func value(t statement.Term, columns map[string][]any, row int) any {
	if v := columns[t.Column][row]; t.Function == statement.Column {
		return v
	} else {
		return binOf(v, t)
	}
}

// unordered is 1 for NaN, and 0 for other numbers.
func unordered(v float64) int {
	if math.IsNaN(v) {
		return 1
	}
	return 0
}

// write is the form of a value in a result.
func write(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case float64:
		return strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// number is the value of a number or boolean.
func number(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case bool:
		if v {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	}
	return new(big.Rat).SetFloat64(v.(float64))
}

// total is a sum or mean of values that are not nil.
func total(values []any, mean bool) any {
	sum, n := new(big.Rat), int64(0)
	infinite, isFloat := 0.0, false
	for _, v := range values {
		f, ok := v.(float64)
		isFloat = isFloat || ok
		if n++; ok && math.IsInf(f, 0) {
			infinite += f // Inf - Inf is NaN
		} else {
			sum.Add(sum, number(v))
		}
	}
	switch {
	case infinite != 0:
		return infinite
	case mean:
		sum.Quo(sum, big.NewRat(n, 1))
	case !isFloat:
		return sum.Num()
	}
	f, _ := sum.Float64()
	return f
}

// aggregate computes a term of a group of rows.
func aggregate(t statement.Term, columns map[string][]any, rows []int) any {
	var present []any
	for _, row := range rows {
		if v := columns[t.Column]; t.Column != "" && v[row] != nil {
			present = append(present, v[row])
		}
	}
	slices.SortFunc(present, compareValues)
	switch t.Function {
	case statement.Rows:
		return int64(len(rows))
	case statement.Count:
		return int64(len(present))
	case statement.CountDistinct:
		return int64(len(slices.CompactFunc(present, func(a, b any) bool { return compareValues(a, b) == 0 })))
	}
	if len(present) == 0 {
		return nil
	}
	switch t.Function {
	case statement.Sum, statement.Avg:
		return total(present, t.Function == statement.Avg)
	case statement.Min:
		return present[0]
	case statement.Max:
		return present[len(present)-1]
	}
	q, _ := new(big.Rat).SetString(t.Fraction)
	for i, v := range present { // the first value that so many do not exceed
		if new(big.Rat).SetFrac64(int64(i+1), int64(len(present))).Cmp(q) >= 0 {
			return v
		}
	}
	return present[len(present)-1]
}

// answer is the rows of a result, in order. ordered are the values that decide the order.
func answer(s *statement.Statement, all []predicatetest.Column, selected []int, offset, limit int) [][]any {
	columns := map[string][]any{}
	for _, c := range all {
		columns[c.Name] = c.Values
	}
	grouped := len(s.Groups) > 0
	for _, x := range s.Items {
		grouped = grouped || x.Function > statement.All
	}
	var groups [][]int
	var keys [][]any // the key of each group
	if grouped && len(s.Groups) == 0 {
		groups, keys = append(groups, selected), append(keys, nil)
	}
	for _, row := range selected {
		if !grouped {
			groups, keys = append(groups, []int{row}), append(keys, nil)
			continue
		}
		if len(s.Groups) == 0 {
			continue
		}
		var key []any
		for _, t := range s.Groups {
			key = append(key, value(t, columns, row))
		}
		at := slices.IndexFunc(keys, func(k []any) bool { return slices.CompareFunc(k, key, compareValues) == 0 })
		if at < 0 {
			at, groups, keys = len(groups), append(groups, nil), append(keys, key)
		}
		groups[at] = append(groups[at], row)
	}
	of := func(t statement.Term, rows []int) any {
		if t.Function <= statement.Bins {
			return value(t, columns, rows[0])
		}
		return aggregate(t, columns, rows)
	}
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		for _, by := range s.Keys {
			t := by.Term
			if by.Place > 0 {
				t = s.Items[by.Place-1].Term
			}
			a, b := of(t, groups[i]), of(t, groups[k])
			d := compareValues(a, b)
			if (a == nil) != (b == nil) && by.MissingFirst || a != nil && b != nil && by.Descending {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return slices.CompareFunc(keys[i], keys[k], compareValues)
	})
	var out [][]any
	for _, i := range order {
		var row []any
		for _, x := range s.Items {
			row = append(row, of(x.Term, groups[i]))
		}
		out = append(out, row)
	}
	out = out[min(offset, len(out)):]
	if limit > 0 {
		out = out[:min(limit, len(out))]
	}
	return out
}
