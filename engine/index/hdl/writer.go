package hdl

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl/compress"
	"heddle/engine/plan"
)

// Writer writes an index file: documents in order, their stored form if Meta.Store is set, lists
// in ascending order of their terms, in any mixture; then Commit. Nothing appears under
// the file's name before Commit has succeeded. A Writer belongs to one goroutine.
//
// Pending data lie in files of a temporary directory beside the target, which Commit
// joins: for that moment it needs up to twice the room of all sections except the docIDs.
// The directory has the name of the path with ".tmp" and a number; it remains only after
// the process was killed. Memory does not grow with postings: it is 3 MiB of buffers, with
// stored documents 10 MiB and the longest document more and 3 MiB per core, 4 bytes per posting of the longest list so far, and a bit
// per document.
//
// After an error every call returns the same error, and only Abort is useful; Commit
// aborts by itself.
type Writer struct {
	file      *container.Writer
	meta      Meta
	encoding  encoding
	header    header
	documents *documentWriter // nil without stored documents
	positions *positionWriter // nil without positions

	plain     *container.Spool // blocks of front-coded names, each behind its length
	block     []byte           // pending bytes of a block
	lastName  string           // the last name of the block
	nameBytes [256]uint64      // how often each byte occurs in them

	names   uint32        // documents so far
	fields  []fieldWriter // in the order of their handles
	current int           // field of the last term
	last    string        // term
	words   []uint32
	bytes   []byte // a descriptor, a front-coded string
}

// Create starts an index file of meta.Docs documents at path. An existing file
// is replaced by Commit and not touched before. The totals in meta are ignored.
//
//	w, err := hdl.Create(path, meta)
//	if err != nil { return err }
//	defer w.Abort() // does nothing after Commit
func Create(path string, meta Meta) (*Writer, error) { return CreateOn(container.OSDisk{}, path, meta) }

