// Package mapped turns faults of memory-mapped files into errors. The system stops a process
// that reads a page which the file has lost: it was truncated, or its storage failed. A
// function that reads mapped memory begins with
//
//	defer mapped.Catch(mapped.Watch(), &err)
//
// and returns a *Fault then. So does each goroutine that it starts. The end of the last page of
// a truncated file reads as zeros, without a fault.
package mapped

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// Fault is an error of a mapped file. Err is the error that Add's damage has returned.
type Fault struct{ Err error }

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// IsFault tells whether err is a Fault or wraps one.
func IsFault(err error) bool {
	_, ok := errors.AsType[*Fault](err)
	return ok
}

// mapping is a file in memory, or was one until remove.
type mapping struct {
	start, size uintptr
	offset      int64     // offset of the first byte in the file
	removed     time.Time // zero: it is mapped
	path        string
	info        fs.FileInfo
	damage      func(offset int64, reason string) error
}

var (
	mu       sync.Mutex
	mappings []*mapping
)

// Add registers data, the bytes from offset on of the file at path in memory. damage makes the
// error for a fault at an offset of the file. remove must be called before data is unmapped.
func Add(data []byte, offset int64, path string, info fs.FileInfo, damage func(offset int64, reason string) error) (remove func()) {
	m := &mapping{start: uintptr(unsafe.Pointer(unsafe.SliceData(data))), size: uintptr(len(data)), offset: offset, path: path, info: info, damage: damage}
	mu.Lock()
	defer mu.Unlock()
	mappings = slices.DeleteFunc(mappings, func(o *mapping) bool {
		return o.forgotten() || !o.removed.IsZero() && o.start < m.start+m.size && m.start < o.start+o.size
	})
	mappings = append(mappings, m)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		m.removed = time.Now()
	}
}

// remembered is the time for which removed mappings are known: a deferred Close removes a
// mapping before Catch further up asks for it.
const remembered = 10 * time.Second

func (m *mapping) forgotten() bool {
	return !m.removed.IsZero() && time.Since(m.removed) > remembered
}

// Watch makes faults of the calling goroutine panics. It returns the former setting, for Catch.
func Watch() bool { return debug.SetPanicOnFault(true) }

// Unwatch ends Watch and leaves panics alone. A caller further up catches them.
func Unwatch(was bool) { debug.SetPanicOnFault(was) }

// Catch is deferred: it ends Watch and turns a panic about a mapped file into a *Fault in err.
// A panic with a *Fault is such a panic
// too. Other panics go on.
func Catch(was bool, err *error) {
	debug.SetPanicOnFault(was)
	if r := recover(); r != nil {
		e := fault(r)
		if e == nil {
			panic(r)
		}
		*err = e
	}
}

// Run calls f. The fault of a mapped file is an error.
func Run(f func() error) (err error) {
	defer Catch(Watch(), &err)
	return f()
}

// fault returns the error for a panic, nil if it does not concern a mapped file.
func fault(r any) error {
	if f, ok := r.(*Fault); ok { // a reader without an error result has found damage
		return f
	}
	if _, ok := r.(runtime.Error); !ok {
		return nil
	}
	mu.Lock()
	mappings = slices.DeleteFunc(mappings, (*mapping).forgotten)
	known := slices.Clone(mappings)
	mu.Unlock()
	if a, ok := r.(interface{ Addr() uintptr }); ok {
		for _, m := range known {
			if at := a.Addr() - m.start; at < m.size {
				reason := "the page cannot be read: the file was truncated, or its storage failed"
				size, truncated := m.truncated()
				switch {
				case truncated:
					reason = reasonOf(size)
				case !m.removed.IsZero():
					continue // the memory was used after its end
				}
				return &Fault{m.damage(m.offset+int64(at), reason)}
			}
		}
		return nil
	}
	// Offsets in the zeros of a last page lead to indexes out of range.
	for _, m := range known {
		if size, ok := m.truncated(); ok {
			return &Fault{m.damage(size, reasonOf(size))}
		}
	}
	return nil
}

func reasonOf(size int64) string {
	return fmt.Sprintf("the file was truncated to %d bytes while it was in use", size)
}

// truncated returns the present size of the file if it ends before the bytes in memory.
func (m *mapping) truncated() (size int64, ok bool) {
	info, err := os.Stat(m.path)
	if err != nil || !os.SameFile(info, m.info) {
		return 0, false
	}
	return info.Size(), info.Size() < m.offset+int64(m.size)
}
