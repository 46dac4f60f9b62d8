package records

import (
	"bytes"
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
	from  int      // where the text begins that has no place yet
	found bool     // there is the tag of a field

	outer string   // outermost open element that is no field, in lower case; "" for none
	left  []string // elements of which text is left out, in lower case
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
	e.open, e.from, e.found, e.outer, e.left = e.open[:0], 0, false, "", e.left[:0]
	if err := d.parseDOC(record, e); err != nil {
		return err
	}
	e.take(d.scratch)
	if !e.found {
		others := ""
		if len(e.left) > 0 {
			others = "; the texts are in " + strings.Join(e.left, ", ")
		}
		return fmt.Errorf("none of the elements %s%s: choose them with --fields", strings.Join(d.Fields.texts, ", "), others)
	}
	for _, name := range e.left {
		d.leaveOut([]byte(name))
	}
	d.join(e.texts)
	return nil
}

// tag notes the tag of an element, or its end with a slash in front, behind a text. An element ends with an element around it, and where
// another of its name begins.
func (e *elements) tag(name string, text []byte) {
	field, end := strings.CutPrefix(name, "/")
	i := slices.Index(e.names, field)
	if i < 0 && len(e.open) > 0 {
		return // a part of a field
	}
	e.take(text)
	if i < 0 {
		if field = strings.ToLower(field); e.outer == "" && !end {
			e.outer = field
		} else if e.outer == field && end {
			e.outer = ""
		}
		return
	}
	if at := slices.Index(e.open, i); at >= 0 {
		e.open = e.open[:at]
	}
	if !end {
		e.open, e.found = append(e.open, i), true
	}
}

// take gives the rest of a text to the innermost field, or notes the element of which it is left out.
func (e *elements) take(text []byte) {
	rest := text[e.from:]
	if n := len(e.open); n > 0 {
		in := &e.texts[e.open[n-1]]
		*in = append(*in, rest...)
	} else if e.outer != "" && !slices.Contains(e.left, e.outer) && len(bytes.TrimSpace(rest)) > 0 {
		e.left = append(e.left, e.outer)
	}
	e.from = len(text)
}
