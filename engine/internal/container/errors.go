package container

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is what errors.Is finds in every error about a file's bytes.
	ErrCorrupt = errors.New("corrupt file")
	// ErrVersion is what errors.Is finds when an intact file was written in a
	// version of its format that this build does not read.
	ErrVersion = errors.New("unsupported format version")
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
