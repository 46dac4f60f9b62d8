package read

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"heddle/engine/file/input"
)

// InvalidRows counts the rows with texts that are not UTF-8, and other values that are left out.
type InvalidRows struct {
	Rows  uint64
	First *input.Error // place and reason of the first; nil if there is none
	// Nulls counts the missing values in arrays, which are left out of multi-valued columns.
	Nulls uint64
}

// Treatment treats values that are none of their columns in the batches of a source.
type Treatment struct {
	Mode    input.Invalid // empty is input.Fail
	Invalid InvalidRows   // so far
}

// Apply applies the treatment to a batch. first is the place of the first such value.
func (x *Treatment) Apply(b *Batch, first *input.Error) error {
	var rows []int
	for i := range b.Columns {
		rows = append(append(rows, b.Columns[i].invalid...), b.Columns[i].unfit...)
		x.Invalid.Nulls += uint64(b.Columns[i].nulls)
	}
	if len(rows) == 0 {
		return nil
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	x.Invalid.Rows += uint64(len(rows))
	if x.Invalid.First == nil {
		x.Invalid.First = first
	}
	switch x.Mode {
	case input.Replace, input.Truncate:
		for i := range b.Columns {
			v := &b.Columns[i]
			if len(v.invalid) == 0 {
				continue
			}
			if v.Elements != nil {
				v = v.Elements
			}
			v.rewrite(nil, func(s []byte) []byte { return bytes.ToValidUTF8(s, []byte("\ufffd")) })
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

// AppendChecked appends a text and notes whether it is UTF-8.
func (v *Values) AppendChecked(s []byte) (valid bool) {
	if valid = utf8.Valid(s); !valid {
		v.invalid = append(v.invalid, len(v.Ends))
	}
	v.AppendText(s)
	return valid
}

// drop removes rows, which ascend.
func (b *Batch) drop(rows []int) {
	for i := range b.Columns {
		b.Columns[i].drop(rows)
	}
	b.Rows -= len(rows)
}

// drop removes rows, which ascend.
func (v *Values) drop(rows []int) {
	if len(v.Counts) > 0 {
		v.Elements.drop(v.elementsOf(rows))
		v.Counts = without(v.Counts, rows)
	}
	v.Keys, v.Missing = without(v.Keys, rows), without(v.Missing, rows)
	if len(v.Ends) > 0 {
		v.rewrite(rows, func(s []byte) []byte { return s })
	}
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
