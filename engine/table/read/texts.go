package read

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"heddle/engine/file/input"
)

// InvalidRows counts the rows with texts that are not UTF-8.
type InvalidRows struct {
	Rows  uint64
	First *input.Error // place and reason of the first; nil if there is none
}

// treatment treats texts that are not UTF-8 in the batches of a source.
type treatment struct {
	mode    input.Invalid // empty is input.Fail
	invalid InvalidRows
}

// treat applies the treatment to a batch. first is the place of the first invalid text.
func (x *treatment) treat(b *Batch, first *input.Error) error {
	var rows []int
	for i := range b.Columns {
		rows = append(rows, b.Columns[i].invalid...)
	}
	if len(rows) == 0 {
		return nil
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	x.invalid.Rows += uint64(len(rows))
	if x.invalid.First == nil {
		x.invalid.First = first
	}
	switch x.mode {
	case input.Replace:
		for i := range b.Columns {
			if v := &b.Columns[i]; len(v.invalid) > 0 {
				v.rewrite(nil, func(s []byte) []byte { return bytes.ToValidUTF8(s, []byte("\ufffd")) })
			}
		}
	case input.Skip:
		b.drop(rows)
	default:
		e := *first
		e.Reason += " (convert the input to UTF-8; --invalid replace puts U+FFFD in the place of invalid bytes, --invalid skip leaves the row out)"
		return &e
	}
	return nil
}

// checked appends a text and notes whether it is UTF-8.
func (v *Values) checked(s []byte) (valid bool) {
	if valid = utf8.Valid(s); !valid {
		v.invalid = append(v.invalid, len(v.Ends))
	}
	v.text(s)
	return valid
}

// drop removes rows, which ascend.
func (b *Batch) drop(rows []int) {
	for i := range b.Columns {
		v := &b.Columns[i]
		v.Keys, v.Missing = without(v.Keys, rows), without(v.Missing, rows)
		if len(v.Ends) > 0 {
			v.rewrite(rows, func(s []byte) []byte { return s })
		}
	}
	b.Rows -= len(rows)
}

// without removes the values of rows, which ascend.
func without[T any](values []T, rows []int) []T {
	if len(values) == 0 {
		return values
	}
	kept := values[:0]
	for i, v := range values {
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// rewrite changes texts by f, and leaves out the texts of rows.
func (v *Values) rewrite(rows []int, f func([]byte) []byte) {
	var text []byte
	ends := v.Ends[:0]
	at := uint32(0)
	for i, end := range v.Ends {
		s := v.Text[at:end]
		at = end
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
			continue
		}
		text = append(text, f(s)...)
		ends = append(ends, uint32(len(text)))
	}
	v.Text, v.Ends = text, ends
}
