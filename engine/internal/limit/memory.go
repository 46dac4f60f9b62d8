package limit

import "context"

type memoryKey struct{}

// MemoryError is the error of an intermediate result without memory. It is the fault of the query, not of a part.
type MemoryError struct{ Err error }

func (e *MemoryError) Error() string { return e.Err.Error() }
func (e *MemoryError) Unwrap() error { return e.Err }

// WithMemory returns a context whose queries take the memory of intermediate results by take, and give it back by a
// negative number of bytes.
func WithMemory(ctx context.Context, take func(bytes int64) error) context.Context {
	return context.WithValue(ctx, memoryKey{}, take)
}

// Memory takes memory for an intermediate result until release. Without WithMemory there is no bound.
func Memory(ctx context.Context, bytes int64) (release func(), err error) {
	take, ok := ctx.Value(memoryKey{}).(func(int64) error)
	if !ok {
		return func() {}, nil
	}
	if err := take(bytes); err != nil {
		return nil, &MemoryError{err}
	}
	return func() { _ = take(-bytes) }, nil // giving back always succeeds
}
