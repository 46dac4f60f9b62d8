package codec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseCodec(t *testing.T) {
	for name, want := range map[string]struct {
		id     ID
		levels int
	}{"RPFD": {RPFD, 1}, "rpfd": {RPFD, 1}, "rpfd0": {RPFD, 0}, "RPFD4": {RPFD, 4}, "rice": {Rice, 1}} {
		opt := DefaultOptions()
		if id, err := opt.ParseCodec(name); err != nil || id != want.id || opt.RPFDLevels != want.levels {
			t.Errorf("%s: %v, %d levels, %v", name, id, opt.RPFDLevels, err)
		}
	}
	for _, name := range []string{"rpfd5", "rpfd/", "rpfd10", "pfd0", ""} {
		if id, err := new(Options).ParseCodec(name); err == nil {
			t.Errorf("%q is %v", name, id)
		}
	}
}

func TestParseID(t *testing.T) {
	for _, id := range ids {
		if got, err := ParseID(id.String()); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v", id.String(), got, err)
		}
	}
	if got, err := ParseID("ParaPFor"); err != nil || got != ParaPFor {
		t.Errorf("ParseID(ParaPFor) = %v, %v", got, err)
	}
	if got, err := ParseID("hslrc"); err != nil || got != HSLRC256 {
		t.Errorf("ParseID(hslrc) = %v, %v", got, err)
	}
	if _, err := ParseID("wah"); err == nil || !strings.HasPrefix(err.Error(), `codec: unknown codec "wah" (one of raw, parapfor, bitset`) {
		t.Errorf("ParseID(wah): %v", err)
	}
}

// The values of IDs are in files and must not change.
func TestNames(t *testing.T) {
	want := "raw parapfor bitset vbyte rice pfd newpfd rpfd lrc lrcseg seglrc hslrc128 hslrc256 lrcpfor"
	for i, name := range strings.Fields(want) {
		if got := ID(i + 1).String(); got != name {
			t.Errorf("name of codec %d is %q, want %q", i+1, got, name)
		}
	}
	for _, id := range []ID{0, 15, 255} {
		if got, want := id.String(), fmt.Sprintf("codec(%d)", id); got != want {
			t.Errorf("name is %q, want %q", got, want)
		}
	}
	if got := IDs(); len(got) != len(strings.Fields(want)) {
		t.Errorf("codecs %v, want %s", got, want)
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
	if err := (List{Codec: 77}).Validate(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unknown codec: %v", err)
	}
	if _, err := (List{Codec: 77}).AppendTo(nil); !errors.Is(err, ErrCorrupt) {
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