// CreateOn is Create on a disk that a test may replace.
func CreateOn(d container.Disk, path string, meta Meta) (w *Writer, err error) {
	w = &Writer{meta: meta}
	w.header.docs = meta.Docs
	if w.encoding, err = meta.encoding(); err != nil {
		return nil, err
	}
	if err := meta.check(); err != nil {
		return nil, err
	}
	if w.file, err = container.Create(d, path, &format); err != nil {
		return nil, err
	}
	if err := w.start(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// start writes the sections before the lists.
func (w *Writer) start() (err error) {
	w.plain = w.file.Temp("plain-names")
	names := w.meta.fieldNames()
	w.header.fields = uint32(len(names))
	for i, name := range names {
		one := fieldWriter{Field: Field{Name: name}, spool: w.file.Sections[secLengths], used: newDocSet(w.meta.Docs)}
		if name != "" {
			one.prefix = name + FieldMark
		}
		if i > 0 {
			one.spool = w.file.Temp("lengths-" + strconv.Itoa(i))
		}
		w.fields = append(w.fields, one)
	}
	if w.meta.Positions {
		w.positions = &positionWriter{}
	}
	if !w.meta.stores() {
		return nil
	}
	w.documents = &documentWriter{firsts: w.file.Temp("first-documents")}
	if err := w.file.Sections[secDocumentBlocks].AppendUint64(0); err != nil {
		return err
	}
	return w.file.Sections[secDocumentOffsets].AppendUint64(0)
}

// AddDocument adds the next document: its name, of at most MaxNameLen bytes, may
// be empty; its lengths are in tokens, exact, one for each field in the order of their handles (SortFields). One more than
// Meta.Docs is an ErrInput.
func (w *Writer) AddDocument(name string, lengths ...uint32) error {
	return w.file.Do(func() error { return w.addDocument(name, lengths) })
}

func (w *Writer) addDocument(name string, lengths []uint32) error {
	if w.names == w.header.docs {
		return inputError("document %d out of %d: %.60q", w.names, w.header.docs, name)
	}
	if len(name) > MaxNameLen {
		return inputError("name of document %d has %d bytes; at most %d are possible", w.names, len(name), MaxNameLen)
	}
	if len(lengths) != len(w.fields) {
		return inputError("document %d has %d lengths for %d fields", w.names, len(lengths), len(w.fields))
	}
	if err := w.addName(name); err != nil {
		return err
	}
	for i, length := range lengths {
		one := &w.fields[i]
		if length > 0 {
			one.used.mark(w.names)
		} else {
			one.empty++
		}
		one.Length += uint64(length)
		if w.meta.roundsLengths() {
			length = bm25.RoundLength(length)
		}
		if one.pending = append(one.pending, length); len(one.pending) == lengthChunk {
			if err := w.writeLengths(one); err != nil {
				return err
			}
		}
	}
	w.names++
	return nil
}

// WithTerms is the number of documents so far with at least one term; see Field.Docs.
func (w *Writer) WithTerms() uint32 {
	all := slices.Clone(w.fields[0].used)
	for i := range w.fields[1:] {
		for j, word := range w.fields[i+1].used {
			all[j] |= word
		}
	}
	return all.count()
}

// markLists appends a listPlace.
func (w *Writer) markLists() error {
	for _, n := range []uint64{
		w.file.Sections[secLists].Length(), w.file.Sections[secDocIDs].Length() / 4, w.file.Sections[secFreqs].Length() / 4,
	} {
		if err := w.file.Sections[secListBlocks].AppendUint64(n); err != nil {
			return err
		}
	}
	return w.markPositions()
}

// AddList adds the list of the next term: docs are strictly increasing and below
// Meta.Docs, freqs as many and not 0, or impacts as Meta.Impacts has it, the term is above the term before in the
// order of bytes and has at most MaxTermLen of them. Anything else is an
// ErrInput. The list may be empty. The slices stay the caller's.
func (w *Writer) AddList(term string, docs, freqs []uint32) error {
	return w.file.Do(func() error { return w.addList(term, docs, freqs) })
}

func (w *Writer) addList(term string, docs, freqs []uint32) error {
	tokens, err := w.checkList(term, docs, freqs)
	if err != nil {
		return err
	}
	field, err := w.field(term)
	if err != nil {
		return err
	}
	if err := w.addTerm(term); err != nil {
		return err
	}
	if w.header.terms%listBlock == 0 {
		if err := w.markLists(); err != nil {
			return err
		}
	}
	if id := w.encoding.choose(docs, w.header.docs); id == codec.Raw && len(docs) <= shortList {
		w.bytes = appendInline(w.bytes[:0], docs, freqs)
	} else if err := w.encode(id, term, docs, freqs, tokens); err != nil {
		return err
	}
	if err := w.file.Sections[secLists].Append(w.bytes); err != nil {
		return err
	}
	if field.empty > 0 || w.names < w.header.docs { // else all documents have terms
		for _, d := range docs {
			field.used.mark(d)
		}
	}
	if w.positions != nil {
		if err := w.addRanks(freqs, tokens); err != nil {
			return err
		}
	}
	w.header.terms++
	w.header.postings += uint64(len(docs))
	w.header.tokens += tokens
	field.Terms++
	field.Postings += uint64(len(docs))
	field.Tokens += tokens
	return nil
}

// addTerm writes the next term.
func (w *Writer) addTerm(term string) error {
	if w.header.terms%termBlock == 0 {
		w.last = ""
		if err := w.file.Sections[secTermOffsets].AppendUint64(w.file.Sections[secTerms].Length()); err != nil {
			return err
		}
	}
	w.bytes = compress.AppendFront(w.bytes[:0], w.last, term)
	w.last = term
	return w.file.Sections[secTerms].Append(w.bytes)
}

// encode writes the halves of a list to their sections and makes its descriptor.
func (w *Writer) encode(id codec.ID, term string, docs, freqs []uint32, tokens uint64) (err error) {
	if w.words, err = codec.Append(w.words[:0], id, docs, w.encoding.opt); err != nil {
		return err
	}
	d := descriptor{tokens: tokens, words: uint32(len(w.words)), len: uint32(len(docs)), codec: id}
	if err := w.writeList(secDocIDs, term); err != nil {
		return err
	}
	if err := w.file.Sections[secDocIDs].Pad(4 * plan.ListAlign); err != nil {
		return err
	}
	if w.words, err = codec.AppendFreqs(w.words[:0], freqs, w.encoding.opt); err != nil {
		return err
	}
	d.freqWords = uint32(len(w.words))
	w.bytes = d.append(w.bytes[:0])
	return w.writeList(secFreqs, term)
}

// writeList writes the encoded half of a list.
func (w *Writer) writeList(s section, term string) error {
	if uint64(len(w.words)) > math.MaxUint32 {
		return inputError("list %.60q: its %s take %d words; at most %d are possible", term, s, len(w.words), uint32(math.MaxUint32))
	}
	return w.file.Sections[s].Append(container.LittleBytes(w.words))
}

// checkList checks the rules of AddList and sums the frequencies up.
func (w *Writer) checkList(term string, docs, freqs []uint32) (tokens uint64, err error) {
	switch {
	case w.header.terms == math.MaxUint32:
		return 0, inputError("more than %d terms", uint32(math.MaxUint32))
	case len(term) > MaxTermLen:
		return 0, inputError("term %.60q... has %d bytes; at most %d are possible", term, len(term), MaxTermLen)
	case w.header.terms > 0 && term == w.last:
		return 0, inputError("term %.60q comes twice", term)
	case w.header.terms > 0 && term < w.last:
		return 0, inputError("term %.60q comes behind %.60q", term, w.last)
	case len(docs) != len(freqs):
		return 0, inputError("list %.60q has %d docIDs and %d frequencies", term, len(docs), len(freqs))
	}
	least := uint32(0) // docID that may follow
	for i, d := range docs {
		switch {
		case d < least:
			return 0, inputError("list %.60q: docID %d comes behind %d", term, d, docs[i-1])
		case d >= w.header.docs:
			return 0, inputError("list %.60q: docID %d out of %d documents", term, d, w.header.docs)
		}
		least = d + 1
	}
	greatest := w.meta.Impacts.Max()
	for i, f := range freqs {
		switch {
		case f == 0:
			return 0, inputError("list %.60q: docID %d has frequency 0", term, docs[i])
		case f > greatest:
			return 0, inputError("list %.60q: docID %d has impact %d; at most %d are possible", term, docs[i], f, greatest)
		}
		tokens += uint64(f)
	}
	return tokens, nil
}
