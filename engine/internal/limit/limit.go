// Package limit bounds the size of queries and predicates.
package limit

import (
	"cmp"
	"fmt"

	"heddle/engine/plan"
)

// Limits are the greatest sizes of one query or predicate. See engine.Limits.
type Limits struct{ Text, Terms, Nodes, Depth, Groups, Values, Expansions int }

// Default returns the limits of engine.Options without limits.
func Default() Limits {
	return Limits{Text: 1 << 20, Terms: 1 << 16, Nodes: 1 << 16, Depth: 1 << 12, Groups: 1 << 22, Values: 1 << 24, Expansions: 1 << 10}
}

// EnsureDefaults replaces fields that are 0.
func (l *Limits) EnsureDefaults() {
	d := Default()
	*l = Limits{cmp.Or(l.Text, d.Text), cmp.Or(l.Terms, d.Terms), cmp.Or(l.Nodes, d.Nodes), cmp.Or(l.Depth, d.Depth), cmp.Or(l.Groups, d.Groups), cmp.Or(l.Values, d.Values), cmp.Or(l.Expansions, d.Expansions)}
}

// MostExpansions is the greatest Expansions, and the number of terms up to which the most frequent ones are found.
const MostExpansions = 1 << 16

// Error is a query or predicate above a limit. errors.Is finds plan.ErrTooLarge.
type Error struct {
	Name  string // name of the limit, as in engine.Limits
	Limit int
}

func (e *Error) Error() string {
	unit := map[string]string{"Text": "bytes of text", "Terms": "terms", "Nodes": "nodes of an expression", "Depth": "levels of an expression", "Groups": "groups",
		"Values": "different values for count(DISTINCT) and quantile"}[e.Name]
	return fmt.Sprintf("more than %d %s: limit %s", e.Limit, unit, e.Name)
}

// Is finds plan.ErrTooLarge.
func (e *Error) Is(target error) bool { return target == plan.ErrTooLarge }

// CheckText checks the length of a text in bytes.
func (l *Limits) CheckText(text string) error { return check("Text", len(text), l.Text) }

// CheckTerms checks a number of terms.
func (l *Limits) CheckTerms(n int) error { return check("Terms", n, l.Terms) }

func check(name string, n, limit int) error {
	if n > limit {
		return &Error{name, limit}
	}
	return nil
}

// CheckTree checks the number of nodes of a tree and their depth. It uses no recursion, so
// that any depth is safe.
func CheckTree[T any](l *Limits, root *T, args func(*T) []T) error {
	nodes := 1
	open := [][]T{args(root)} // the nodes on the way to the present one, and their rest
	for len(open) > 0 {
		last := &open[len(open)-1]
		if len(*last) == 0 {
			open = open[:len(open)-1]
			continue
		}
		next := &(*last)[0]
		*last = (*last)[1:]
		nodes++
		open = append(open, args(next))
		if err := check("Nodes", nodes, l.Nodes); err != nil {
			return err
		}
		if err := check("Depth", len(open), l.Depth); err != nil {
			return err
		}
	}
	return nil
}
