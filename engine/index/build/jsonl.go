package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"heddle/engine/syntax"
)

// jsonDocument has a member for each name that a field goes by in collections:
// Anserini id and contents, BEIR _id, title and text, CIFF id and content, MS
// MARCO docid, title and body.
type jsonDocument struct {
	ID    jsonName `json:"id"`
	Docno jsonName `json:"docno"`
	Docid jsonName `json:"docid"`
	Under jsonName `json:"_id"`
	Name  jsonName `json:"name"`

	Title    *string `json:"title"`
	Text     *string `json:"text"`
	Contents *string `json:"contents"`
	Content  *string `json:"content"`
	Body     *string `json:"body"`

	Vector vector `json:"vector"`
}

// Members are the names of the members of JSON lines that name a document or have its text or vector.
func Members() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[jsonDocument]()) {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}

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

// namers and texts are the members of jsonDocument that name a document and that are its text, in
// the order of their precedence.
var (
	namers = []string{"id", "docno", "docid", "_id", "name"}
	texts  = []string{"title", "text", "contents", "content", "body"}
)

// parseJSON reads a JSON object.
func parseJSON(record []byte, at position, d *document) error {
	if d.parseFlat(record, at) {
		return nil
	}
	return d.parseAny(record, at)
}

// parseAny is parseJSON by encoding/json.
func (d *document) parseAny(record []byte, at position) error {
	doc := jsonDocument{Vector: d.vector} // its memory
	err := json.Unmarshal(record, &doc)
	d.vector = doc.Vector
	if err != nil {
		return syntax.JSONLine(record, err)
	}
	d.name = nil
	for _, name := range []jsonName{doc.ID, doc.Docno, doc.Docid, doc.Under, doc.Name} {
		if len(name) > 0 {
			d.name = name
			break
		}
	}
	if d.name == nil {
		d.name = d.number(at)
	}
	d.text = d.text[:0:0]
	found := doc.Vector.given
	for _, text := range []*string{doc.Title, doc.Text, doc.Contents, doc.Content, doc.Body} {
		if text != nil {
			found = true
			d.text = append(append(d.text, *text...), '\n')
		}
	}
	if !found {
		return errors.New("none of the members title, text, contents, content, body, vector")
	}
	return nil
}

// parseFlat is parseJSON for most objects with a text, several times faster. It returns false for all
// other records.
func (d *document) parseFlat(record []byte, at position) bool {
	var names, values [5][]byte // as they are written
	ok := true
	flat := d.members.each(record, func(name, value []byte) {
		var lower [8]byte // the longest name that counts
		if len(name) > len(lower) {
			return
		}
		for i, c := range name {
			lower[i] = c
			if 'A' <= c && c <= 'Z' {
				lower[i] += 'a' - 'A'
			}
		}
		key := string(lower[:len(name)])
		kind := value[0]
		switch i := slices.Index(texts, key); {
		case key == "vector":
			ok = false
		case i >= 0 && kind == '"':
			values[i] = value
		case i >= 0 && kind == 'n': // null
			values[i] = nil
		case i >= 0:
			ok = false
		default:
			if i = slices.Index(namers, key); i < 0 || kind == 'n' {
				return
			}
			ok = ok && (kind == '"' || kind == '-' || '0' <= kind && kind <= '9')
			names[i] = value
		}
	})
	if !flat || !ok {
		return false
	}
	var err error
	b, found := d.decoded[:0], false
	for _, value := range values {
		if value == nil {
			continue
		}
		found = true
		if b, err = appendString(b, value); err != nil {
			return false
		}
		b = append(b, '\n')
	}
	d.decoded, d.text, d.name = b, b, nil
	for _, name := range names {
		if len(name) > 0 && name[0] == '"' {
			if d.scratch, err = appendString(d.scratch[:0], name); err != nil {
				return false
			}
			name = d.scratch
		}
		if len(name) > 0 {
			d.name = name
			break
		}
	}
	if d.name == nil {
		d.name = d.number(at)
	}
	return found
}
