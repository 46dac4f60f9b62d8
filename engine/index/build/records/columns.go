package records

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/index/build/source"
)

// columns says where the name and the fields of a document stand in a line of columns, which TABs separate.
type columns struct {
	name   int   // behind the last column: the number of the line names documents
	fields []int // by field
	header bool  // the columns are those of a header
}

// Columns is the format of lines of columns, whose first line in an input is given. It is a header if it has the
// names of all fields, and id or the first other column names documents. Without a header the first column names them, and the fields
// follow in their order. An error describes a header without id, or with the column of a field or of the name twice.
func (f *Fields) Columns(first []byte, id string) (format Format, header bool, err error) {
	var c columns
	names := strings.Split(string(first), "\t")
	at := func(name string) int {
		return slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), name) })
	}
	for _, name := range f.texts {
		c.fields = append(c.fields, at(name))
	}
	if slices.Contains(c.fields, -1) {
		for i := range c.fields {
			c.fields[i] = i + 1
		}
		return Format{cutLine, c.parse}, false, nil
	}
	c.header = true
	if id != "" {
		if c.name = at(id); c.name < 0 {
			return Format{}, true, fmt.Errorf("the header has no column %s, which names documents", id)
		}
	} else {
		for slices.Contains(c.fields, c.name) {
			c.name++
		}
	}
	for i, n := range names {
		if first := at(strings.TrimSpace(n)); first < i && (first == c.name || slices.Contains(c.fields, first)) {
			return Format{}, true, fmt.Errorf("the header has the column %s twice", strings.TrimSpace(n))
		}
	}
	return Format{cutLine, c.parse}, true, nil
}

// parse reads a line. Columns that it lacks are empty. Without a header a line of one column is its first field, and further
// TABs belong to the last field.
func (c *columns) parse(record []byte, at source.Position, d *Document) error {
	most := -1
	if !c.header {
		most = len(c.fields) + 1
		if bytes.IndexByte(record, '\t') < 0 {
			record = append([]byte("\t"), record...)
		}
	}
	d.values = d.values[:0]
	cells := bytes.SplitN(record, []byte("\t"), most)
	cell := func(i int) []byte {
		if i >= len(cells) {
			return nil
		}
		return cells[i]
	}
	for _, i := range c.fields {
		d.values = append(d.values, cell(i))
	}
	if d.Name = cell(c.name); len(d.Name) == 0 {
		d.Name = d.number(at)
	}
	d.join(d.values)
	return nil
}

// join makes the texts of fields the text of the document.
func (d *Document) join(texts [][]byte) {
	d.decoded, d.Ends = d.decoded[:0], d.Ends[:0]
	for _, t := range texts {
		if len(t) > 0 {
			d.decoded = append(append(d.decoded, t...), '\n')
		}
		d.Ends = append(d.Ends, len(d.decoded))
	}
	d.Text = d.decoded
}
