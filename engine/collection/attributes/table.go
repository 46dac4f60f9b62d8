package attributes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"heddle/engine/file/input"
	index "heddle/engine/index/build"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// missing is the field of a document without a value.
const missing = `\N`

// table turns JSON lines into CSV.
type table struct {
	ctx    context.Context
	inputs []string
	stdin  io.ReadSeeker
	names  []string       // of columns
	at     map[string]int // by name
	types  map[string]column.Declared
	row    [][]byte // fields of a document; nil is missing
}

// columns sets the columns: the declared ones, or the members in the order of their first values.
func (t *table) columns(declared []Column) error {
	if declared == nil {
		return t.each(t.note)
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
var reserved, texts = index.Reserved(), index.Members()

// members calls f with the name and the text of each value of a line, by name. quoted tells a text from a
// number or a boolean.
func members(line []byte, path string, number int, f func(name string, value []byte, quoted bool)) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return &input.Error{Path: path, Line: number, Reason: syntax.JSONLine(line, err).Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw := all[name]
		if slices.Contains(reserved, name) || raw[0] == 'n' || raw[0] == '{' || raw[0] == '[' {
			continue
		}
		if raw[0] != '"' {
			f(name, raw, false)
			continue
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return &input.Error{Path: path, Line: number, Reason: err.Error()}
		}
		f(name, []byte(text), true)
	}
	return nil
}

// note adds the columns of a line.
func (t *table) note(line []byte, path string, number int) error {
	return members(line, path, number, func(name string, value []byte, quoted bool) {
		if slices.Contains(texts, name) {
			return
		}
		if _, known := t.at[name]; !known {
			t.at[name] = len(t.names)
			t.names = append(t.names, name)
		}
		if quoted && !isTime(value) {
			t.types[name] = column.Declared{Type: column.String}
		}
	})
}

// isTime tells whether a text is a time and nothing else: a float may be "infinity" too.
func isTime(text []byte) bool {
	return len(text) > 0 && text[0] >= '0' && text[0] <= '9' && !json.Valid(text) && column.IsTime(string(text))
}

// csv writes the names of the columns and the row of each line. It calls each function after a row,
// with the place of its line.
func (t *table) csv(to io.Writer, after ...func(path string, line int) error) error {
	size := 1 << 16
	if after != nil {
		size = 1 // each row is written at once
	}
	out := bufio.NewWriterSize(to, size)
	names := csv.NewWriter(out)
	if err := names.Write(t.names); err != nil {
		return err
	}
	names.Flush()
	if err := t.each(func(line []byte, path string, number int) error {
		if err := t.write(out, line, path, number); err != nil {
			return err
		}
		for _, f := range after {
			if err := errors.Join(out.Flush(), f(path, number)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return out.Flush()
}

// write writes the row of a line. Texts stand in quotes.
func (t *table) write(out *bufio.Writer, line []byte, path string, number int) error {
	t.row = append(t.row[:0], make([][]byte, len(t.names))...)
	if err := members(line, path, number, func(name string, value []byte, quoted bool) {
		i, known := t.at[name]
		if !known {
			return
		}
		if quoted {
			value = append(append([]byte{'"'}, bytes.ReplaceAll(value, []byte{'"'}, []byte(`""`))...), '"')
		}
		t.row[i] = value
	}); err != nil {
		return err
	}
	for i, v := range t.row {
		if i > 0 {
			out.WriteByte(',')
		}
		if v == nil {
			v = []byte(missing)
		}
		out.Write(v)
	}
	return out.WriteByte('\n')
}
