package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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

// Reserved are the Members that cannot be attributes as well.
func Reserved() []string {
	return slices.DeleteFunc(Members(), func(name string) bool { return slices.Contains(optional, name) })
}

// fields say which members of a JSON object name a document and are its text.
type fields struct {
	names, texts []string // paths, in the order of their precedence
	chosen       bool     // texts are Options.Text
	all          bool     // every text is
	vector       bool     // a member vector is a vector
	attributes   []string // "*": all
	paths        bool     // the members need more than the names at the top of an object

	at map[string]int // by names in lower case: the place in texts, or behind them in names, or vectorMember
}

// newFields returns the fields of the options of a build.
func newFields(opt *Options) *fields {
	f := &fields{names: namers, attributes: opt.Attributes, vector: true, at: map[string]int{"vector": vectorMember}}
	if opt.ID != "" {
		f.names = []string{opt.ID}
	}
	for _, name := range texts {
		if !slices.Contains(optional, name) || !slices.Contains(opt.Attributes, name) {
			f.texts = append(f.texts, name)
		}
	}
	if len(opt.Text) > 0 {
		f.texts, f.chosen = opt.Text, true
		if f.all = slices.Contains(opt.Text, "*"); f.all {
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

// has reports whether a member at the top, or a member of it, is a name or is indexed.
func (f *fields) has(name string) bool {
	is := func(path string) bool {
		return strings.EqualFold(path, name) || len(path) > len(name) && path[len(name)] == '.' && strings.EqualFold(path[:len(name)], name)
	}
	return is("vector") || slices.ContainsFunc(f.texts, is) || slices.ContainsFunc(f.names, is)
}

// missing is the error of an object without a text. It has texts in other members.
func (f *fields) missing(others []string) error {
	of := strings.Join(f.texts, ", ")
	if f.vector && !f.chosen {
		of += ", vector"
	}
	if len(others) == 0 {
		return fmt.Errorf("none of the members %s", of)
	}
	return fmt.Errorf("none of the members %s; the texts are in %s: choose them with --text", of, strings.Join(others, ", "))
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
func (d *document) leaveOut(name []byte) {
	if n := d.left[string(name)]; n != nil {
		*n++
		return
	}
	if slices.ContainsFunc(d.fields.attributes, func(a string) bool { return a == "*" || strings.HasPrefix(a+".", string(name)+".") }) {
		return
	}
	if d.left == nil {
		d.left = map[string]*uint64{}
	}
	if len(d.left) >= maxLeft {
		name = []byte(otherMembers)
	}
	n := d.left[string(name)]
	if n == nil {
		n = new(uint64)
		d.left[string(name)] = n
	}
	*n++
}

// LeftOut is a member of JSON lines that is neither indexed nor an attribute.
type LeftOut struct {
	Member    string `json:"member"`    // … stands for the members behind the first 1000
	Documents uint64 `json:"documents"` // documents with a text in the field
}

// leftOut joins the counts of all workers, the most frequent member first.
func leftOut(counts map[string]uint64) (all []LeftOut) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, LeftOut{name, counts[name]})
	}
	slices.SortStableFunc(all, func(a, b LeftOut) int { return cmp.Compare(b.Documents, a.Documents) })
	return all
}
