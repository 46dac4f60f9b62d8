package input

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrCorrupt is what errors.Is finds in every error about an input's content.
var ErrCorrupt = errors.New("corrupt input")

// Error says where an input cannot be read as what it should be.
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

// Explain makes an Error of what a decompressor has to say about its input; other
// errors stay what they are.
func Explain(path string, offset int64, err error) error {
	var damaged flate.CorruptInputError
	switch {
	case errors.As(err, &damaged), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return &Error{Path: path, Offset: offset, Reason: fmt.Sprintf("damaged gzip data: %v", err)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Path: path, Offset: offset, Reason: "truncated gzip data"}
	}
	return err
}
