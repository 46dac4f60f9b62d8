package arrow

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// TestWrite compares streams of two rows and of no row with the streams of the library arrow-go.
func TestWrite(t *testing.T) {
	const two = "" +
		"ffffffff8800000014000000000000000c001600140013000c0004000c000000" +
		"0800000000000000140000000000000304000a0018000c00080004000a000000" +
		"1400000038000000020000000000000000000000020000000000000000000000" +
		"0000000000000000000000000000000008000000000000000000000001000000" +
		"020000000000000000000000000000000400000005000000"
	for text, rows := range map[string][]uint32{two: {4, 5}, "": nil} {
		var got bytes.Buffer
		if err := Write(&got, rows); err != nil {
			t.Fatal(err)
		}
		if want := hex.EncodeToString(schema) + text + "ffffffff00000000"; hex.EncodeToString(got.Bytes()) != want {
			t.Errorf("%d rows: %x, want %s", len(rows), got.Bytes(), want)
		}
	}
}

// full is a writer that takes some bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// TestWriteFails writes to a writer that fails at each message.
func TestWriteFails(t *testing.T) {
	rows := make([]uint32, perBatch+1)
	first := full(len(schema) + len(batch) + 4*perBatch)
	for _, room := range []full{0, first, first + full(len(batch)) + 8} {
		if err := Write(&room, rows); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("%v", err)
		}
	}
}
