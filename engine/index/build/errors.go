package build

import (
	"fmt"

	"heddle/engine/internal/input"
)

// ErrCorrupt is what errors.Is finds in every error about an input's content.
var ErrCorrupt = input.ErrCorrupt

// InputError says where an input cannot be read as what it should be.
type InputError = input.Error

// position is where a record starts in its input.
type position struct {
	line   int // 0 in formats without lines
	offset int64
}

func (p position) errorf(path, format string, args ...any) error {
	return &InputError{Path: path, Line: p.line, Offset: p.offset, Reason: fmt.Sprintf(format, args...)}
}
