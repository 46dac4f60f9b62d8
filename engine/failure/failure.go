// Package failure has the errors of the engine: each has a code, which library, command line and server share.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/query"
	"heddle/engine/internal/schedule"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/hdb"
	"heddle/engine/table/result"
	"heddle/engine/table/rowset"
)

// Error is an error of the engine. Its text begins with the operation and the device, or with
// the place of a fault in the text of a query or predicate.
type Error struct {
	Code   Code
	Op     string // operation that failed, such as "search" or "open index"
	Device string // empty if the error is not of one device
	Err    error  // cause, never nil
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if as[*syntax.Error](e.Err) {
		return text
	}
	if e.Device != "" && !strings.Contains(text, e.Device) {
		text = e.Device + ": " + text
	}
	if e.Op == "" {
		return text
	}
	return e.Op + ": " + text
}

// Unwrap returns the cause, so that errors.Is finds the errors of package plan and of contexts.
func (e *Error) Unwrap() error { return e.Err }

// FilterSizeError is the error of a filter whose table is not the attribute table of the index.
type FilterSizeError struct{ Rows, Docs uint32 }

// Error states both sizes.
func (e *FilterSizeError) Error() string {
	return fmt.Sprintf("the attribute table has %d rows and the index %d documents: row i of the table must be document i", e.Rows, e.Docs)
}

// Code is the class of an error. Library, command line and server share the codes.
type Code uint8

const (
	OK              Code = iota // no error
	InvalidQuery                // the query or predicate cannot be understood
	InvalidOption               // an option is out of range or contradicts another option
	NotFound                    // no such file, term or column
	NoDevice                    // no such device, no processor is left, or the last one hangs
	Overloaded                  // the queue is full; the caller may try again
	Deadline                    // the deadline has passed
	Canceled                    // the context was cancelled
	OutOfMemory                 // a device has no memory left
	Corrupt                     // a file is damaged or has an unknown version
	Unsupported                 // no processor implements the algorithm, codec or strategy, or the query is above a limit
	Closed                      // the engine, index, table or snapshot is closed
	Unauthenticated             // the caller of a server is unknown
	Forbidden                   // the caller of a server has no right to the call
	Gone                        // the content of an index that a cursor belongs to is no longer in service
	DiskFull                    // a disk has no room for a file, or the user no quota
	Unavailable                 // a server, or a node or the state of a cluster, cannot be reached; the caller may try again
	Internal                    // any other error
)

var codeNames = [...]string{"ok", "invalid_query", "invalid_option", "not_found", "no_device", "overloaded", "deadline",
	"canceled", "out_of_memory", "corrupt", "unsupported", "closed", "unauthenticated", "forbidden", "gone", "disk_full", "unavailable", "internal"}

// String returns the name of the code in protocols and logs, such as "invalid_query".
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return codeNames[Internal]
}

// MarshalText returns the name of the code.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText sets the code with a name; Internal if there is none.
func (c *Code) UnmarshalText(name []byte) error {
	*c = Internal
	if i := slices.Index(codeNames[:], string(name)); i >= 0 {
		*c = Code(i)
	}
	return nil
}

// ExitCode returns the exit code of a command that fails with the code: 0 success,
// 1 failure, 2 usage, 3 corrupt input, 4 no such device, 5 full disk, 6 no connection.
func (c Code) ExitCode() int {
	switch c {
	case OK:
		return 0
	case InvalidOption, InvalidQuery, Unsupported:
		return 2
	case Corrupt:
		return 3
	case NoDevice:
		return 4
	case DiskFull:
		return 5
	case Unavailable:
		return 6
	}
	return 1
}

// CodeOf returns the code of any error of the engine; OK for nil.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	for _, c := range codes {
		if c.match(err) {
			return c.code
		}
	}
	return Internal
}

// OfQuery reports whether err is the fault of one query of a call, such as a column that the index lacks: the other
// queries have answers.
func OfQuery(err error) bool {
	switch CodeOf(err) {
	case InvalidQuery, InvalidOption, Unsupported, Gone:
		return true
	}
	return false
}

// codes are the codes of errors of other packages. The first code that fits is the code of an error.
var codes = []struct {
	code  Code
	match func(error) bool
}{
	{InvalidQuery, func(err error) bool {
		return is(err, query.ErrInvalid) || is(err, tables.ErrOtherTable) || as[*syntax.Error](err)
	}},
	{InvalidOption, func(err error) bool { return is(err, query.ErrOption) }},
	{Overloaded, func(err error) bool { return is(err, schedule.ErrFull) }},
	{Deadline, func(err error) bool { return is(err, context.DeadlineExceeded) }}, // schedule.ErrDeadline too
	{Canceled, func(err error) bool { return is(err, context.Canceled) }},
	{Closed, func(err error) bool { return is(err, plan.ErrClosed) }},
	{DiskFull, container.IsFull},
	{Corrupt, func(err error) bool {
		return is(err, hdl.ErrCorrupt) || is(err, hdb.ErrCorrupt) || is(err, codec.ErrCorrupt) || is(err, input.ErrCorrupt) || is(err, rowset.ErrRoaring)
	}},
	{Unsupported, func(err error) bool {
		return is(err, plan.ErrUnsupported) || is(err, plan.ErrTooLarge) || is(err, plan.ErrNotRanked) || is(err, result.ErrOverflow)
	}},
	{OutOfMemory, func(err error) bool { return is(err, plan.ErrOutOfMemory) }},
	{NoDevice, func(err error) bool {
		return is(err, plan.ErrNoDevice) || is(err, schedule.ErrNoProcessor) || is(err, schedule.ErrHung)
	}},
	{NotFound, func(err error) bool { return is(err, fs.ErrNotExist) }},
}

func is(err, target error) bool { return errors.Is(err, target) }

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Wrap returns err as an *Error of an operation; nil for nil.
func Wrap(op string, err error) error {
	if err == nil || as[*Error](err) {
		return err
	}
	e := &Error{Code: CodeOf(err), Op: op, Err: err}
	if d, ok := errors.AsType[*plan.DeviceError](err); ok {
		e.Device = d.Device
	}
	return e
}

// Catch wraps the fault of a mapped file.
func Catch(op string, err *error) {
	if mapped.IsFault(*err) {
		*err = Wrap(op, *err)
	}
}

// Invalid returns an *Error with code InvalidOption.
func Invalid(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: InvalidOption, Op: op, Err: err}
}
