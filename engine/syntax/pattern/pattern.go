// Package pattern has regular expressions that are compiled at their first use, so that a start of a program that uses
// none of them stays quick.
package pattern

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression once. It panics there if the expression is invalid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
