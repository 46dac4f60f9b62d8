package codec

import (
	"errors"
	"testing"
)

func TestParseID(t *testing.T) {
	for _, id := range IDs() {
		if got, err := ParseID(id.String()); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v", id.String(), got, err)
		}
	}
	if got, err := ParseID("ParaPFor"); err != nil || got != ParaPFor {
		t.Errorf("ParseID(ParaPFor) = %v, %v", got, err)
	}
	if _, err := ParseID("vbyte"); err == nil || err.Error() != `codec: unknown codec "vbyte" (one of raw, parapfor, bitset)` {
		t.Errorf("ParseID(vbyte): %v", err)
	}
}

func TestNames(t *testing.T) {
	if got := ID(9).String(); got != "codec(9)" {
		t.Errorf("name of codec 9 is %q", got)
	}
	if Raw != 1 || ParaPFor != 2 || Bitset != 3 {
		t.Error("values of codecs, which are in files, have changed")
	}
}

func TestCorruptError(t *testing.T) {
	_, err := List{Codec: Raw, Len: 3, Words: []uint32{1, 5, 4}}.AppendTo(nil)
	var c *CorruptError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &c) || c.Codec != Raw || c.Word != 2 {
		t.Fatalf("%#v", err)
	}
	if want := "codec: corrupt raw list at word 2: docID 4 behind 5"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if err := (List{Codec: 7}).Validate(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unknown codec: %v", err)
	}
	if _, err := (List{Codec: 7}).AppendTo(nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unknown codec: %v", err)
	}
}

// A view of a list of another codec is a mistake of the caller, not corruption.
func TestWrongView(t *testing.T) {
	if _, err := (List{Codec: Raw}).Segments(); err == nil || errors.Is(err, ErrCorrupt) {
		t.Errorf("segments of a raw list: %v", err)
	}
	if _, err := (List{Codec: Raw}).Bits(); err == nil || errors.Is(err, ErrCorrupt) {
		t.Errorf("bits of a raw list: %v", err)
	}
}
