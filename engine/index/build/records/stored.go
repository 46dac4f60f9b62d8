package records

import (
	"bytes"

	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// TextOf returns the text of a document of an index with stored documents: the stored text, or the text of
// the stored source.
func TextOf(f *hdl.File, d uint32) (string, error) {
	document, err := f.Document(d)
	if err != nil || f.Meta().Store == hdl.StoreText {
		return document, err
	}
	x := Document{Fields: NewFields(f.Meta().Text, f.Meta().ID, nil)}
	at := source.Position{Line: int(d) + 1}
	if err := parseJSON([]byte(document), at, &x); err != nil {
		return "", at.Errorf(f.Path(), "the stored source of document %d: %v", d, err)
	}
	return string(bytes.TrimSpace(x.Text)), nil
}

// Member returns the value of a JSON object at a path of members, such as title or meta.year; nil if there is none.
// Of the objects in an array it is the array of their values.
func Member(object []byte, path string) []byte {
	all := valuesAt(bytes.TrimLeft(object, jsonSpace), path, nil)
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
}
