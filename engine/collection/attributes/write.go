package attributes

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/file/input"
	writer "heddle/engine/table"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
)

// leftOut counts the values that are left out.
type leftOut struct {
	nulls   map[string]int // number of nulls in arrays, by column
	rounded map[string]int // number of integers that a float rounds, by column
	values  int            // number of values that their column cannot hold
	first   *input.Error
}

// write writes the row of a line.
func (t *table) write(to *writer.Writer, line []byte, path string, at int) error {
	t.row = append(t.row[:0], make([][][]byte, len(t.names))...)
	all, err := members(line, path, at)
	if err != nil {
		return err
	}
	for i := range all {
		m := &all[i]
		column, known := t.at[m.name]
		if !known {
			continue
		}
		if reason := t.misfit(m); reason != "" {
			wrong := &input.Error{Path: path, Line: at, Reason: reason}
			if !t.lenient {
				return wrong
			}
			t.leave(wrong)
			continue
		}
		if m.nulls > 0 {
			if t.left.nulls == nil {
				t.left.nulls = map[string]int{}
			}
			t.left.nulls[m.name] += m.nulls
		}
		t.row[column] = t.texts(m, path, at)
	}
	err = to.WriteTexts(t.row)
	if wrong, ok := errors.AsType[*writer.ValueError](err); ok {
		return &input.Error{Path: path, Line: at, Reason: fmt.Sprintf("column %q: %v", wrong.Column, wrong.Err)}
	}
	return err
}

// misfit tells the reason why a column cannot have a member; it is empty if it can.
func (t *table) misfit(m *member) string {
	d := t.types[m.name]
	nested := func(name string) bool { return strings.HasPrefix(name, m.name+".") }
	switch {
	case !d.List && m.list:
		return fmt.Sprintf("attribute %q: an array, the column has type %v: type %[2]v[] takes arrays", m.name, d.Type)
	case !d.List && len(m.values) > 1:
		return fmt.Sprintf("attribute %q: %d values, the column has type %v: type %[3]v[] takes several", m.name, len(m.values), d.Type)
	case m.object && t.seen == nil && !slices.ContainsFunc(t.names, nested):
		return fmt.Sprintf("attribute %q: an object: name a member of it, such as %s.name", m.name, m.name)
	}
	return ""
}

// leave counts a value that is left out.
func (t *table) leave(wrong *input.Error) {
	if t.left.values++; t.left.first == nil {
		t.left.first = wrong
	}
}

// texts are the values of a member that its column takes, and in a lenient table can hold.
func (t *table) texts(m *member, path string, at int) (all [][]byte) {
	d := t.types[m.name]
	field := read.Field{Name: m.name, Type: d.Type, Scale: d.Scale, Digits: d.Digits}
	for _, v := range m.values {
		if d.Type != column.String && len(bytes.Trim(v.text, " \t")) == 0 {
			continue
		}
		if t.lenient && !csv.Fits(field, v.text) {
			t.leave(&input.Error{Path: path, Line: at, Reason: fmt.Sprintf("attribute %q: %.60q is no %v", m.name, v.text, d.Type)})
			continue
		}
		if t.seen == nil && csv.Rounds(field, v.text) {
			if t.left.rounded == nil {
				t.left.rounded = map[string]int{}
			}
			t.left.rounded[m.name]++
		}
		all = append(all, v.text)
	}
	return all
}

// warn tells of the values that are not as they were.
func (t *table) warn(warn func(text string)) {
	for _, name := range t.names {
		if s := t.seen[name]; s != nil && s.mixed() {
			warn(fmt.Sprintf("attribute %q has %v: all are texts", name, s))
		} else if s != nil && s.beyond > 0 {
			warn(fmt.Sprintf("attribute %q: numbers beyond the range of a float (%d), so all values are texts; the first: %v", name, s.beyond, s.first))
		} else if s != nil && !s.texts {
			if text := s.infer.Warning(name); text != "" {
				warn(text)
			}
		}
		if n := t.left.rounded[name]; n > 0 {
			warn(fmt.Sprintf("attribute %q: integers that the type %v rounds (%d)", name, t.types[name].Type, n))
		}
		if n := t.left.nulls[name]; n > 0 {
			warn(fmt.Sprintf("attribute %q: null in arrays (%d) is left out", name, n))
		}
	}
	if t.left.values > 0 {
		warn(fmt.Sprintf("values that their attribute cannot hold are left out (%d); the first: %v", t.left.values, t.left.first))
	}
}
