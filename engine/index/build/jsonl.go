package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

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

// parseJSON reads a JSON object.
func parseJSON(record []byte, at position, d *document) error {
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
