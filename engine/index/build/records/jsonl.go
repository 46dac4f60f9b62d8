package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/index/build/source"
	"heddle/engine/syntax"
)

// jsonName is a string or a number, as it is written.
type jsonName []byte

func (n *jsonName) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n': // null
		return nil
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*n = jsonName(s)
		return nil
	case '{', '[', 't', 'f':
		return fmt.Errorf("a name is %.20s, neither string nor number", b)
	}
	*n = bytes.Clone(b)
	return nil
}

// parseJSON reads a JSON object.
func parseJSON(record []byte, at source.Position, d *Document) error {
	if d.parseFlat(record, at) {
		return nil
	}
	return d.parseAny(record, at)
}

// parseFlat is parseJSON for most objects with a text, several times faster. It returns false for all
// other records.
func (d *Document) parseFlat(record []byte, at source.Position) bool {
	if d.Fields.paths {
		return false
	}
	d.values = append(d.values[:0], make([][]byte, len(d.Fields.texts)+len(d.Fields.names))...) // as they are written
	values, names := d.values[:len(d.Fields.texts)], d.values[len(d.Fields.texts):]
	ok := true
	d.spare = d.spare[:0]
	flat := d.members.each(record, func(name, value []byte) {
		var lower [maxKnown]byte
		kind, known := value[0], false
		i := 0
		if len(name) <= len(lower) {
			for i, c := range name {
				lower[i] = c
				if 'A' <= c && c <= 'Z' {
					lower[i] += 'a' - 'A'
				}
			}
			i, known = d.Fields.at[string(lower[:len(name)])]
		}
		switch {
		case !known && hasText(value):
			d.spare = append(d.spare, name)
		case !known:
		case i == vectorMember:
			ok = false
		case i < len(values) && kind == 'n': // null
			values[i] = emptyText
		case i < len(values):
			ok = ok && kind == '"'
			values[i] = value
		case kind == 'n':
			names[i-len(values)] = nil
		default:
			ok = ok && (kind == '"' || kind == '-' || '0' <= kind && kind <= '9')
			names[i-len(values)] = value
		}
	})
	if !flat || !ok {
		return false
	}
	var err error
	b, found := d.decoded[:0], false
	d.Ends = d.Ends[:0]
	for _, value := range values {
		if value != nil {
			found = true
			if b, err = appendString(b, value); err != nil {
				return false
			}
			b = append(b, '\n')
		}
		d.Ends = append(d.Ends, len(b))
	}
	d.decoded, d.Text, d.Name = b, b, nil
	for _, name := range names {
		if len(name) > 0 && name[0] == '"' {
			if d.scratch, err = appendString(d.scratch[:0], name); err != nil {
				return false
			}
			name = d.scratch
		}
		if len(name) > 0 {
			d.Name = name
			break
		}
	}
	if d.Name == nil {
		d.Name = d.number(at)
	}
	if found {
		for _, name := range d.spare {
			d.leaveOut(name)
		}
	}
	return found
}

// emptyText is the value of a text member that is null.
var emptyText = []byte(`""`)

// parseAny is parseJSON by encoding/json.
func (d *Document) parseAny(record []byte, at source.Position) error {
	var object struct{}
	if err := json.Unmarshal(record, &object); err != nil {
		return syntax.JSONLine(record, err)
	}
	record = bytes.TrimLeft(record, jsonSpace)
	f := d.Fields
	d.Name, d.Text, d.Ends = nil, d.Text[:0:0], d.Ends[:0]
	for _, path := range f.names {
		name, err := nameAt(record, path)
		if err != nil {
			return err
		}
		if len(name) > 0 && d.Name == nil {
			d.Name = name
		}
	}
	if d.Name == nil {
		d.Name = d.number(at)
	}
	found, err := d.readVector(record)
	if err != nil {
		return err
	}
	found = found || f.all
	if f.all {
		err = d.addAll(record, "", 0)
	}
	for _, path := range f.texts {
		values := valuesAt(record, path, nil)
		found = found || len(values) > 0
		for _, value := range values {
			if err = errors.Join(err, d.addText(path, value)); err != nil {
				return syntax.JSONLine(record, err)
			}
		}
		d.Ends = append(d.Ends, len(d.Text))
	}
	if err != nil {
		return err
	}
	spare := d.spareMembers(record)
	if !found {
		return f.missing(spare)
	}
	for _, name := range spare {
		d.leaveOut([]byte(name))
	}
	return nil
}

