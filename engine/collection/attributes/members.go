package attributes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
)

// member is the values of a path in a line.
type member struct {
	name   string
	values []value
	list   bool // the path has an array
	object bool // a value is an object, whose members have paths of their own
	nulls  int  // number of nulls in arrays
}

// value is a text, a number or a boolean.
type value struct {
	text []byte // contents of a text, without quotes and escapes
	kind kind
}

// kind is the kind of a value.
type kind uint8

const (
	text kind = iota
	number
	boolean
	kinds
)

var kindNames = [kinds]string{"texts", "numbers", "booleans"}

// members gives the members of a line, by path.
func members(line []byte, path string, at int) ([]member, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, &input.Error{Path: path, Line: at, Reason: syntax.JSONLine(line, err).Error()}
	}
	w := walker{at: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(reserved, name) {
			continue
		}
		if err := w.walk(name, all[name], false); err != nil {
			return nil, &input.Error{Path: path, Line: at, Reason: err.Error()}
		}
	}
	return w.members, nil
}

// walker collects members.
type walker struct {
	members []member
	at      map[string]int // by path
}

// walk adds a value at a path, which has an array or not.
func (w *walker) walk(path string, raw json.RawMessage, list bool) error {
	i, known := w.at[path]
	if !known {
		i = len(w.members)
		w.at[path] = i
		w.members = append(w.members, member{name: path})
	}
	m := &w.members[i]
	m.list = m.list || list
	v := value{text: raw}
	switch raw[0] {
	case 'n':
		if list {
			m.nulls++
		}
		return nil
	case '{':
		m.object = true
		var all map[string]json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if err := w.walk(path+"."+name, all[name], list); err != nil {
				return err
			}
		}
		return nil
	case '[':
		m.list = true
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		for _, element := range all {
			if err := w.walk(path, element, true); err != nil {
				return err
			}
		}
		return nil
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		v = value{[]byte(s), text}
	case 't', 'f':
		v.kind = boolean
	default:
		v.kind = number
	}
	m.values = append(m.values, v)
	return nil
}

// seen is the values of a member in all lines.
type seen struct {
	counts [kinds]uint64
	texts  bool // some texts are no times
	list   bool
	infer  csv.Inference
	beyond int          // numbers beyond the range of a float
	first  *input.Error // place and text of the first of them
}

// add takes the values of a line of a file.
func (s *seen) add(m *member, path string, line int) {
	s.list = s.list || m.list
	for _, v := range m.values {
		s.counts[v.kind]++
		if v.kind == number && !csv.Fits(read.Field{Type: column.Float}, v.text) {
			if s.beyond++; s.beyond == 1 {
				s.first = &input.Error{Path: path, Line: line, Offset: -1, Reason: fmt.Sprintf("%.60s", v.text)}
			}
		}
		if s.texts = s.texts || v.kind == text && !isTime(v.text); !s.texts {
			s.infer.See(v.text, path, line)
		}
	}
}

// mixed tells whether the values are of several kinds.
func (s *seen) mixed() bool {
	several := 0
	for _, n := range s.counts {
		if n > 0 {
			several++
		}
	}
	return several > 1
}

// declared is the type of the column.
func (s *seen) declared() column.Declared {
	d := column.Declared{Type: column.String, List: s.list}
	if !s.texts && !s.mixed() {
		if d.Type = s.infer.Type(); d.Type == column.Decimal128 { // integers
			d.Digits = column.MaxScale
		}
	}
	return d
}

// String lists the kinds with their numbers.
func (s *seen) String() string {
	var parts []string
	for k, n := range s.counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d)", kindNames[k], n))
		}
	}
	return strings.Join(parts, ", ")
}

// note adds the columns of a line.
func (t *table) note(line []byte, path string, at int) error {
	all, err := members(line, path, at)
	for i := range all {
		m := &all[i]
		top, _, _ := strings.Cut(m.name, ".")
		if len(m.values) == 0 && !m.list || slices.Contains(texts, top) {
			continue
		}
		if m.name == "" {
			return &input.Error{Path: path, Line: at, Reason: "a member with an empty name is no attribute: give it a name"}
		}
		s := t.seen[m.name]
		if s == nil {
			s = &seen{}
			t.seen[m.name] = s
		}
		s.add(m, path, at)
		if _, known := t.at[m.name]; !known && len(m.values) > 0 {
			t.at[m.name] = len(t.names)
			t.names = append(t.names, m.name)
		}
	}
	return err
}
