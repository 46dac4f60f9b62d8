package records

import (
	"bytes"
	"strconv"

	"heddle/engine/file/input"
	"heddle/engine/index/build/source"
)

// cutLine cuts lines; blank lines are no documents.
func cutLine(s *Input, dst []byte) ([]byte, source.Position, error) {
	for {
		n := len(dst)
		line, at, err := s.Line(dst)
		if err != nil || len(bytes.TrimLeft(line[n:], " ")) > 0 {
			return line, at, err
		}
		dst = line[:n]
	}
}

// parseText reads name TAB text.
func parseText(record []byte, at source.Position, d *Document) error {
	name, text, found := bytes.Cut(record, []byte("\t"))
	if !found {
		text = record
	}
	if !found || len(name) == 0 {
		name = d.number(at)
	}
	d.Name, d.Text = name, text
	return nil
}

// number is the name of a document that has none: its line.
func (d *Document) number(at source.Position) []byte {
	d.Unnamed = true
	d.scratch = strconv.AppendInt(d.scratch[:0], int64(at.Line), 10)
	return d.scratch
}

// Start skips a byte order mark and white space.
func Start(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(input.Mark)), " \t\r\n")
}
