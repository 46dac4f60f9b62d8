package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
)

// leaf is a column of values of a file.
type leaf struct {
	name    string // name of the list with the names of the structs around it, such as a.b
	column  *parquet.Column
	list    bool // a row has any number of values
	element int  // definition level from which on a list has an element, which may be missing
	wrong   error
}

// leaves gives the columns of a schema in their order. A MAP is one of them, with an error.
func leaves(root *parquet.Column) (all []leaf) {
	for _, c := range root.Columns() {
		all = appendLeaves(all, c, leaf{name: c.Name()})
	}
	return all
}

// appendLeaves adds the columns of c. at has the name of c, and the list around it.
func appendLeaves(all []leaf, c *parquet.Column, at leaf) []leaf {
	at.column = c
	if c.Repeated() {
		at.list, at.element = true, c.MaxDefinitionLevel()
	}
	if c.Leaf() {
		return append(all, at)
	}
	kind := annotation(c)
	if kind == "MAP" {
		at.wrong = errors.New("is a MAP, which no column holds")
		return append(all, at)
	}
	for _, member := range c.Columns() {
		switch {
		case kind == "LIST" && len(c.Columns()) == 1 && member.Repeated():
			all = appendElements(all, member, at)
		default:
			below := at
			below.name += "." + member.Name()
			all = appendLeaves(all, member, below)
		}
	}
	return all
}

// appendElements adds the columns of the repeated member of a LIST. Its only member is the element, unless
// older writers made a struct of one member: the names of the format tell.
func appendElements(all []leaf, c *parquet.Column, at leaf) []leaf {
	members := c.Columns()
	if c.Leaf() || len(members) != 1 || c.Name() == "array" || c.Name() == lastName(at.name)+"_tuple" {
		return appendLeaves(all, c, at)
	}
	at.list, at.element = true, c.MaxDefinitionLevel()
	return appendLeaves(all, members[0], at)
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// annotation is LIST, MAP or empty for another group.
func annotation(c *parquet.Column) string {
	if l := c.Type().LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.ListType:
			return "LIST"
		case *format.MapType:
			return "MAP"
		}
	}
	if old := c.Type().ConvertedType(); old != nil {
		switch *old {
		case deprecated.List:
			return "LIST"
		case deprecated.Map, deprecated.MapKeyValue:
			return "MAP"
		}
	}
	return ""
}

// expand replaces the names of structs by the names of their members.
func expand(names, wanted []string) (all []string) {
	for _, w := range wanted {
		before := len(all)
		for _, name := range names {
			if !slices.Contains(names, w) && strings.HasPrefix(name, w+".") {
				all = append(all, name)
			}
		}
		if len(all) == before {
			all = append(all, w)
		}
	}
	return all
}

// readLists appends the next rows of a multi-valued column, which start at row first of the file.
func (c *columnReader) readLists(path string, v *read.Values, first int64, rows int) error {
	for at := range rows {
		start, unfit := v.BeginList(), false
		for entries := 0; ; entries++ {
			x, err := c.peek()
			if err == io.EOF && entries > 0 || err == nil && entries > 0 && x.RepetitionLevel() == 0 {
				break
			}
			if err == io.EOF {
				err = fmt.Errorf("row group %d ends %d rows too early", c.group, rows-at)
			}
			if err == nil && entries == 0 && x.RepetitionLevel() > 0 {
				err = fmt.Errorf("row group %d: a row begins within a list", c.group)
			}
			if err != nil {
				return err
			}
			c.rest = c.rest[1:]
			invalid := v.Elements.Invalids()
			if unfit {
				continue
			}
			if err := c.putElement(v, x); err != nil {
				if err := c.unfit(err, path, first, at); err != nil {
					return err
				}
				unfit = true
				continue
			}
			if v.Elements.Invalids() == invalid {
				continue
			}
			v.MarkInvalid()
			if c.invalid == nil {
				c.row = at
				c.invalid = &input.Error{Path: path, Offset: -1, Reason: fmt.Sprintf("column %q: row %d (from 0): %s", c.name, first+int64(at), input.InvalidByte("value", x.ByteArray(), false))}
			}
		}
		if unfit {
			v.AppendUnfit(read.Field{Type: c.to, List: true})
			continue
		}
		v.EndList(start)
	}
	return nil
}

// peek is the next value of the row group; io.EOF behind the last.
func (c *columnReader) peek() (*parquet.Value, error) {
	for len(c.rest) == 0 {
		n, err := c.values.ReadValues(c.buffer[:])
		if c.rest = c.buffer[:n]; n > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return &c.rest[0], nil
}

// putElement appends a value of a list. A list without elements, and a missing one, have none.
func (c *columnReader) putElement(v *read.Values, x *parquet.Value) error {
	switch {
	case !x.IsNull():
		return c.put(v.Elements, x)
	case x.DefinitionLevel() >= c.element:
		v.LeaveOut()
	}
	return nil
}
