package hdl

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/codec"
	"heddle/engine/index/analyze"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// Meta describes the build of an index. The caller sets the first part, which is stored as
// JSON. The Writer sets the totals, from Terms on, which are stored in the header.
type Meta struct {
	// Docs is the number of documents. Create needs it, because the choice of a
	// codec depends on it.
	Docs uint32 `json:"-"`

	Creator string `json:"creator,omitempty"` // program and version
	Format  string `json:"format,omitempty"`  // format of the input: text, jsonl, trec, pisa, ciff

	// Analysis is how texts became terms; queries must be treated alike.
	Analysis analyze.Settings `json:"-"`

	// Codec is the codec of the lists. "auto" or empty chooses the codec of least cost for
	// each list. The name of a codec encodes each list that becomes smaller than raw; a
	// list that does not is raw. See codec.Choose and codec.Options.ParseCodec.
	Codec string `json:"codec,omitempty"`
	// Dense is the treatment of lists with a density above 1/32. "auto" or empty stores
	// them as bitsets whatever Codec is, because a probe is then one load; "never" stores
	// bitsets only where Codec chooses them.
	Dense string `json:"dense,omitempty"`
	// ExceptionRatio is explained in codec.Options, which has a default: 0 stores no
	// exceptions.
	ExceptionRatio float64 `json:"exception_ratio"`

	// Lengths is the precision of document lengths: LengthsExact or empty, or LengthsLucene.
	Lengths string `json:"lengths,omitempty"`

	// Impacts describes the integers in the place of frequencies, if there are any.
	Impacts Impacts `json:"impacts,omitzero"`

	// Fields are the names of the fields: a letter, then letters, digits, _, . and -. A term of a field is
	// the name, FieldMark and the word: title:loom. Impacts exclude them. Default: none.
	Fields []string `json:"fields,omitempty"`

	// Needs are features that a reader must know. This package knows "fields", which the Writer sets, and refuses files with others.
	Needs []string `json:"needs,omitempty"`

	// Store is what the index stores of documents (Writer.AddStored): StoreNone or empty, StoreText or
	// StoreSource.
	Store string `json:"documents,omitempty"`
	// Text are the members of JSON that are the text of a stored source, and ID is the member with its name, as
	// records.NewFields has them. Default: the members that package records names.
	Text []string `json:"text,omitempty"`
	ID   string   `json:"id,omitempty"`

	// Positions is true if the index stores the positions of terms (Writer.AddPositions). Impacts exclude them.
	Positions bool `json:"positions,omitempty"`

	Terms    uint32 `json:"-"` // number of lists
	Postings uint64 `json:"-"` // sum of list lengths
	Tokens   uint64 `json:"-"` // sum of frequencies, or of impacts
	Length   uint64 `json:"-"` // sum of the exact document lengths, in tokens; see LengthsLucene
	// WithTerms is the number of documents with at least one term; see Field.Docs.
	WithTerms uint32 `json:"-"`
}

// Values of Meta.Lengths.
const (
	LengthsExact = "exact"
	// LengthsLucene is rounded by bm25.RoundLength. The mean stays exact, as in Lucene: the
	// sum of the lengths is at least the sum of the frequencies, also where the lengths come
	// rounded from an export of Lucene. With impacts it is the sum of the given lengths.
	LengthsLucene = "lucene"
)

// roundsLengths reports whether the index stores rounded lengths.
func (m *Meta) roundsLengths() bool { return m.Lengths == LengthsLucene }

// storedMeta is the JSON of a Meta. Its own Analysis hides the field of Meta, to name
// the keys.
type storedMeta struct {
	Meta
	Analysis storedAnalysis `json:"analysis"`
}

type storedAnalysis struct {
	Rules     int      `json:"rules"`
	Tokens    string   `json:"tokens,omitempty"`
	CJK       string   `json:"cjk,omitempty"`
	Fold      bool     `json:"fold,omitempty"`
	Stemmer   string   `json:"stemmer"`
	StopWords []string `json:"stop_words"`
}

func (m Meta) encode() ([]byte, error) {
	if m.Lengths == LengthsExact {
		m.Lengths = "" // the default
	}
	if m.Store == StoreNone {
		m.Store = "" // the default
	}
	if m.Analysis.Tokens == analyze.TokensWords {
		m.Analysis.Tokens = "" // the default
	}
	m.Analysis.Rules = cmp.Or(m.Analysis.Rules, analyze.Rules)
	if len(m.Fields) > 0 && !slices.Contains(m.Needs, needsFields) {
		m.Needs = append(slices.Clip(m.Needs), needsFields)
	}
	return json.Marshal(storedMeta{m, storedAnalysis(m.Analysis)})
}

