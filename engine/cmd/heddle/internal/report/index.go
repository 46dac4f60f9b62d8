package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/codec"
	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/index/inventory"
)

// Index describes an index file.
type Index struct {
	Path              string            `json:"path"`
	Bytes             int64             `json:"bytes"`
	Checksum          string            `json:"checksum"`
	Creator           string            `json:"creator"`
	Format            string            `json:"format"`
	Documents         uint32            `json:"documents"`
	WithTerms         uint32            `json:"with_terms"` // documents with at least one term
	Terms             int               `json:"terms"`
	Postings          uint64            `json:"postings"`
	Tokens            uint64            `json:"tokens"`      // or the sum of impacts
	MeanLength        float64           `json:"mean_length"` // tokens per document with terms
	BytesPerDocID     float64           `json:"bytes_per_docid"`
	BytesPerFrequency float64           `json:"bytes_per_frequency"` // or impact
	Tokenizer         string            `json:"tokenizer"`
	Rules             int               `json:"rules"` // version of the rules of analysis
	CJK               string            `json:"cjk,omitempty"`
	Fold              bool              `json:"fold"`
	Stemmer           string            `json:"stemmer"`
	StopWords         int               `json:"stop_words"`
	Lengths           string            `json:"lengths"` // form of document lengths: exact or lucene
	Codec             string            `json:"codec"`
	ExceptionRatio    float64           `json:"exception_ratio"`
	Dense             string            `json:"dense"`
	Impacts           *hdl.Impacts      `json:"impacts,omitempty"` // nil: the index stores frequencies
	Store             string            `json:"store,omitempty"`   // stored documents: text or source
	Positions         bool              `json:"positions"`
	BytesPerPosition  float64           `json:"bytes_per_position,omitempty"`
	Fields            []Field           `json:"fields,omitempty"` // in the order of their terms
	Codecs            []inventory.Codec `json:"codecs"`
	Sections          []Section         `json:"sections"`
}

// Field describes a field of an index.
type Field struct {
	Name       string  `json:"name"`
	WithTerms  uint32  `json:"with_terms"` // documents with at least one term in the field
	Terms      uint32  `json:"terms"`
	Postings   uint64  `json:"postings"`
	Tokens     uint64  `json:"tokens"`
	MeanLength float64 `json:"mean_length"` // tokens per document with terms in the field
}

func fields(f *hdl.File) (all []Field) {
	if len(f.Meta().Fields) == 0 {
		return nil
	}
	for _, one := range f.Fields() {
		all = append(all, Field{one.Name, one.Docs, one.Terms, one.Postings, one.Tokens, float64(one.Length) / float64(max(one.Docs, 1))})
	}
	return all
}

func writeFields(b *strings.Builder, all []Field) {
	if len(all) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "field\tdocuments\tterms\tpostings\ttokens\tmean length\t\n")
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2f\t\n", f.Name, f.WithTerms, f.Terms, f.Postings, f.Tokens, f.MeanLength)
	}
	w.Flush()
	b.WriteByte('\n')
}

// NewIndex describes f.
func NewIndex(f *hdl.File) *Index {
	m := f.Meta()
	x := &Index{
		Path: f.Path(), Bytes: f.Size(), Checksum: fmt.Sprintf("%016x", f.Checksum()), Creator: m.Creator, Format: m.Format,
		Documents: m.Docs, WithTerms: m.WithTerms, Terms: f.Terms(), Postings: m.Postings, Tokens: m.Tokens,
		Tokenizer: cmp.Or(m.Analysis.Tokens, analyze.TokensWords), Rules: m.Analysis.Rules, CJK: m.Analysis.CJK, Fold: m.Analysis.Fold, Lengths: cmp.Or(m.Lengths, hdl.LengthsExact), Stemmer: cmp.Or(m.Analysis.Stemmer, "none"), StopWords: len(m.Analysis.StopWords),
		Codec: cmp.Or(m.Codec, "auto"), ExceptionRatio: m.ExceptionRatio, Dense: cmp.Or(m.Dense, "auto"),
		Store: m.Store, Positions: m.Positions, Fields: fields(f), Codecs: inventory.Codecs(f), Sections: sections(f.Sections()),
	}
	if m.Impacts.Bits > 0 {
		x.Impacts = &m.Impacts
	}
	if m.WithTerms > 0 {
		x.MeanLength = float64(m.Length) / float64(m.WithTerms)
	}
	if m.Postings > 0 {
		words, freqs := f.Source().Used()
		x.BytesPerDocID = float64(words) * 4 / float64(m.Postings)
		x.BytesPerFrequency = float64(freqs) * 4 / float64(m.Postings)
	}
	if m.Positions && m.Tokens > 0 {
		bytes := int64(0)
		for _, s := range x.Sections {
			if strings.HasPrefix(s.Name, "position") {
				bytes += s.Bytes
			}
		}
		x.BytesPerPosition = float64(bytes) / float64(m.Tokens)
	}
	return x
}

func impacts(m *hdl.Impacts) string {
	origin := m.Origin
	if m.Origin == hdl.ImpactsBM25 {
		origin = fmt.Sprintf("%s, %s k1=%v b=%v", m.Origin, m.Variant, m.K1, m.B)
	}
	return fmt.Sprintf("%d bits, from %s, scale %.6g", m.Bits, origin, m.Scale)
}

// Write writes the description as text.
func (x *Index) Write(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "index\t%s\nbytes\t%d\nchecksum\t%s\n", x.Path, x.Bytes, x.Checksum)
	fmt.Fprintf(w, "creator\t%s\nformat\t%s\n", x.Creator, x.Format)
	sum, frequency := "tokens", "frequency"
	if x.Impacts != nil {
		sum, frequency = "sum of impacts", "impact"
	}
	fmt.Fprintf(w, "documents\t%d\nterms\t%d\npostings\t%d\n%s\t%d\n", x.Documents, x.Terms, x.Postings, sum, x.Tokens)
	fmt.Fprintf(w, "mean length\t%.2f tokens, lengths %s\n", x.MeanLength, x.Lengths)
	fmt.Fprintf(w, "bytes per posting\tdocID %.3f, %s %.3f\n", x.BytesPerDocID, frequency, x.BytesPerFrequency)
	if m := x.Impacts; m != nil {
		fmt.Fprintf(w, "impacts\t%s\n", impacts(m))
	}
	if x.Positions {
		fmt.Fprintf(w, "bytes per position\t%.3f\n", x.BytesPerPosition)
	}
	if x.Store != "" {
		fmt.Fprintf(w, "stored documents\t%s\n", x.Store)
	}
	tokens := x.Tokenizer
	if x.CJK != "" {
		tokens += ", CJK " + x.CJK
	}
	if x.Fold {
		tokens += ", folded"
	}
	fmt.Fprintf(w, "analysis\t%s, stemmer %s, %d stop words\n", tokens, x.Stemmer, x.StopWords)
	fmt.Fprintf(w, "codec\t%s, exception ratio %v, dense %s\n", x.Codec, x.ExceptionRatio, x.Dense)
	w.Flush()
	b.WriteByte('\n')

	writeFields(&b, x.Fields)
	if x.Codec == "auto" {
		fmt.Fprintf(&b, "%s\n", codec.CostRule)
	}
	writeCodecs(&b, x.Codecs)
	b.WriteByte('\n')

	writeSections(&b, x.Sections)
	_, err := io.WriteString(out, b.String())
	return err
}
