// Package codec turns posting lists into words and back.
//
// A posting list is a strictly increasing sequence of docIDs (uint32, 0-based).
// Every codec writes 32-bit words, little-endian in files, because OpenCL
// kernels read the very same words that Go reads: one format for all devices.
// The byte diagrams are in FORMAT.md of package engine/hdl.
//
// All functions are pure: no I/O, no goroutines, no global state. They are safe
// for concurrent use as long as callers do not share destination slices.
//
// Decoders are total: any words give either the list or an error that
// errors.Is(err, ErrCorrupt) recognises; never a panic, never more than the
// declared number of docIDs.
package codec

import (
	"errors"
	"fmt"
	"strings"
)

// ID names a codec. The values are stored in files and are never reused.
type ID uint8

const (
	// Raw stores docIDs as they are, one word each.
	Raw ID = 1
	// ParaPFor stores d-gaps in segments of SegmentLen values, the low bits of
	// each in place, the overflow of exceptions by index (Ao et al. 2011,
	// section 5.1 and appendix D).
	ParaPFor ID = 2
	// Bitset stores one bit a docID and a rank directory: membership is one
	// load. It is smaller than Raw for lists of a density above 1/32.
	Bitset ID = 3
)

// SegmentLen is the number of values in a ParaPFor segment; the last segment of
// a list may hold fewer. 128 values are 32 work-items of four.
const SegmentLen = 128

// String gives the name that command line and configuration use.
func (id ID) String() string {
	switch id {
	case Raw:
		return "raw"
	case ParaPFor:
		return "parapfor"
	case Bitset:
		return "bitset"
	}
	return fmt.Sprintf("codec(%d)", uint8(id))
}

// IDs returns every codec of this build, in the order of their values.
func IDs() []ID { return []ID{Raw, ParaPFor, Bitset} }

// ParseID is the inverse of ID.String; case does not matter.
func ParseID(s string) (ID, error) {
	var names []string
	for _, id := range IDs() {
		if strings.EqualFold(s, id.String()) {
			return id, nil
		}
		names = append(names, id.String())
	}
	return 0, fmt.Errorf("codec: unknown codec %q (one of %s)", s, strings.Join(names, ", "))
}

// ErrCorrupt is what errors.Is finds in every error about bytes that no encoder
// wrote.
var ErrCorrupt = errors.New("corrupt list")

// CorruptError says where in a list's words the damage was seen.
type CorruptError struct {
	Codec  ID
	Word   int    // offset in words from the start of the list
	Reason string // what was expected there
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("codec: corrupt %s list at word %d: %s", e.Codec, e.Word, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

func corrupt(id ID, word int, format string, args ...any) error {
	return &CorruptError{Codec: id, Word: word, Reason: fmt.Sprintf(format, args...)}
}
