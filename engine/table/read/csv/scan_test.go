package csv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// TestQuickFields reads numbers and times with and without scanner.key, which a text for missing values turns off.
func TestQuickFields(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.OneOf(
			rapid.SampledFrom([]string{"", "0", "-1", "+7", "2.5", "-0", ".5", "5.", "1.2.3", "007", "1e3", "1\r", " 4", "\"3\"", "9\t", "--1", "99999999999999999", "123456789012345678",
				"1234567890123456789", "99999999999999999999", "-9223372036854775808", "123456789012345", "12345678901234.5", "123456789012345.6", "2001-02-03", "2001-02-03 04:05:06", "\"2001-02-03\"", "\"\t2001-02-03\"", "x"}),
			rapid.StringMatching(`-?[0-9]{1,17}(\.[0-9]{1,3})?`))
		comma := rapid.SampledFrom([]string{",", "\t", "-", "1", " "}).Draw(r, "comma")
		end := rapid.SampledFrom([]string{"\n", "\r\n"})
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(r, "rows") {
			fields := rapid.SliceOfN(value, 3, 3).Draw(r, "fields")
			if rapid.IntRange(0, 15).Draw(r, "ragged") == 0 {
				fields = append(fields, "8")
			}
			b.WriteString(strings.Join(fields, comma) + end.Draw(r, "end"))
		}
		kinds := []column.Type{column.Int, column.Float, column.Timestamp}
		opt := Options{Dialect: Dialect{Delimiter: comma[0]}, Names: []string{"a", "b", "c"}, Types: map[string]column.Declared{},
			Ragged: rapid.SampledFrom([]Ragged{Fail, Pad, Skip}).Draw(r, "ragged"), Invalid: rapid.SampledFrom([]input.Invalid{input.Fail, input.Skip}).Draw(r, "invalid")}
		for _, name := range opt.Names {
			opt.Types[name] = column.Declared{Type: rapid.SampledFrom(kinds).Draw(r, name)}
		}
		var got [2]string
		for i := range got {
			opt.Null = slices.Repeat([]string{"no such text"}, i)
			opt.Stdin = strings.NewReader(b.String())
			s, err := Open(t.Context(), []string{"-"}, opt)
			all, err := readtest.ReadAll(t, s, err)
			got[i] = fmt.Sprintf("%q, error %v", all.Rows, err)
		}
		if got[0] != got[1] {
			r.Fatalf("%q: %s\nwant %s", b.String(), got[0], got[1])
		}
	})
}
