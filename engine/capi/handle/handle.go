// Package handle gives out numbers for open values, so that a caller in another language can name them. A number
// is never used twice, so a closed or invented one is an error.
package handle

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// Errors of handles.
var (
	ErrUnknown = errors.New("no such handle")
	ErrClosed  = errors.New("the handle is closed")
)

// Table has the open values. The zero value is empty. It is safe for concurrent use.
type Table struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]*entry
}

type entry struct {
	value io.Closer
	owner uint64
	use   sync.RWMutex // Close holds it alone, calls together
	done  bool         // guarded by use
}

// Add returns the handle of a value. Close of owner closes the value first; 0 is no owner.
func (t *Table) Add(owner uint64, value io.Closer) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = make(map[uint64]*entry)
	}
	t.last++
	t.open[t.last] = &entry{value: value, owner: owner}
	return t.last
}

// find returns an open value.
func (t *Table) find(h uint64) (*entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := t.open[h]; {
	case e != nil:
		return e, nil
	case h != 0 && h <= t.last:
		return nil, ErrClosed
	default:
		return nil, ErrUnknown
	}
}

// Use returns the value of a handle, which stays open until the caller calls release. The error is ErrUnknown for
// a value of another type, too.
func Use[V any](t *Table, h uint64) (value V, release func(), err error) {
	e, err := t.find(h)
	if err != nil {
		return value, nil, err
	}
	value, is := e.value.(V)
	if !is {
		return value, nil, fmt.Errorf("%w: it stands for %v, not for %v", ErrUnknown, reflect.TypeOf(e.value), reflect.TypeFor[V]())
	}
	e.use.RLock()
	if e.done {
		e.use.RUnlock()
		return value, nil, ErrClosed
	}
	return value, e.use.RUnlock, nil
}

// Close closes a value when no call uses it any more, and before it all values that it owns.
func (t *Table) Close(h uint64) error {
	e, err := t.find(h)
	if err != nil {
		return err
	}
	e.use.Lock()
	defer e.use.Unlock()
	if e.done {
		return ErrClosed
	}
	e.done = true
	for _, owned := range t.ownedBy(h) {
		if other := t.Close(owned); !errors.Is(other, ErrClosed) {
			err = errors.Join(err, other)
		}
	}
	t.mu.Lock()
	delete(t.open, h)
	t.mu.Unlock()
	return errors.Join(err, e.value.Close())
}

func (t *Table) ownedBy(owner uint64) (all []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h, e := range t.open {
		if e.owner == owner {
			all = append(all, h)
		}
	}
	return all
}
