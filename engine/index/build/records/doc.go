// Package records cuts inputs of text into records, and reads a document from each.
package records

import "heddle/engine/index/build/source"

// Input is an input of records.
type Input struct {
	*source.Reader
	Binary int  // records of a web archive that are no text
	seen   bool // a document of TREC
}

// Format is a format of documents that are texts.
type Format struct {
	// Cut appends the next record to dst and returns the position of its start; io.EOF
	// follows the last record. An error in the content is an *input.Error.
	Cut func(s *Input, dst []byte) ([]byte, source.Position, error)
	// Parse reads a record into d. The error describes the fault in the record.
	Parse func(record []byte, at source.Position, d *Document) error
}

// The formats. The comment of package build describes each.
var (
	Text = Format{cutLine, parseText}
	JSON = Format{cutLine, parseJSON}
	TREC = Format{cutTREC, parseTREC}
	WARC = Format{cutWARC, parseWARC}
)

// Document is a parsed record: views into it or into scratch memory of the
// Document, which is used again for the next.
type Document struct {
	Name, Text []byte
	Ends       []int              // of JSON and of formats with fields: where the text of each member of Fields ends in Text
	Unnamed    bool               // the name is the line
	Vector     Vector             // vector of the document in place of its text, if it is given
	Fields     *Fields            // the members, columns or elements that are indexed
	Left       map[string]*uint64 // documents by members of JSON, or elements of TREC, that are left out, for the caller to reset

	scratch []byte
	decoded []byte // scratch: the text of JSON and of fields
	members members
	values  [][]byte // scratch: of JSON and columns
	spare   [][]byte // scratch: names of JSON

	elements elements // scratch: of Elements
}
