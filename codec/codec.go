// Package codec turns posting lists into words and back.
//
// A posting list is a strictly increasing sequence of docIDs (uint32, 0-based).
// Every codec writes 32-bit words, little-endian in files, because OpenCL
// kernels read the very same words that Go reads: one format for all devices.
// The byte diagrams are in FORMAT.md of package engine/index/hdl.
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
	"slices"
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
	// VByte stores d-gaps in bytes of seven bits.
	VByte ID = 4
	// Rice stores d-gaps in two bit vectors, low bits and unary quotients, with
	// the sums that make a segment decode by two prefix sums (Ding et al. 2009,
	// section 6.1).
	Rice ID = 5
	// PFD is PForDelta: exceptions form a linked list through their slots (Ao et
	// al. 2011, section 5.1).
	PFD ID = 6
	// NewPFD keeps the low bits of exceptions in place; their positions and
	// overflows are Simple16 words (Ao et al. 2011, section 5.1).
	NewPFD ID = 7
	// RPFD has one width for the list and compresses the arrays of offsets and
	// overflows of exceptions by the same scheme again (Ding et al. 2009, section
	// 6.2).
	RPFD ID = 8
	// LRC stores the distances of all docIDs from one line (Ao et al. 2011,
	// section 5.2).
	LRC ID = 9
	// LRCSeg stores the distances from one line with a width a segment.
	LRCSeg ID = 10
	// SegLRC stores the distances from a line a segment.
	SegLRC ID = 11
	// HSLRC128 and HSLRC256 store the distances from a line a hash bucket of
	// about 128 or 256 docIDs (Ao et al. 2011, section 5.3).
	HSLRC128 ID = 12
	HSLRC256 ID = 13
)

// SegmentLen is the number of values in a segment of a gap codec; the last
// segment of a list may hold fewer. 128 values are 32 work-items of four.
const SegmentLen = 128

var names = [...]string{
	Raw: "raw", ParaPFor: "parapfor", Bitset: "bitset", VByte: "vbyte", Rice: "rice",
	PFD: "pfd", NewPFD: "newpfd", RPFD: "rpfd", LRC: "lrc", LRCSeg: "lrcseg",
	SegLRC: "seglrc", HSLRC128: "hslrc128", HSLRC256: "hslrc256",
}

// String gives the name that command line and configuration use.
func (id ID) String() string {
	if int(id) < len(names) && names[id] != "" {
		return names[id]
	}
	return fmt.Sprintf("codec(%d)", uint8(id))
}

// IDs returns all codecs, in the order of their values. Every backend reads each of
// them.
func IDs() []ID { return slices.Clone(implemented) }

var implemented = []ID{Raw, ParaPFor, Bitset, VByte, Rice, PFD, NewPFD, RPFD, LRC, LRCSeg, SegLRC, HSLRC128, HSLRC256}

// ParseID is the inverse of ID.String; case does not matter, and "hslrc" is
// HSLRC256.
func ParseID(s string) (ID, error) {
	if strings.EqualFold(s, "hslrc") {
		return HSLRC256, nil
	}
	var all []string
	for _, id := range implemented {
		if strings.EqualFold(s, id.String()) {
			return id, nil
		}
		all = append(all, id.String())
	}
	return 0, fmt.Errorf("codec: unknown codec %q (one of %s)", s, strings.Join(all, ", "))
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
