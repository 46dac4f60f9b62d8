package hdl

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"heddle/engine/file/container"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// fieldSize is the size of an entry of section fields, in bytes.
const fieldSize = 64

// needsFields is the feature of files with named fields.
const needsFields = "fields"

// MaxFields is the greatest number of fields of an index.
const MaxFields = 64

// FieldMark separates the name of a field from a term: a term of the field title is title:loom.
const FieldMark = bm25.FieldMark

// Field is a range of handles with statistics of its own.
type Field struct {
	Name  string // empty: the only field of an index without fields
	First uint32 // handle of its first term
	Terms uint32 // handles
	// Docs is the number of documents with at least one term in the field: N of BM25, and the divisor
	// of the mean length, as docCount in Lucene. Documents of length 0 count if a list has them.
	Docs      uint32
	Length    uint64 // sum of the exact document lengths; see LengthsLucene
	Postings  uint64
	Tokens    uint64 // sum of frequencies, or of impacts
	Positions uint64 // equal to Tokens, or 0 without positions
	lengths   uint64 // first word of its document lengths in section lengths
}

// append appends the entry of a field.
func (f *Field) append(dst []byte) []byte {
	le := binary.LittleEndian
	for _, n := range []uint32{f.First, f.Terms, 0, f.Docs} {
		dst = le.AppendUint32(dst, n)
	}
	for _, n := range []uint64{f.Length, f.Postings, f.Tokens, f.lengths, f.Positions, 0} {
		dst = le.AppendUint64(dst, n)
	}
	return dst
}

// mostName is the greatest length of the name of a field, in characters.
const mostName = 255

// checkFields refuses names that no index has.
func checkFields(names []string) error {
	if len(names) > MaxFields {
		return inputError("%d fields; at most %d are possible", len(names), MaxFields)
	}
	met := map[string]bool{}
	for _, name := range names {
		if name == "" || syntax.FieldName(name) < len(name) || utf8.RuneCountInString(name) > mostName {
			return inputError("the field %q: a name begins with a letter and has letters, digits, _, . and - alone, at most %d", name, mostName)
		}
		if lower := strings.ToLower(name); met[lower] {
			return inputError("the field %q comes twice", name)
		} else {
			met[lower] = true
		}
	}
	return nil
}

// SortFields returns the names of fields in the order of their handles: of the terms in the order of bytes.
func SortFields(names []string) []string {
	return slices.SortedFunc(slices.Values(names), func(a, b string) int { return strings.Compare(a+FieldMark, b+FieldMark) })
}

// fieldNames returns the names of the fields in the order of their handles; one empty name without fields.
func (m *Meta) fieldNames() []string {
	if len(m.Fields) == 0 {
		return []string{""}
	}
	return SortFields(m.Fields)
}

// openFields reads the fields, whose totals are the totals of the header.
func (f *File) openFields() error {
	h, le := &f.header, binary.LittleEndian
	sum, names := Field{}, f.meta.fieldNames()
	if uint64(len(names)) != uint64(h.fields) {
		return f.corrupt(secMeta, 0, "%d names of fields, the header has %d fields", len(names), h.fields)
	}
	for i, name := range names {
		at := uint64(i) * fieldSize
		b := f.bytes(secFields)[at:][:fieldSize]
		one := Field{Name: name, First: sum.Terms, Terms: le.Uint32(b[4:]), Docs: le.Uint32(b[12:]), Length: le.Uint64(b[16:]),
			Postings: le.Uint64(b[24:]), Tokens: le.Uint64(b[32:]), lengths: le.Uint64(b[40:])}
		if f.meta.Positions {
			one.Positions = one.Tokens
		}
		for i, want := range one.append(nil) {
			if b[i] != want {
				return f.corrupt(secFields, at+uint64(i), "byte %d of the entry of a field is %d, the fields before it and the meta data make it %d", i, b[i], want)
			}
		}
		if one.Docs > h.docs || one.Terms > h.terms-sum.Terms {
			return f.corrupt(secFields, at, "a field with %d of %d documents and %d of %d terms", one.Docs, h.docs, one.Terms, h.terms)
		}
		sum.Terms, sum.Length, sum.Postings, sum.Tokens = sum.Terms+one.Terms, sum.Length+one.Length, sum.Postings+one.Postings, sum.Tokens+one.Tokens
		f.fields = append(f.fields, one)
	}
	if want := (Field{Terms: h.terms, Length: h.length, Postings: h.postings, Tokens: h.tokens}); sum != want {
		return f.corrupt(secFields, 0, "the fields have %d terms, length %d, %d postings and %d tokens, the header has %d, %d, %d and %d",
			sum.Terms, sum.Length, sum.Postings, sum.Tokens, want.Terms, want.Length, want.Postings, want.Tokens)
	}
	return nil
}