func decodeMeta(data []byte, h *header) (Meta, error) {
	var s storedMeta
	err := json.Unmarshal(data, &s)
	s.Meta.Analysis = analyze.Settings(s.Analysis)
	s.Docs, s.Terms, s.Postings, s.Tokens, s.Length = h.docs, h.terms, h.postings, h.tokens, h.length
	return s.Meta, cmp.Or(syntax.JSON(data, err), s.checkValues())
}

// Analyzer returns the analysis of the documents, which is the analysis of queries too. An analysis
// that this build does not know, such as another stemmer, is a *CorruptError.
func (f *File) Analyzer() (*analyze.Analyzer, error) {
	a, err := analyze.New(f.meta.Analysis)
	if err != nil {
		return nil, f.corrupt(secMeta, 0, "%v", err)
	}
	return a, nil
}

// known refuses an intact file that this build would read wrongly.
func (m *Meta) known(path string) error {
	for _, need := range m.Needs {
		if need != needsFields {
			return foreignError(path, "it needs the feature %q, which this build does not have", need)
		}
	}
	if r := m.Analysis.Rules; r != analyze.Rules {
		return foreignError(path, "its terms have the analysis rules %d, this build has the rules %d", r, analyze.Rules)
	}
	return nil
}

// encoding is the checked form of the three fields that rule the encoder.
type encoding struct {
	codec codec.ID // may be codec.Auto
	dense bool     // dense lists become bitsets
	opt   codec.Options
}

func (m *Meta) encoding() (e encoding, err error) {
	e.dense = true
	e.opt = codec.DefaultOptions()
	e.opt.ExceptionRatio = m.ExceptionRatio
	if err := e.opt.Validate(); err != nil {
		return e, inputError("%v", err)
	}
	if m.Codec != "" && !strings.EqualFold(m.Codec, "auto") {
		if e.codec, err = e.opt.ParseCodec(m.Codec); err != nil {
			return e, inputError("%v", err)
		}
	}
	switch strings.ToLower(m.Dense) {
	case "", "auto":
	case "never":
		if e.dense = false; e.codec == codec.Bitset {
			return e, inputError("codec bitset contradicts dense = never")
		}
	default:
		return e, inputError("dense is %q, neither auto nor never", m.Dense)
	}
	return e, nil
}

// shortList is the number of docIDs up to which a raw list lies in its descriptor: its postings
// take 2 or 3 bytes each there, and in sections of their own 8 bytes and 20 more per list. With
// the codec auto such lists are raw unless they are bitsets.
const shortList = 16

// choose names the codec for docs out of a universe.
func (e *encoding) choose(docs []uint32, universe uint32) codec.ID {
	if !e.dense {
		universe = 0
	}
	want := e.codec
	if want == codec.Auto && len(docs) <= shortList {
		want = codec.Raw
	}
	return codec.Choose(want, docs, universe, e.opt).ID
}

// Reason is the reason for the codec of list h, as codec.Choose gave it when the index
// was built.
func (f *File) Reason(h plan.Handle) codec.Reason {
	f.source.Describe(h)
	l := f.source.Lists[h]
	e, err := f.meta.encoding()
	switch {
	case l.Codec == codec.Bitset && e.dense && uint64(l.Len)*32 > uint64(f.header.docs):
		return codec.Dense
	case err != nil || e.codec == codec.Auto:
		return codec.LeastCost
	case l.Codec == e.codec:
		return codec.Asked
	}
	return codec.NotSmaller
}

// check reports a field that a file would not give back as it is.
func (m *Meta) check() error {
	fields := append(slices.Clone(m.Analysis.StopWords), m.Creator, m.Format, m.Analysis.Stemmer, m.Analysis.Tokens)
	for _, s := range fields {
		if !utf8.ValidString(s) {
			return inputError("meta data %q is not UTF-8", s)
		}
	}
	return m.checkValues()
}

// checkValues refuses values that no index can hold.
func (m *Meta) checkValues() error {
	if !slices.Contains([]string{"", LengthsExact, LengthsLucene}, m.Lengths) {
		return inputError("lengths are %q, neither %s nor %s", m.Lengths, LengthsExact, LengthsLucene)
	}
	if !slices.Contains([]string{"", StoreNone, StoreText, StoreSource}, m.Store) {
		return inputError("documents are %q, none of %s, %s and %s", m.Store, StoreNone, StoreText, StoreSource)
	}
	if m.Positions && m.Impacts.Bits > 0 {
		return inputError("positions need frequencies, impacts of %d bits replace these", m.Impacts.Bits)
	}
	if len(m.Fields) > 0 && m.Impacts.Bits > 0 {
		return inputError("fields need frequencies, impacts of %d bits replace these", m.Impacts.Bits)
	}
	return cmp.Or(checkFields(m.Fields), m.Impacts.check())
}
