package csv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/file/input"
	"heddle/engine/table/read/readtest"
)

// TestInvalidTextsProperties compares the rows that stay, in batches of any size, with rows
// that are checked one by one.
func TestInvalidTextsProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.SampledFrom([]string{"", "a", "é", "\xe9", "é\xff", "\xc3", "\xa9", "漢字"})
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]string { return [2]string{value.Draw(r, "a"), value.Draw(r, "b")} }), 0, 40).Draw(r, "rows")
		mode := rapid.SampledFrom([]input.Invalid{input.Replace, input.Skip}).Draw(r, "mode")
		var file strings.Builder
		var want []string
		invalid := uint64(0)
		for i, row := range rows {
			fmt.Fprintf(&file, "%d,\"%s\",\"%s\"\n", i, row[0], row[1])
			if valid := utf8.ValidString(row[0]) && utf8.ValidString(row[1]); !valid {
				invalid++
				if mode == input.Skip {
					continue
				}
			}
			want = append(want, fmt.Sprintf("%d|%s|%s", i, strings.ToValidUTF8(row[0], "\ufffd"), strings.ToValidUTF8(row[1], "\ufffd")))
		}
		s, err := Open(t.Context(), []string{"-"}, Options{Names: []string{"n", "a", "b"}, Invalid: mode, Stdin: strings.NewReader(file.String()), text: rapid.IntRange(1, 300).Draw(r, "size")})
		got, err := readtest.ReadAll(t, s, err)
		var lines []string
		for _, row := range got.Rows {
			lines = append(lines, strings.Join(row, "|"))
		}
		if err != nil || !slices.Equal(lines, want) || s.Invalid().Rows != invalid {
			r.Fatalf("%q, %v, %v; want %q, %d invalid", lines, s.Invalid(), err, want, invalid)
		}
	})
}