// describeFields gives the fields to the source, once the lengths are known. WithTerms of the index is the number of
// documents of any length.
func (f *File) describeFields() {
	f.source.Lengths, f.meta.WithTerms = f.lengths[0], f.fields[0].Docs
	if len(f.meta.Fields) > 0 {
		for i, one := range f.fields {
			f.source.Fields = append(f.source.Fields, plan.Field{Name: one.Name, First: one.First, Docs: uint64(one.Docs), Length: one.Length, Lengths: f.lengths[i]})
		}
	}
	if len(f.fields) > 1 {
		f.source.Lengths = f.sumLengths()
		f.meta.WithTerms = 0
		for _, n := range f.source.Lengths {
			f.meta.WithTerms += min(n, 1)
		}
	}
	f.source.WithTerms = f.meta.WithTerms
}

// Fields returns the fields in the order of their handles: one without a name in an index without fields. The slice is
// the caller's.
func (f *File) Fields() []Field { return slices.Clone(f.fields) }

// fieldWriter is a field of a Writer.
type fieldWriter struct {
	Field
	prefix  string   // of its terms
	pending []uint32 // length of each document in tokens, not yet packed
	spool   *container.Spool
	used    docSet // documents with terms
	empty   uint32 // documents so far of length 0
}

// field returns the field of the next term.
func (w *Writer) field(term string) (*fieldWriter, error) {
	for ; w.current < len(w.fields); w.current++ {
		if one := &w.fields[w.current]; strings.HasPrefix(term, one.prefix) {
			return one, nil
		}
	}
	return nil, inputError("term %.60q has no field of %q", term, w.meta.Fields)
}

// finishFields writes the fields and the lengths of their documents.
func (w *Writer) finishFields() error {
	first, length := uint32(0), uint64(0)
	for i := range w.fields {
		one := &w.fields[i]
		if len(one.pending) > 0 {
			if err := w.writeLengths(one); err != nil {
				return err
			}
		}
		one.lengths = w.file.Sections[secLengths].Length() / 4
		if i == 0 {
			one.lengths = 0
		} else if err := w.file.Sections[secLengths].AppendSpool(one.spool); err != nil {
			return err
		}
		if w.meta.roundsLengths() && w.meta.Impacts.Bits == 0 {
			one.Length = max(one.Length, one.Tokens)
		}
		if w.meta.Positions {
			one.Positions = one.Tokens
		}
		one.First, one.Docs = first, one.used.count()
		first, length = first+one.Terms, length+one.Length
		if err := w.file.Sections[secFields].Append(one.append(nil)); err != nil {
			return err
		}
	}
	w.header.length = length
	return nil
}

// docSet is a set of documents, a bit each.
type docSet []uint32

func newDocSet(docs uint32) docSet { return make(docSet, docs/32+1) }

func (s docSet) mark(doc uint32) { s[doc/32] |= 1 << (doc % 32) }

// markShared is mark for several goroutines.
func (s docSet) markShared(doc uint32) { atomic.OrUint32(&s[doc/32], 1<<(doc%32)) }

func (s docSet) count() (n uint32) {
	for _, w := range s {
		n += uint32(bits.OnesCount32(w))
	}
	return n
}
