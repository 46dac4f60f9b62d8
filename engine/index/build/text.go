package build

import (
	"bytes"
	"strconv"
)

// cutLine cuts lines; blank lines are no documents.
func cutLine(s *source, dst []byte) ([]byte, position, error) {
	for {
		n := len(dst)
		line, at, err := s.line(dst)
		if err != nil || len(bytes.TrimLeft(line[n:], " ")) > 0 {
			return line, at, err
		}
		dst = line[:n]
	}
}

// parseText reads name TAB text.
func parseText(record []byte, at position, d *document) error {
	name, text, found := bytes.Cut(record, []byte("\t"))
	if !found {
		text = record
	}
	if !found || len(name) == 0 {
		name = d.number(at)
	}
	d.name, d.text = name, text
	return nil
}

// number is the name of a document that has none: its line.
func (d *document) number(at position) []byte {
	d.unnamed = true
	d.scratch = strconv.AppendInt(d.scratch[:0], int64(at.line), 10)
	return d.scratch
}
