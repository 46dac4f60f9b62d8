package container

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is the cause of every error about the bytes of a file, for errors.Is.
	ErrCorrupt = errors.New("corrupt file")
	// ErrVersion is the cause of the error for an intact file in a version of its format
	// that this build does not read.
	ErrVersion = errors.New("unsupported format version")
)

// CorruptError names the damaged place of a file.
type CorruptError struct {
	Path    string
	Offset  int64  // in bytes from the start of the file, where the damage was seen
	Section string // name as in FORMAT.md
	Reason  string
	// Foreign reports that the file is not one of this format at all, rather than a damaged one.
	Foreign bool
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: corrupt %s at byte %d: %s", e.Path, e.Section, e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
