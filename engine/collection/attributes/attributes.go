// Package attributes makes the attribute table of an index from the JSON lines that the index is
// built from: row i has the members of document i.
//
// A column is made of each member whose values are texts, numbers or booleans, or of the columns that
// Options declares. The members that name a document or have its text or vector are left out. A document
// without a value misses it, and so does one whose value is null.
//
// A member of an object is named by its path: author.name. A member with an array, or below an array of
// objects, is multi-valued: it has all values of the arrays, in their order, and null in an array is left
// out. A member with values of several kinds (texts, numbers, booleans) becomes texts. Options.Warn hears
// of both, with their numbers.
//
// Without a declared type, texts stay texts, "007" and "true" too, unless all values of a column are
// times. Other types are inferred as from CSV (package read). A declared column takes values in
// quotes or not, by the rules of CSV: a column of integers takes numbers without fraction and exponent
// (neither 1.0 nor 1e3), only columns of floats round, and an empty text is a value of a column of
// texts alone. A column such as string[] takes arrays, and single values as arrays of one; another column
// takes no array. Any other value is an error, or is left out and counted (Options.Invalid).
package attributes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"heddle/engine/file/input"
	"heddle/engine/index/build/records"
	writer "heddle/engine/table"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
)

// Column declares a column.
type Column struct {
	Name string `json:"name"`
	// Type is the name of a type as column.ParseDeclared reads it, such as "int" or "decimal(10,2)".
	Type string `json:"type"`
}

// Options say how a table is built.
type Options struct {
	build.Options
	// Declared are the columns of the table. Default: nil, the columns are inferred. Other members
	// are left out then.
	Declared []Column
	// Invalid is the treatment of values that their column cannot hold. input.Replace and input.Skip leave
	// the value out, and Warn hears their number. Default: input.Fail.
	Invalid input.Invalid
	// Warn, unless nil, receives texts about values that are not as they were.
	Warn func(text string)
	// Stdin is the input "-". It is read twice, unless the columns are declared.
	Stdin io.ReadSeeker
}

// Check returns an error that names the first declaration that is wrong.
func Check(all []Column) error {
	for i, c := range all {
		if c.Name == "" || slices.Contains(records.Reserved(), c.Name) {
			return fmt.Errorf("attribute %q: the name is empty, or belongs to the document itself", c.Name)
		}
		if slices.ContainsFunc(all[:i], func(d Column) bool { return d.Name == c.Name }) {
			return fmt.Errorf("attribute %q is declared twice", c.Name)
		}
		if c.Type == "" {
			return fmt.Errorf("attribute %q has no type, such as int, string or string[]", c.Name)
		}
		if _, err := column.ParseDeclared(c.Type); err != nil {
			return fmt.Errorf("attribute %q: %w", c.Name, err)
		}
	}
	return nil
}

// Agree returns an error that names the first declaration, as a member of a manifest, that differs from
// the columns of a table.
func Agree(declared []Column, columns []column.Column) error {
	for i := range max(len(declared), len(columns)) {
		want, got := "absent", "absent"
		if i < len(declared) {
			d, err := column.ParseDeclared(declared[i].Type)
			if err != nil {
				return fmt.Errorf("settings.attributes[%d]: %w", i, err)
			}
			want = describe(declared[i].Name, d.Type, d.Scale, d.List)
		}
		if i < len(columns) {
			got = describe(columns[i].Name, columns[i].Type, columns[i].Scale, columns[i].Values != nil)
		}
		if want != got {
			return fmt.Errorf("settings.attributes[%d] is %s, column %d of the table is %s", i, want, i, got)
		}
	}
	return nil
}

func describe(name string, t column.Type, scale uint8, list bool) string {
	c := column.Column{Type: t}
	if list {
		c.Values = &c
	}
	if t.IsDecimal() {
		return fmt.Sprintf("%q of type %s with scale %d", name, c.TypeName(), scale)
	}
	return fmt.Sprintf("%q of type %s", name, c.TypeName())
}

// Build writes the table of the attributes of all lines of inputs, files with one object on each
// line, to path. It reads the inputs twice, unless the columns are declared.
func Build(ctx context.Context, path string, inputs []string, opt Options) (build.Report, error) {
	t := &table{ctx: ctx, inputs: inputs, stdin: opt.Stdin, lenient: opt.Invalid != "" && opt.Invalid != input.Fail, types: map[string]column.Declared{}, at: map[string]int{}}
	if err := t.columns(opt.Declared); err != nil {
		return build.Report{}, err
	}
	if len(t.names) == 0 {
		return build.Report{}, errors.New("attributes: no line has a member with a text, a number or a boolean beside the document itself")
	}
	var columns []writer.Column
	for _, name := range t.names {
		columns = append(columns, writer.Column{Name: name, Type: t.types[name].String()})
	}
	w, err := writer.NewWriter(ctx, path, columns, opt.Options)
	if err != nil {
		return build.Report{}, err
	}
	defer w.Abort()
	if err := t.each(func(line []byte, path string, number int) error { return t.write(w, line, path, number) }); err != nil {
		return build.Report{}, err
	}
	r, err := w.Close()
	if err == nil && opt.Warn != nil {
		t.warn(opt.Warn)
	}
	return r, err
}
