package build

import (
	"cmp"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build/records"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// DefaultMemoryLimit is Options.MemoryLimit if that is 0, in bytes.
const DefaultMemoryLimit = 512 << 20

// DefaultMaxInvalid is the share of invalid documents that a build accepts.
const DefaultMaxInvalid = 0.01

// Options say how an index is built. DefaultOptions has the defaults; of the
// zero value only ExceptionRatio, Scoring and MaxInvalid differ from them.
type Options struct {
	// Format of all inputs. The default is Auto.
	Format Format

	// Text are the members of JSON lines that are the text of a document, in this order. A member
	// of an object, or of each object in an array, is named by its path, a.b; * is every text of a
	// document but its name, in the order of the line. Names ignore case. A number or boolean
	// counts as it is written. Default: the text members that the package comment names.
	Text []string
	// Fields are the members of JSON lines, columns of text or elements of TREC that become fields: each has terms, lengths and
	// statistics of its own. They take the place of Text. Default: none, all texts are one.
	Fields []string
	// ID is the member of JSON lines that names a document, or its path, or with Fields the column of a header. Default: the
	// members that the package comment names, or the first column that is no field.
	ID string
	// Attributes are the members of JSON lines that an attribute table has, or * for all others. They
	// are not in Summary.LeftOut, and only in the text if Text names them. Default: none.
	Attributes []string

	// Invalid is the treatment of invalid documents. The default is input.Replace.
	// MaxInvalid is the greatest share of invalid documents, from 0 to 1; above it the
	// build fails. The default is DefaultMaxInvalid.
	Invalid    input.Invalid
	MaxInvalid float64

	// Codec, Dense and ExceptionRatio are explained in hdl.Meta. The defaults are
	// "auto", "auto" and the ratio of codec.DefaultOptions.
	Codec          string
	Dense          string
	ExceptionRatio float64

	// Fold folds words, Stem is a stemmer of analyze.Stemmers, and StopWords are the words
	// to drop; see analyze.Settings. They apply to texts. The terms of pisa and ciff stay
	// unchanged, but the settings are stored for queries: give the settings with which the
	// collection was analysed. The default is no folding, no stemmer, no stop words.
	//
	// Tokens is the rule that cuts text into terms: analyze.TokensWords, the default, or
	// analyze.TokensSpaces, which allows no folding, stemmer or stop words. Collections of
	// vectors always use TokensSpaces.
	//
	// CJK is the rule for Chinese, Japanese and Korean words: analyze.CJKBigrams, the default, or
	// analyze.CJKUnigrams. Rules is the number of the rules of analysis: analyze.Rules, the default.
	Rules     int
	Tokens    string
	CJK       string
	Fold      bool
	Stem      string
	StopWords []string

	// Lengths is the precision of document lengths, see hdl.Meta. The default is
	// hdl.LengthsExact.
	Lengths string

	// Store is what the index keeps of documents for hdl.File.Document, without white space at both ends:
	// hdl.StoreNone, the default, hdl.StoreText, or hdl.StoreSource, the objects of JSON lines. Inverted
	// inputs have none, and are refused.
	Store string

	// Positions stores the positions of terms in documents, for phrases. Texts alone have some: other inputs
	// and Impacts are refused. Default: false.
	Positions bool

	// Impacts of 8 or 16 bits take the place of frequencies, unless it is 0: of
	// contributions by Scoring in an index of texts or inverted lists, of the weights
	// in one of vectors. The default of Scoring is bm25.Default.
	Impacts uint8
	Scoring bm25.Params

	// Quantised takes the frequencies of inverted lists as the impacts that they are already, such as
	// lists that Anserini exported for uniCOIL. One above the maximum of Impacts is an error.
	// Default: false.
	Quantised bool

	// Renumber is RenumberNone, which keeps the order of the inputs and is the default, or
	// RenumberRandom, which numbers documents at random: line codecs then compress better,
	// gap codecs worse if the inputs were in a good order. An Output of Create gets documents
	// in the order of the inputs in any case. It takes 24 bytes per document, and 8 per
	// posting of the longest list, beside MemoryLimit.
	Renumber string

	// MemoryLimit bounds the memory of the build in bytes; the package comment states
	// the exceptions. The default is DefaultMemoryLimit.
	MemoryLimit uint64

	// Documents is the number of documents that the inputs must have. Default: 0, any number.
	Documents uint64

	// Force replaces a file of another program.
	Force bool

	// Create replaces hdl.Create, for an output of several files. It gets the path of the
	// output, the description of the whole index, and a function that calls f with the exact
	// lengths of all documents and returns the first error of f. Summary.FileBytes is 0 then.
	Create func(out string, meta hdl.Meta, lengths func(f func(length uint32) error) error) (Output, error)

	// Disk takes the index file in the end. The default is container.OSDisk.
	Disk container.Disk

	// TempDir is the folder for temporary files. The default is the folder of the index
	// file.
	TempDir string

	// Workers is the number of goroutines that analyse texts. The default is
	// GOMAXPROCS.
	Workers int

	// Creator is stored in the index file: program and version.
	Creator string

	// Stdin is the input "-". The default is os.Stdin.
	Stdin io.Reader

	// Progress, unless nil, is called now and then, and when all documents or all lists have been
	// read or written, by the goroutine that called Build: bytes of the inputs read so far and in all
	// (compressed bytes of compressed inputs; in all is 0 if that is unknown) and
	// documents so far. Lists of pisa with ascending terms are read while the index is written.
	Progress func(doneBytes, totalBytes int64, docs uint64)

	maxDocument int // source.MaxDocument, less in tests
}

// Values of Options.Renumber.
const (
	RenumberNone   = "none"
	RenumberRandom = "random"
)

// Output takes the content of an index, as an hdl.Writer does.
type Output interface {
	// AddDocument gets the length of each field, in the order of hdl.SortFields.
	AddDocument(name string, lengths ...uint32) error
	AddStored(document []byte) error
	AddList(term string, docs, freqs []uint32) error
	AddPositions(values []uint32) error
	Commit() error
	Abort() error
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		ExceptionRatio: codec.DefaultOptions().ExceptionRatio, Scoring: bm25.Default(), MaxInvalid: DefaultMaxInvalid,
	}.complete("")
}

