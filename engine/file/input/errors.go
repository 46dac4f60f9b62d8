package input

import (
	"errors"
	"fmt"
)

// ErrCorrupt is the cause of every error about the content of an input, for errors.Is.
var ErrCorrupt = errors.New("corrupt input")

// Error names the place where an input does not follow its format.
type Error struct {
	Path   string // "-" for standard input
	Line   int    // from 1; 0 in formats without lines
	Offset int64  // bytes from the start, after decompression; -1 where it makes no sense
	Reason string
}

func (e *Error) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
	case e.Offset < 0:
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *Error) Is(target error) bool { return target == ErrCorrupt }

// Explain turns an error in compressed data into an Error. It returns any other error
// unchanged.
func Explain(path string, offset int64, err error) error {
	if damaged := (*damage)(nil); errors.As(err, &damaged) {
		return &Error{Path: path, Offset: offset, Reason: damaged.Error()}
	}
	return err
}

// Plural returns a number of things in words.
func Plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