// readVector reads the member vector.
func (d *Document) readVector(record []byte) (given bool, err error) {
	if d.Fields.vector {
		for _, value := range valuesAt(record, "vector", nil) {
			if err = d.Vector.UnmarshalJSON(value); err != nil {
				return false, err
			}
		}
	}
	return d.Vector.Given, nil
}

// nameAt is the name at a path; empty if there is none.
func nameAt(record []byte, path string) (name jsonName, err error) {
	for _, value := range valuesAt(record, path, nil) {
		if err := name.UnmarshalJSON(value); err != nil {
			return nil, err
		}
	}
	return name, nil
}

// addText adds the value of a member to the text: a string, null, or an array of these; if the members
// are chosen, also numbers and booleans, as they are written.
func (d *Document) addText(path string, value []byte) error {
	switch value[0] {
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return err
		}
		d.Text = append(append(d.Text, s...), '\n')
	case 'n':
		d.Text = append(d.Text, '\n')
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			return err
		}
		for _, v := range all {
			if err := d.addText(path, v); err != nil {
				return err
			}
		}
	case '{':
		return fmt.Errorf("member %s is an object, want a text: choose members of it by their paths, such as %s.NAME (--text or --fields)", path, path)
	default:
		if !d.Fields.chosen {
			return fmt.Errorf("member %s is %.20s, want a text; --text %s takes it as one", path, value, path)
		}
		d.Text = append(append(d.Text, value...), '\n')
	}
	return nil
}

// addAll adds all texts of an object but its names, in the order of the line.
func (d *Document) addAll(object []byte, prefix string, depth int) error {
	return eachMember(object, func(name string, value json.RawMessage) error {
		path := prefix + name
		if depth == 0 && strings.EqualFold(name, "vector") && d.Vector.Given || slices.ContainsFunc(d.Fields.names, func(n string) bool { return strings.EqualFold(n, path) }) {
			return nil
		}
		return d.addEvery(value, path, depth)
	})
}

// addEvery adds the texts of a value.
func (d *Document) addEvery(value []byte, path string, depth int) error {
	switch {
	case depth > maxNested:
		return fmt.Errorf("member %.100s is nested more than %d deep", path, maxNested)
	case value[0] == '"':
		return d.addText(path, value)
	case value[0] == '{':
		return d.addAll(value, path+".", depth+1)
	case value[0] == '[':
		var all []json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			return err
		}
		for _, v := range all {
			if err := d.addEvery(v, path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// spareMembers are the members with a text that is neither a name nor indexed.
func (d *Document) spareMembers(record []byte) (spare []string) {
	if d.Fields.all {
		return nil
	}
	_ = eachMember(record, func(name string, value json.RawMessage) error { // the record is valid
		if !d.Fields.has(name) && hasText(value) {
			spare = append(spare, name)
		}
		return nil
	})
	return spare
}

// hasText reports whether a value is a text that is not empty, or an array or object with one.
func hasText(value []byte) bool {
	for i := 0; i < len(value); i++ {
		if value[i] != '"' {
			continue
		}
		start := i + 1
		for i++; value[i] != '"'; i++ {
			if value[i] == '\\' {
				i++
			}
		}
		if i > start && !bytes.HasPrefix(bytes.TrimLeft(value[i+1:], jsonSpace), []byte(":")) { // not the name of a member
			return true
		}
	}
	return false
}
