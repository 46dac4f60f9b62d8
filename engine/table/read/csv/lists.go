package csv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// putList appends a field of a multi-valued column: a JSON array of texts, numbers and booleans. An
// empty field and an empty array are a row without a value; null in an array is left out and counted.
func (c *columns) putList(v *read.Values, f read.Field, field []byte, p *parsed, k int) (reason string) {
	first := v.BeginList()
	if field = trim(field); !c.isNull(f.Type, field, false) {
		var all []json.RawMessage
		if err := json.Unmarshal(field, &all); err != nil || field[0] != '[' {
			return fmt.Sprintf("column %%[1]q: %s is no JSON array, such as [\"x\",\"y\"]", escaped(field))
		}
		if !utf8.Valid(field) {
			v.MarkInvalid()
		}
		for _, raw := range all {
			if reason := c.putElement(v, f.Element(), raw, p, k); reason != "" {
				return reason
			}
		}
	}
	v.EndList(first)
	return ""
}

// putElement appends a value of an array.
func (c *columns) putElement(v *read.Values, f read.Field, raw []byte, p *parsed, k int) (reason string) {
	value, quoted := raw, raw[0] == '"'
	switch {
	case raw[0] == 'n':
		v.LeaveOut()
		return ""
	case quoted:
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return fmt.Sprintf("column %%[1]q: %s is no text", escaped(raw))
		}
		value = []byte(text)
	case raw[0] == '[', raw[0] == '{':
		return fmt.Sprintf("column %%[1]q: %s in an array is no single value", escaped(raw))
	}
	single := value
	if f.Type != column.String {
		single = trim(value)
	}
	if c.isNull(f.Type, single, quoted) {
		v.LeaveOut()
		return ""
	}
	return c.put(v.Elements, f, value, quoted, nil, p, k)
}

// escaped quotes the first bytes of a value for a format.
func escaped(value []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("%.60q", bytes.TrimSpace(value)), "%", "%%")
}
