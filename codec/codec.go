package codec

import (
	"errors"
	"fmt"
	"strings"
)

// SegmentLen is the number of values in a segment of a gap codec. The last
// segment of a list may hold fewer. 128 values are 32 work-items of four.
const SegmentLen = 128

// String returns the name that command line and configuration use, or
// "codec(N)" for an unknown number N.
func (id ID) String() string {
	if name := id.row().Name; name != "" {
		return name
	}
	return fmt.Sprintf("codec(%d)", uint8(id))
}

// ParseID finds a codec by its name or alias, in upper or lower case.
func ParseID(s string) (ID, error) {
	var all []string
	for _, id := range IDs() {
		d := id.row()
		if strings.EqualFold(s, d.Name) || d.Alias != "" && strings.EqualFold(s, d.Alias) {
			return id, nil
		}
		all = append(all, d.Name)
	}
	return 0, fmt.Errorf("codec: unknown codec %q (one of %s)", s, strings.Join(all, ", "))
}

// ParseCodec is ParseID, and knows rpfd0 to rpfd4: RPFD with this number of levels, which becomes RPFDLevels.
func (o *Options) ParseCodec(s string) (ID, error) {
	if name := RPFD.String(); len(s) == len(name)+1 && strings.EqualFold(s[:len(name)], name) {
		if level := int(s[len(name)]) - '0'; level >= 0 && level <= MaxRPFDLevels {
			o.RPFDLevels = level
			return RPFD, nil
		}
	}
	return ParseID(s)
}

// ErrCorrupt matches, through errors.Is, every error about words that no encoder
// wrote.
var ErrCorrupt = errors.New("corrupt list")

// CorruptError locates damage in the words of a list.
type CorruptError struct {
	Codec  ID
	Word   int    // offset in words from the start of the list
	Reason string // the rule of the format that is broken
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("codec: corrupt %s list at word %d: %s", e.Codec, e.Word, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

func corrupt(id ID, word int, format string, args ...any) error {
	return &CorruptError{Codec: id, Word: word, Reason: fmt.Sprintf(format, args...)}
}
