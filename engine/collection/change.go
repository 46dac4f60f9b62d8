package collection

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// Added describes added documents.
type Added struct {
	build.Summary
	// Replaced counts the documents, of the collection and of the inputs, whose name a later
	// document has.
	Replaced uint64
	Epoch    uint64 // the state with the documents; without new documents the present state
}

// Add adds the documents of inputs: text, jsonl, trec or warc, see package build. It uses the fields of
// opt for the format, the members of JSON lines, invalid documents, the limit of memory, the standard
// input and the report of progress. A collection with attributes takes only jsonl without invalid documents. When Add
// returns without an error, queries find the documents, and a crash does not lose them.
func (w *Writer) Add(ctx context.Context, inputs []string, opt build.Options) (a Added, err error) {
	want := w.Manifest().Settings
	if want.Store == hdl.StoreSource && (opt.Text != nil || opt.ID != "") {
		return a, errors.New("the members of text and name belong to a collection that stores sources: leave out --text and --id")
	}
	want.apply(&opt)
	opt.Attributes = names(want.Attributes)
	number := w.number()
	defer func() {
		if err != nil {
			err = errors.Join(err, w.discard(number))
		}
	}()
	var warnings []string // about attributes
	if want.Attributes != nil {
		done, err := w.addAttributes(ctx, number, inputs, &opt, func(text string) { warnings = append(warnings, text) })
		defer done()
		if err != nil {
			return a, err
		}
	}
	got, err := w.build(ctx, number, inputs, opt, &a.Summary)
	if err != nil {
		return a, err
	}
	a.Warnings = append(a.Warnings, warnings...)
	got.Attributes = want.Attributes
	if err := check(&want, &got, &a.Summary); err != nil {
		return a, err
	}
	if a.Documents == 0 {
		a.Epoch = w.Manifest().Epoch
		return a, w.discard(number)
	}
	s, err := w.seal(number)
	if err != nil {
		return a, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Replaced, err = w.join(s); err != nil {
		return a, errors.Join(err, s.close())
	}
	a.Epoch = w.now.Epoch
	return a, nil
}

// ErrDocuments is the cause of the error for documents that a collection cannot hold.
var ErrDocuments = errors.New("the collection cannot hold the documents")

// check refuses documents that the collection cannot hold.
func check(want, got *Settings, sum *build.Summary) error {
	switch {
	case sum.Unnamed > 0:
		return fmt.Errorf("%w: %d have no name, or an empty one: a document of a collection needs one (NAME TAB TEXT; id in jsonl), because line numbers would replace one another", ErrDocuments, sum.Unnamed)
	case fmt.Sprint(*got) != fmt.Sprint(*want):
		return fmt.Errorf("%w: they need other settings: vectors need a collection with --tokenizer %s", ErrDocuments, analyze.TokensSpaces)
	}
	return nil
}

// join appends a segment. The documents with its names are deleted. It is called with the lock.
func (w *Writer) join(s *segment) (replaced uint64, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	deleted := map[*segment]*roaring.Bitmap{s: s.deleted}
	for _, name := range s.index.Names(0) {
		if _, err := w.strike(deleted, name); err != nil {
			return 0, err
		}
	}
	for old, b := range deleted {
		replaced += b.GetCardinality()
		if old.Deleted != nil {
			replaced -= old.Deleted.Docs
		}
	}
	w.written += s.Docs
	kept := w.segments
	if len(kept) == 1 && kept[0].Docs == 0 { // the segment of a collection without documents
		kept = nil
	}
	return replaced, w.change(append(kept[:len(kept):len(kept)], s), deleted)
}

// strike adds the document with a name to the deleted documents.
func (w *Writer) strike(deleted map[*segment]*roaring.Bitmap, name string) (found bool, err error) {
	for _, s := range w.segments {
		doc, found, err := s.find(name)
		if err != nil {
			return false, err
		}
		if !found || deleted[s] != nil && deleted[s].Contains(doc) {
			continue
		}
		if deleted[s] == nil {
			deleted[s] = s.deleted.Clone() // find has read it
		}
		deleted[s].Add(doc)
		return true, nil // names are unique
	}
	return false, nil
}

// Removed describes a call of Delete.
type Removed struct {
	Deleted uint64
	Missing uint64 // names that no document had
	Epoch   uint64 // the state without the documents
}

// Delete deletes the documents with some names. It is complete, and outlives a crash, when it returns
// without an error. A name that no document has is no error.
func (w *Writer) Delete(ctx context.Context, names iter.Seq2[string, error]) (r Removed, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	deleted := map[*segment]*roaring.Bitmap{}
	for name, err := range names {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return r, err
		}
		found, err := w.strike(deleted, name)
		switch {
		case err != nil:
			return r, err
		case found:
			r.Deleted++
		default:
			r.Missing++
		}
	}
	if len(deleted) > 0 {
		err = w.change(w.segments, deleted)
	}
	r.Epoch = w.now.Epoch
	return r, err
}

// Source returns the source of the document with a name. The collection must store sources.
func (w *Writer) Source(name string) (source string, found bool, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.segments {
		doc, found, err := s.find(name)
		if err != nil {
			return "", false, err
		}
		if found {
			f, err := s.file()
			if err != nil {
				return "", false, err
			}
			source, err = f.Document(doc)
			return source, true, err
		}
	}
	return "", false, nil
}

// ErrSource is the error of calls that need stored sources.
var ErrSource = errors.New("the collection does not store the sources of its documents: make it with store source")
