package csv

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"heddle/engine/table/read/readtest"
)

// TestCSVEncodings reads UTF-16 with a byte order mark, and refuses formats that are no
// text.
func TestCSVEncodings(t *testing.T) {
	const text = "name,n\r\ncafé,1\r\n漢字,2\r\n"
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		encoded, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(encoded)})
		got, err := readtest.ReadAll(t, s, err)
		if err != nil || len(got.Rows) != 2 || len(got.Fields) != 2 || got.Fields[0].Name != "name" || !strings.Contains(strings.Join(got.Rows[0], "|")+strings.Join(got.Rows[1], "|"), "café") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for _, content := range []string{"PK\x03\x04\na,b\n", "a\x00,\x00b\x00\n\x00"} {
		s, err := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(content)})
		if _, err = readtest.ReadAll(t, s, err); err == nil {
			t.Errorf("%q is read", content)
		}
	}
}
