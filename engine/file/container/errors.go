package container

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrCorrupt is the cause of every error about the bytes of a file, for errors.Is.
	ErrCorrupt = errors.New("corrupt file")
	// ErrVersion is the cause of the error for an intact file in a version of its format
	// that this build does not read.
	ErrVersion = errors.New("unsupported format version")
)

// IsFull reports whether an error says that a disk has no room left, or a user no quota.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullCodes, func(code error) bool { return errors.Is(err, code) })
}

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
