package hdl

import (
	"errors"
	"fmt"

	"heddle/engine/file/container"
)

var (
	// ErrCorrupt is the cause of every error about the bytes of a file, for errors.Is.
	ErrCorrupt = container.ErrCorrupt
	// ErrVersion is the cause of the error for an intact file in a version of the format, with
	// rules of analysis or with features that this build does not know.
	ErrVersion = container.ErrVersion
	// ErrInput is the cause of the error for input that an index cannot hold: a limit
	// exceeded, an order broken.
	ErrInput = errors.New("invalid index input")
)

// CorruptError names the damaged place of a file.
type CorruptError = container.CorruptError

// foreignError is the error for an intact file that this build does not know how to read.
func foreignError(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", path, ErrVersion, fmt.Sprintf(format, args...))
}

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
