package ingest

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrCorrupt is what errors.Is finds in every error about an input's content.
var ErrCorrupt = errors.New("corrupt input")

// InputError says where an input cannot be read as what it should be.
type InputError struct {
	Path   string // "-" for standard input
	Line   int    // from 1; 0 in formats without lines
	Offset int64  // bytes from the start, after decompression
	Reason string
}

func (e *InputError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *InputError) Is(target error) bool { return target == ErrCorrupt }

// position is where a record starts in its input.
type position struct {
	line   int // 0 in formats without lines
	offset int64
}

func (p position) errorf(path, format string, args ...any) error {
	return &InputError{Path: path, Line: p.line, Offset: p.offset, Reason: fmt.Sprintf(format, args...)}
}

// readError makes an InputError of what a decompressor has to say about its
// input; other errors stay what they are.
func readError(path string, offset int64, err error) error {
	var damaged flate.CorruptInputError
	switch at := (position{offset: offset}); {
	case errors.As(err, &damaged), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return at.errorf(path, "damaged gzip data: %v", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return at.errorf(path, "truncated gzip data")
	}
	return err
}
