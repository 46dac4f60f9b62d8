package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The members of JSON lines that name a document and that are its text, each in the order of their
// precedence. The text is the concatenation of all text members: of Anserini (contents), BEIR (title,
// text), CIFF (content), MS MARCO (title, headings, body, segment), CORD-19 (title, abstract, body) and
// collections of articles (summary, description).
var (
	namers = []string{"id", "docno", "docid", "_id", "name"}
	texts  = []string{"title", "headings", "abstract", "summary", "description", "text", "contents", "content", "body", "segment"}
	// optional are texts that may be attributes instead.
	optional = []string{"headings", "abstract", "summary", "description", "segment"}
)

// maxKnown bounds the names of members that parseFlat knows, in bytes.
const maxKnown = 64

// vectorMember is the place of member vector in fields.at.
const vectorMember = -1

// Members are the names of the members of JSON lines that name a document or have its text or vector.
func Members() []string { return slices.Concat(namers, texts, []string{"vector"}) }

// Namers are the names of the members of JSON lines that name a document, in the order of their precedence.
func Namers() []string { return namers }

// Reserved are the Members that cannot be attributes as well.
func Reserved() []string {
	return slices.DeleteFunc(Members(), func(name string) bool { return slices.Contains(optional, name) })
}

// Fields say which members of a JSON object name a document and are its text.
type Fields struct {
	names, texts []string // paths, in the order of their precedence
	chosen       bool     // texts are the Text of NewFields
	all          bool     // every text is
	vector       bool     // a member vector is a vector
	attributes   []string // "*": all
	paths        bool     // the members need more than the names at the top of an object

	at map[string]int // by names in lower case: the place in texts, or behind them in names, or vectorMember
}

// NewFields returns the fields of the options Text, ID and Attributes of a build.
func NewFields(text []string, id string, attributes []string) *Fields {
	f := &Fields{names: namers, attributes: attributes, vector: true, at: map[string]int{"vector": vectorMember}}
	if id != "" {
		f.names = []string{id}
	}
	for _, name := range texts {
		if !slices.Contains(optional, name) || !slices.Contains(attributes, name) {
			f.texts = append(f.texts, name)
		}
	}
	if len(text) > 0 {
		f.texts, f.chosen = text, true
		if f.all = slices.Contains(text, "*"); f.all {
			f.texts = nil
		}
	}
	f.paths = f.all
	for i, name := range slices.Concat(f.texts, f.names) {
		lower := strings.ToLower(name)
		_, twice := f.at[lower]
		f.paths = f.paths || twice || strings.Contains(name, ".") || len(name) > maxKnown || !isPlain([]byte(name))
		f.at[lower] = i
	}
	return f
}

// Texts are the members of the text, as the option Text has them.
func (f *Fields) Texts() []string {
	if f.all {
		return []string{"*"}
	}
	return f.texts
}

// has reports whether a member at the top, or a member of it, is a name or is indexed.
func (f *Fields) has(name string) bool {
	is := func(path string) bool {
		return strings.EqualFold(path, name) || len(path) > len(name) && path[len(name)] == '.' && strings.EqualFold(path[:len(name)], name)
	}
	return is("vector") || slices.ContainsFunc(f.texts, is) || slices.ContainsFunc(f.names, is)
}

// missing is the error of an object without a text. It has texts in other members.
func (f *Fields) missing(others []string) error {
	of := strings.Join(f.texts, ", ")
	if f.vector && !f.chosen {
		of += ", vector"
	}
	if len(others) == 0 {
		return fmt.Errorf("none of the members %s", of)
	}
	return fmt.Errorf("none of the members %s; the texts are in %s: choose them with --text or --fields", of, strings.Join(others, ", "))
}

// valuesAt appends the values at a path of members, a.b, to dst: of the last member with a name, which
// ignores case, and of each object in an array.
func valuesAt(value []byte, path string, dst [][]byte) [][]byte {
	switch value[0] {
	case '[':
		var all []json.RawMessage
		_ = json.Unmarshal(value, &all) // the record is valid
		for _, v := range all {
			dst = valuesAt(v, path, dst)
		}
		return dst
	case '{':
	default:
		return dst
	}
	first, rest, nested := strings.Cut(path, ".")
	var whole, part json.RawMessage
	_ = eachMember(value, func(name string, v json.RawMessage) error {
		if strings.EqualFold(name, path) {
			whole = v
		} else if nested && strings.EqualFold(name, first) {
			part = v
		}
		return nil
	})
	if whole != nil {
		return append(dst, whole)
	}
	if part != nil {
		return valuesAt(part, rest, dst)
	}
	return dst
}

// eachMember calls f with the members of a valid object, in their order.
func eachMember(object []byte, f func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := f(name.(string), value); err != nil {
			return err
		}
	}
	return nil
}

// maxLeft bounds the names that LeftOut counts one by one.
const maxLeft = 1000

const otherMembers = "…"

// leaveOut counts a member with a text that is neither indexed nor an attribute.
func (d *Document) leaveOut(name []byte) {
	if n := d.Left[string(name)]; n != nil {
		*n++
		return
	}
	if slices.ContainsFunc(d.Fields.attributes, func(a string) bool { return a == "*" || strings.HasPrefix(a+".", string(name)+".") }) {
		return
	}
	if d.Left == nil {
		d.Left = map[string]*uint64{}
	}
	if len(d.Left) >= maxLeft {
		name = []byte(otherMembers)
	}
	n := d.Left[string(name)]
	if n == nil {
		n = new(uint64)
		d.Left[string(name)] = n
	}
	*n++
}
