package hdl

import (
	"errors"
	"fmt"

	"heddle/engine/internal/container"
)

var (
	// ErrCorrupt is what errors.Is finds in every error about a file's bytes.
	ErrCorrupt = container.ErrCorrupt
	// ErrVersion is what errors.Is finds when an intact file was written in a
	// version of the format that this build does not read.
	ErrVersion = container.ErrVersion
	// ErrInput is what errors.Is finds when a Writer or NewDictionary was given
	// what an index cannot hold: a limit passed, an order broken.
	ErrInput = errors.New("invalid index input")
)

// CorruptError says where a file is damaged.
type CorruptError = container.CorruptError

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
