// Package handle lets packages of this module reach the internals of a value of package engine, which its public API
// leaves out.
package handle

// Of holds the internal form of a value. The public type embeds it under a name that is not exported: its
// documentation then has neither the field nor the method.
type Of[T any] struct{ x *T }

// New returns the handle of x.
func New[T any](x *T) Of[T] { return Of[T]{x} }

// Internal returns the internal form.
func (h Of[T]) Internal() *T { return h.x }

// SetInternal sets the internal form.
func (h *Of[T]) SetInternal(x *T) { h.x = x }
