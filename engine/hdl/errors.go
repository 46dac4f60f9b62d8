package hdl

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is what errors.Is finds in every error about a file's bytes.
	ErrCorrupt = errors.New("corrupt index file")
	// ErrVersion is what errors.Is finds when an intact file was written in a
	// version of the format that this build does not read.
	ErrVersion = errors.New("unsupported format version")
	// ErrInput is what errors.Is finds when a Writer or NewDictionary was given
	// what an index cannot hold: a limit passed, an order broken.
	ErrInput = errors.New("invalid index input")
)

// CorruptError says where a file is damaged.
type CorruptError struct {
	Path    string
	Offset  int64  // in bytes from the start of the file, where the damage was seen
	Section string // name as in FORMAT.md
	Reason  string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: corrupt %s at byte %d: %s", e.Path, e.Section, e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
