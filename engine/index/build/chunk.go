package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/records"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// chunk is a number of documents on their way: cut from the inputs, analysed,
// handed over to the builder. Then its memory is used again.
type chunk struct {
	text    []byte // the records, without gaps
	records []record
	ready   chan struct{} // receives when the chunk has been analysed

	count     uint32 // number of documents, without skipped records
	withTerms uint32 // documents with terms
	unnamed   uint32 // documents with their line as name
	invalid   InvalidDocuments
	lists     []byte         // records by tally; docIDs count from the first document
	groups    []gather.Group // groups of the records
	documents []byte         // by appendDocument
	stored    []byte         // by gather.AppendBytes, if documents are stored
	kind      kind           // kind of all documents
	weigher   weigher        // turns the weights of vectors into frequencies, or prepares impacts
	err       error          // error of the first record that cannot be read

	left   map[string]uint64 // documents by members of JSON, or elements of TREC, that are left out
	filled []bool            // tells which fields have terms
}

// kind is the kind of content of documents; all documents of an index have one kind.
type kind uint8

const (
	ofNothing kind = iota // there are none yet
	ofTexts               // or of inverted lists
	ofVectors
)

// errKinds is two kinds of documents in one index.
type errKinds string

func (e errKinds) Error() string { return string(e) }

// join combines the kinds of two sets of documents, or fails with errKinds.
func (k *kind) join(other kind) error {
	switch {
	case *k == ofNothing:
		*k = other
	case other == ofVectors && *k == ofTexts:
		return errKinds("a document with a vector behind documents without")
	case other == ofTexts && *k == ofVectors:
		return errKinds("a document without a vector behind documents with one")
	}
	return nil
}

// record is a document as it stands in its input.
type record struct {
	end   int // end of the record in chunk.text; it starts where the record before ends
	at    source.Position
	input *origin
}

// origin is the common data of the records of an input.
type origin struct {
	path   string
	format records.Format
	lines  bool // the format is Text
	json   bool // the format is JSONL
	tabs   bool // the first line has a TAB
	utf16  bool // converted to UTF-8
}

var textFormats = map[Format]records.Format{Text: records.Text, JSONL: records.JSON, TREC: records.TREC, WARC: records.WARC}

// reset empties the chunk. It frees the memory of an uncommonly large document.
func (c *chunk) reset(size int) {
	if cap(c.text) > 4*size+4096 {
		c.text, c.lists = nil, nil
	}
	c.text = c.text[:0]
	c.records = c.records[:0]
	c.documents = c.documents[:0]
	c.stored = c.stored[:0]
	c.count, c.withTerms, c.unnamed, c.invalid = 0, 0, 0, InvalidDocuments{}
	c.lists, c.groups = c.lists[:0], c.groups[:0]
	c.err = nil
	clear(c.left)
	clear(c.filled)
}

// worker analyses chunks. It belongs to one goroutine.
type worker struct {
	words   *analyze.Tokenizer
	invalid input.Invalid
	plain   bool   // no folding, stemmer or stop words
	impacts bool   // the index has impacts
	store   string // Options.Store
	doc     records.Document
	chunk   *chunk
	tally   gather.Tally
	fields  []byte   // by member of the text: number of its field; nil without fields
	lengths []uint32 // terms of the current document so far, a number for each field
	key     []byte   // scratch: a term behind the number of its field
}

func (w *worker) analyse(ctx context.Context, c *chunk) {
	w.chunk = c
	w.tally.Reset()
	c.kind, c.weigher = ofNothing, weigher{impacts: w.impacts}
	start := 0
	for _, r := range c.records {
		if c.err = ctx.Err(); c.err != nil {
			return
		}
		text := c.text[start:r.end]
		start = r.end
		if reason := c.invalid.inspect(text, r); reason != "" {
			switch w.invalid {
			case input.Fail:
				c.err = r.at.Error(r.input.path, reason)
				return
			case input.Skip:
				c.invalid.Skipped++
				continue
			}
			text = bytes.ToValidUTF8(text, []byte("\ufffd"))
		}
		weigher := c.weigher
		err := w.document(text, r)
		if mixed := errKinds(""); err != nil && (w.invalid != input.Skip || errors.As(err, &mixed)) {
			c.err = r.at.Error(r.input.path, err.Error())
			return
		}
		if w.tally.End(err == nil); err != nil {
			c.weigher = weigher
			c.invalid.Records++
			c.invalid.Skipped++
			c.invalid.note(r, err.Error())
			continue
		}
		c.count++
		c.withTerms += min(sum(w.lengths), 1)
		for _, f := range w.fields {
			c.filled[f] = c.filled[f] || w.lengths[f] > 0
		}
		if w.doc.Unnamed {
			c.unnamed++
		}
		c.documents = appendDocument(c.documents, w.doc.Name, w.lengths...)
		switch w.store {
		case hdl.StoreText:
			c.stored = gather.AppendBytes(c.stored, bytes.TrimSpace(w.doc.Text))
		case hdl.StoreSource:
			c.stored = gather.AppendBytes(c.stored, bytes.TrimSpace(text))
		}
	}
	c.lists, c.groups = w.tally.Append(c.lists, c.groups)
	for member, n := range w.doc.Left {
		if *n > 0 {
			if c.left == nil {
				c.left = map[string]uint64{}
			}
			c.left[member], *n = *n, 0
		}
	}
}

// document notes the terms of one record. After an error, counts of its terms remain.
func (w *worker) document(text []byte, r record) error {
	clear(w.lengths)
	w.doc.Unnamed = false
	w.doc.Vector.Reset()
	if err := r.input.format.Parse(text, r.at, &w.doc); err != nil {
		return err
	}
	if len(w.doc.Name) > hdl.MaxNameLen {
		return fmt.Errorf("a document name of %d bytes; at most %d are possible", len(w.doc.Name), hdl.MaxNameLen)
	}
	if w.doc.Vector.Given && w.tally.Positions {
		return errKinds("a document with a vector, which has no positions")
	}
	if w.doc.Vector.Given && w.fields != nil {
		return errKinds("a document with a vector, which has no fields")
	}
	if w.doc.Vector.Given {
		return cmp.Or(w.chunk.kind.join(ofVectors), w.weigh(&w.doc.Vector))
	}
	if w.fields != nil {
		w.countFields()
		return w.chunk.kind.join(ofTexts)
	}
	for token := range w.words.Tokens(w.doc.Text) {
		w.lengths[0]++
		if w.tally.Positions {
			w.tally.Place(token.Term, token.Position)
			continue
		}
		w.tally.Count(token.Term, 1)
	}
	return w.chunk.kind.join(ofTexts)
}

// countFields notes the terms of the fields of a document: see builder.termOf.
func (w *worker) countFields() {
	start := 0
	for i, end := range w.doc.Ends {
		for token := range w.words.Tokens(w.doc.Text[start:end]) {
			w.lengths[w.fields[i]]++
			w.key = append(append(w.key[:0], w.fields[i]), token.Term...)
			if w.tally.Positions {
				w.tally.Place(w.key, token.Position)
			} else {
				w.tally.Count(w.key, 1)
			}
		}
		start = end
	}
}
