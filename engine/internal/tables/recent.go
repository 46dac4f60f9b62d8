package tables

import "sync"

const (
	mostRecent  = 64       // results that recent keeps
	recentBytes = 64 << 10 // greatest size of a result, in bytes
)

// recent keeps the results of a function by its argument, and forgets all of them when they are too many. The
// zero value is empty. It is safe for concurrent use.
type recent[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

// get returns the result for k. It calls find if the result is not known, and keeps the result if that has no
// error and takes few bytes with its argument.
func (r *recent[K, V]) get(k K, find func() (v V, bytes int, err error)) (V, error) {
	r.mu.RLock()
	v, ok := r.known[k]
	r.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, bytes, err := find()
	if err != nil || bytes > recentBytes {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) == mostRecent {
		r.known = make(map[K]V, mostRecent)
	}
	r.known[k] = v
	return v, nil
}
