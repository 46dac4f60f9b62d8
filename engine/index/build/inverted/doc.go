// Package inverted reads inverted lists: the Common Index File Format, and the files of PISA.
package inverted

import (
	"errors"

	"heddle/engine/index/build/gather"
)

// Sink takes the documents and lists of inputs.
type Sink interface {
	// Start begins an input, and returns the docID of its first document.
	Start(path string) (first uint32, err error)
	// CheckRoom fails if n more documents would exceed the range of docIDs.
	CheckRoom(n uint64) error
	// AddDocument adds a document of the input.
	AddDocument(name []byte, length uint32) error
	// StartList begins the list of a term. The postings follow.
	StartList(term []byte) error
	// AddPosting adds a posting to the list, or fails with ErrOrder. The docID is one of the input's, and
	// freq is not 0.
	AddPosting(doc, freq uint32) error
	// AddPostings is AddPosting for at least one posting, in the order of docIDs.
	AddPostings(docs, freqs []uint32) error
	// AddRun adds lists that stay in their files.
	AddRun(r gather.Run) error
	// Warn notes that an input does not agree with itself.
	Warn(path, format string, args ...any)
}

// ErrOrder is the error of a docID that does not ascend in its list.
var ErrOrder = errors.New("docIDs do not ascend")
