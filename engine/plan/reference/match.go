package reference

import (
	"slices"

	"heddle/engine/plan"
)

// Match returns the docIDs of each query of b, ascending. docs holds the docIDs of
// each list, by handle.
func Match(docs [][]uint32, b *plan.MatchBatch) [][]uint32 {
	answers := make([][]uint32, b.Queries())
	for i := range answers {
		if ops := b.Expression(i); len(ops) > 0 {
			answers[i] = Evaluate(docs, ops)
		} else {
			answers[i] = Conjunction(docs, b.Query(i)...)
		}
	}
	return answers
}

// Conjunction returns the docIDs that all lists have in common, ascending; nil
// without lists.
func Conjunction(docs [][]uint32, lists ...plan.Handle) []uint32 {
	var all [][]uint32
	for _, h := range lists {
		all = append(all, docs[h])
	}
	return Intersect(all...)
}

// Evaluate returns the docIDs of a boolean expression in postfix order, ascending;
// nil without operations.
func Evaluate(docs [][]uint32, ops []plan.Op) []uint32 {
	var stack [][]uint32
	for _, op := range ops {
		if op.Code == plan.OpList {
			stack = append(stack, docs[op.List])
			continue
		}
		x, y := stack[len(stack)-2], stack[len(stack)-1]
		stack = stack[:len(stack)-2]
		switch op.Code {
		case plan.OpAnd:
			x = Intersect(x, y)
		case plan.OpOr:
			x = Union(x, y)
		case plan.OpAndNot:
			x = Subtract(x, y)
		case plan.OpNotAnd:
			x = Subtract(y, x)
		}
		stack = append(stack, x)
	}
	if len(stack) == 0 {
		return nil
	}
	return stack[0]
}

// Tree returns the docIDs of a boolean expression, ascending. The expression need
// not be in canonical form.
func Tree(docs [][]uint32, e plan.Expr) []uint32 {
	if e.Op == plan.OpList {
		return docs[e.List]
	}
	var found []uint32
	for i, a := range e.Args {
		operand := Tree(docs, a)
		switch {
		case i == 0:
			found = operand
		case e.Op == plan.OpAnd:
			found = Intersect(found, operand)
		case e.Op == plan.OpOr:
			found = Union(found, operand)
		default:
			found = Subtract(found, operand)
		}
	}
	return found
}

// Intersect returns the common elements of ascending lists, by a merge of one list
// after another; nil without lists.
func Intersect(lists ...[]uint32) []uint32 {
	if len(lists) == 0 {
		return nil
	}
	common := lists[0]
	for _, l := range lists[1:] {
		common = merge(common, l)
	}
	return common
}

func merge(a, b []uint32) []uint32 {
	var both []uint32
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both = append(both, a[i])
			i++
			j++
		}
	}
	return both
}

// Union returns the elements of either of two ascending lists, ascending.
func Union(a, b []uint32) []uint32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Subtract returns the elements of ascending list a that ascending list b lacks.
func Subtract(a, b []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(a), func(x uint32) bool {
		_, found := slices.BinarySearch(b, x)
		return found
	})
}
