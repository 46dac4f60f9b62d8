package records

import (
	"fmt"
	"slices"
	"strings"

	"heddle/engine/index/build/source"
)

// elements collects the texts of the elements of a document of TREC that are its fields. Text belongs to the innermost one around it.
type elements struct {
	names []string // of the fields, in capitals
	texts [][]byte // by field
	open  []int    // fields whose elements are open, from the outermost on
	from  int      // where the text behind the last tag of a field begins
	found bool     // there is such a tag
}

// Elements is the format of TREC whose elements are the fields.
func (f *Fields) Elements() Format { return Format{cutTREC, parseElements} }

// parseElements reads the content of a <DOC> with fields.
func parseElements(record []byte, _ source.Position, d *Document) error {
	e := &d.elements
	if e.names == nil {
		for _, name := range d.Fields.texts {
			e.names, e.texts = append(e.names, strings.ToUpper(name)), append(e.texts, nil)
		}
	}
	for i := range e.texts {
		e.texts[i] = e.texts[i][:0]
	}
	e.open, e.from, e.found = e.open[:0], 0, false
	if err := d.parseDOC(record, e); err != nil {
		return err
	}
	if !e.found {
		return fmt.Errorf("none of the elements %s: choose them with --fields", strings.Join(d.Fields.texts, ", "))
	}
	e.take(d.scratch)
	d.join(e.texts)
	return nil
}

// tag notes the tag of an element, or its end with a slash in front, behind a text. An element ends with an element around it, and where
// another of its name begins.
func (e *elements) tag(name string, text []byte) {
	field, end := strings.CutPrefix(name, "/")
	i := slices.Index(e.names, field)
	if i < 0 {
		return
	}
	e.take(text)
	if at := slices.Index(e.open, i); at >= 0 {
		e.open = e.open[:at]
	}
	if !end {
		e.open, e.found = append(e.open, i), true
	}
}

// take gives the rest of a text to the innermost element.
func (e *elements) take(text []byte) {
	if n := len(e.open); n > 0 {
		in := &e.texts[e.open[n-1]]
		*in = append(*in, text[e.from:]...)
	}
	e.from = len(text)
}
