// Package contents has the form in which an answer gives the contents of a document.
package contents

import "encoding/json"

// Document has the name of a document and the parts that a search or a caller has asked for. JSON stands as it was
// stored.
type Document struct {
	// Name of the document; empty if it has none.
	Name string `json:"name"`
	// Members is a JSON object with the members of the stored source that were asked for and that it has.
	Members json.RawMessage `json:"fields,omitempty"`
	// Source is the stored JSON object, or the stored text as a JSON string.
	Source json.RawMessage `json:"source,omitempty"`
	// Snippet is the part of the text with the most words of the query.
	Snippet string `json:"snippet,omitempty"`
	// Attributes is a JSON object with the values of attributes that were asked for; null: the document has none.
	Attributes json.RawMessage `json:"attributes,omitempty"`
}

// Bytes estimates the memory of the document.
func (d *Document) Bytes() int64 {
	return int64(128 + len(d.Name) + len(d.Members) + len(d.Source) + len(d.Snippet) + len(d.Attributes))
}
