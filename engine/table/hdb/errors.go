package hdb

import (
	"errors"
	"fmt"

	"heddle/engine/internal/container"
)

var (
	// ErrCorrupt is what errors.Is finds in every error about a file's bytes. It is
	// the one of package hdl.
	ErrCorrupt = container.ErrCorrupt
	// ErrVersion is what errors.Is finds when an intact file was written in a
	// version of the format that this build does not read.
	ErrVersion = container.ErrVersion
	// ErrInput is what errors.Is finds when a Writer was given what a table cannot
	// hold: a limit passed, an order broken, parts that contradict each other.
	ErrInput = errors.New("invalid table input")
)

// CorruptError says where a file is damaged.
type CorruptError = container.CorruptError

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