// complete puts the defaults in for zeros.
func (o Options) complete(out string) Options {
	if o.Format == "" {
		o.Format = Auto
	}
	if o.Invalid == "" {
		o.Invalid = input.Replace
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = DefaultMemoryLimit
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.TempDir == "" && out != "" {
		o.TempDir = filepath.Dir(out)
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.maxDocument == 0 {
		o.maxDocument = source.MaxDocument
	}
	return o
}

// stores reports whether the index has stored documents.
func (o *Options) stores() bool { return o.Store != "" && o.Store != hdl.StoreNone }

// members are the Text and the ID of a stored source.
func (o *Options) members() (text []string, id string) {
	if o.Store != hdl.StoreSource {
		return nil, ""
	}
	return records.NewFields(o.Text, o.ID, o.Attributes).Texts(), o.ID
}

// chunkLimits splits MemoryLimit: size is the text of a chunk in bytes, number is the
// number of chunks, and index is the rest for the index in memory. A chunk takes about
// four times its text (lists, names, slack), and once more where texts are stored. The lists of
// a chunk of 128 KiB stay in the second-level cache.
func (o *Options) chunkLimits() (size, number int, index uint64) {
	share := 4
	if o.stores() {
		share++
	}
	number = 2*o.Workers + 1
	size = int(min(max(o.MemoryLimit/2/uint64(share*number), 4<<10), 128<<10))
	flight := uint64(size * number * share)
	return size, number, o.MemoryLimit - min(flight, o.MemoryLimit/2)
}

// meta is the description that the index file stores.
func (o *Options) meta(a *analyze.Analyzer, format string, docs uint32, impacts hdl.Impacts) hdl.Meta {
	text, id := o.members()
	return hdl.Meta{
		Docs: docs, Creator: o.Creator, Format: format, Analysis: a.Settings(), Store: o.Store, Text: text, ID: id, Impacts: impacts, Lengths: o.Lengths, Positions: o.Positions, Fields: o.Fields,
		Codec: o.Codec, Dense: o.Dense, ExceptionRatio: o.ExceptionRatio,
	}
}

// Summary describes a finished build.
type Summary struct {
	Documents uint64
	Terms     uint64
	Postings  uint64
	Tokens    uint64 // sum of frequencies, or of impacts
	ReadBytes int64  // bytes of the inputs, before decompression
	FileBytes int64  // bytes of the index file
	Runs      int    // written to disk because of the memory limit
	Unnamed   uint64 // documents with their line as name
	// Duplicates counts documents with the name of an earlier document, Duplicate is the
	// first such document, and its name. Empty names do not count.
	Duplicates uint64
	Duplicate  struct {
		Doc  uint64
		Name string
	}
	Invalid InvalidDocuments
	// LeftOut are the members of JSON lines, and with fields the elements of TREC, with texts that are neither indexed nor attributes.
	LeftOut []LeftOut
	// Warnings are about inputs whose own totals do not agree with their content;
	// they were indexed as the content has it.
	Warnings []string
}

// LeftOut is a member of JSON lines or an element of TREC that is neither indexed nor an attribute.
type LeftOut struct {
	Member    string `json:"member"`    // … stands for the members behind the first 1000
	Documents uint64 `json:"documents"` // documents with a text in the field
}

// leftOut joins the counts of all workers, the most frequent member first.
func leftOut(counts map[string]uint64) (all []LeftOut) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, LeftOut{name, counts[name]})
	}
	slices.SortStableFunc(all, func(a, b LeftOut) int { return cmp.Compare(b.Documents, a.Documents) })
	return all
}
