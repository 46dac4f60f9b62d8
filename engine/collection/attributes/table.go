package attributes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"heddle/engine/file/input"
	"heddle/engine/index/build/records"
	"heddle/engine/table/column"
)

// table turns JSON lines into rows.
type table struct {
	ctx     context.Context
	inputs  []string
	stdin   io.ReadSeeker
	names   []string       // names of the columns
	at      map[string]int // by name
	types   map[string]column.Declared
	seen    map[string]*seen // members, of columns that are not declared
	row     [][][]byte       // texts of the values of a document, by column
	lenient bool             // values that their column cannot hold are left out
	left    leftOut
}

// columns sets the columns: the declared columns, or the members in the order of their first values.
func (t *table) columns(declared []Column) error {
	if declared == nil {
		t.seen = map[string]*seen{}
		if err := t.each(t.note); err != nil {
			return err
		}
		for _, name := range t.names {
			t.types[name] = t.seen[name].declared()
		}
		return nil
	}
	for i, c := range declared {
		d, err := column.ParseDeclared(c.Type)
		if err != nil {
			return err
		}
		t.names, t.at[c.Name], t.types[c.Name] = append(t.names, c.Name), i, d
	}
	return nil
}

// each calls f with all lines that are not blank, and their places.
func (t *table) each(f func(line []byte, path string, number int) error) error {
	open := input.Opener{Ctx: t.ctx, Stdin: t.stdin}
	for _, path := range t.inputs {
		if path == "-" {
			if _, err := t.stdin.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		if err := file(&open, path, f); err != nil {
			return err
		}
	}
	return t.ctx.Err()
}

func file(open *input.Opener, path string, f func(line []byte, path string, number int) error) error {
	in, err := open.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := in.Text(path); err != nil {
		return err
	}
	in.EndLines(false)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f(line, path, number); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// reserved are the members that belong to the document itself; texts are no columns unless they are declared.
var reserved, texts = records.Reserved(), records.Members()

// isTime tells whether a text is a time and nothing else: a float may be "infinity" too.
func isTime(text []byte) bool {
	return len(text) > 0 && text[0] >= '0' && text[0] <= '9' && !json.Valid(text) && column.IsTime(string(text))
}
