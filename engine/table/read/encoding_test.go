package read

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
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
		s, err := OpenCSV(t.Context(), []string{"-"}, CSVOptions{Stdin: strings.NewReader(encoded)})
		got, err := readAll(t, s, err)
		if err != nil || len(got.rows) != 2 || len(got.fields) != 2 || got.fields[0].Name != "name" || !strings.Contains(strings.Join(got.rows[0], "|")+strings.Join(got.rows[1], "|"), "café") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for _, content := range []string{"PK\x03\x04\na,b\n", "a\x00,\x00b\x00\n\x00"} {
		s, err := OpenCSV(t.Context(), []string{"-"}, CSVOptions{Stdin: strings.NewReader(content)})
		if _, err = readAll(t, s, err); err == nil {
			t.Errorf("%q is read", content)
		}
	}
}
