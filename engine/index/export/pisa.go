package export

import (
	"bufio"
	"encoding/binary"
	"strings"

	"heddle/engine/plan"
)

// pisa writes the five files.
func (x *exporter) pisa() error {
	docs, freqs, sizes, terms, names := x.out[0], x.out[1], x.out[2], x.out[3], x.out[4]
	if err := x.sequence(docs, []uint32{x.f.Docs()}); err != nil {
		return err
	}
	if err := x.sequence(sizes, x.f.Source().Lengths); err != nil {
		return err
	}
	for _, name := range x.f.Names(0) {
		if err := writeLine(names, name, "name"); err != nil {
			return err
		}
	}
	return x.eachList(func(h plan.Handle) error {
		term, err := x.term(h)
		if err != nil {
			return err
		}
		if err := writeLine(terms, term, "term"); err != nil {
			return err
		}
		if err := x.sequence(docs, x.docs); err != nil {
			return err
		}
		return x.sequence(freqs, x.freqs)
	})
}

// sequence writes the number of values, and the values.
func (x *exporter) sequence(w *bufio.Writer, values []uint32) error {
	b := binary.LittleEndian.AppendUint32(x.scratch[:0], uint32(len(values)))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	x.scratch = b
	_, err := w.Write(b)
	return err
}

// writeLine writes a term or a name, which must be a line.
func writeLine(w *bufio.Writer, s, what string) error {
	if strings.Contains(s, "\n") || strings.HasSuffix(s, "\r") {
		return contentError("the %s %.60q is no line of text", what, s)
	}
	_, err := w.WriteString(s + "\n")
	return err
}
