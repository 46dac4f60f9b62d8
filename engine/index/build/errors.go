package build

import (
	"fmt"

	"heddle/engine/file/input"
)

// ErrCorrupt is the cause of every error about the content of an input, for errors.Is.
var ErrCorrupt = input.ErrCorrupt

// InputError names the place where an input does not follow its format.
type InputError = input.Error

// position is where a record starts in its input.
type position struct {
	line   int // 0 in formats without lines
	offset int64
}

func (p position) errorf(path, format string, args ...any) error {
	return p.error(path, fmt.Sprintf(format, args...))
}

func (p position) error(path, reason string) *InputError {
	return &InputError{Path: path, Line: p.line, Offset: p.offset, Reason: reason}
}
