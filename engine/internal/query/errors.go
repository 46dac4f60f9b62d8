package query

import (
	"errors"
	"fmt"

	"heddle/engine/internal/limit"
	"heddle/engine/syntax"
)

// ErrInvalid is found by errors.Is in errors of queries that cannot be understood.
var ErrInvalid = errors.New("invalid query")

// ErrOption is found by errors.Is in errors of options that are out of range or contradict one
// another.
var ErrOption = errors.New("invalid option")

// ErrImpacts is found by errors.Is where a query of an index with impacts has a scoring
// function or statistics: scores were fixed when the index was built.
var ErrImpacts = errors.New("the index holds impacts")

// invalid is an error of a query with a text of its own.
type invalid struct{ error }

func (e invalid) Is(target error) bool { return target == ErrInvalid }
func (e invalid) Unwrap() error        { return e.error }

// option is an error of an option with a text of its own.
type option struct{ error }

func (e option) Is(target error) bool { return target == ErrOption }
func (e option) Unwrap() error        { return e.error }

// Option returns an error in which errors.Is finds ErrOption, with the text of err.
func Option(err error) error { return option{err} }

func optionf(format string, args ...any) error { return option{fmt.Errorf(format, args...)} }

func invalidf(format string, args ...any) error { return invalid{fmt.Errorf(format, args...)} }

// AsInvalid returns an error in which errors.Is finds ErrInvalid, with the text of err.
func AsInvalid(err error) error { return invalid{err} }

// Invalid tells whether err is the fault of the text, the terms or the expression of one query,
// which says nothing about other queries with the same options.
func Invalid(err error) bool {
	_, syntactic := errors.AsType[*syntax.Error](err)
	_, large := errors.AsType[*limit.Error](err)
	return syntactic || large || errors.Is(err, ErrInvalid)
}

// Error names the query of a call that failed, by its index.
type Error struct {
	Query int // index among the queries of the call, from 0
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("queries[%d]: %v", e.Query, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
