package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
)

type indexInfoOptions struct {
	path string
	term string
	json bool
}

func newIndexInfo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "info X.hdl [--term T] [--json]",
		Short: "Print counts, settings and sizes of an index",
		Long: `Info prints what an index holds, how it was built, the sections of the file, and
for each codec its lists, what they take, and why they have it. It checks the
file's checksums first.

An index of codec auto gives each list the codec of least cost: its bits a
posting, and what the codec's speed adds to them. With --term info computes the
costs of one list again, under all codecs that auto compares. The term is taken as
the index has it.`,
		Example: "  heddle index info books.hdl\n  heddle index info books.hdl --json\n  heddle index info books.hdl --term loom",
	}, &indexInfoOptions{})
}

func (o *indexInfoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.term, "term", "", "say why the list of term `T` has its codec")
	addJSON(fs, &o.json)
}

func (o *indexInfoOptions) Validate(args []string) (err error) {
	o.path, err = oneArgument(args, "one index file")
	return err
}

// indexInfo is the answer; its JSON names are part of the contract.
type indexInfo struct {
	Path              string       `json:"path"`
	Bytes             int64        `json:"bytes"`
	Checksum          string       `json:"checksum"`
	Creator           string       `json:"creator"`
	Format            string       `json:"format"`
	Documents         uint32       `json:"documents"`
	Terms             int          `json:"terms"`
	Postings          uint64       `json:"postings"`
	Tokens            uint64       `json:"tokens"`
	MeanLength        float64      `json:"mean_length"` // of a document, in tokens
	BytesPerDocID     float64      `json:"bytes_per_docid"`
	BytesPerFrequency float64      `json:"bytes_per_frequency"` // or impact
	Tokenizer         string       `json:"tokenizer"`
	Stemmer           string       `json:"stemmer"`
	StopWords         int          `json:"stop_words"`
	Codec             string       `json:"codec"`
	ExceptionRatio    float64      `json:"exception_ratio"`
	Dense             string       `json:"dense"`
	Impacts           *hdl.Impacts `json:"impacts,omitempty"` // in place of frequencies; tokens is their sum
	Texts             bool         `json:"texts"`             // are stored
	Codecs            []codecInfo  `json:"codecs"`
	Sections          []section    `json:"sections"`
}

func (o *indexInfoOptions) Run(_ context.Context, a *App) error {
	f, err := hdl.Open(o.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if o.term != "" {
		term, err := describeTerm(f, o.term)
		switch {
		case err != nil:
			return err
		case o.json:
			return writeJSON(a.Stdout, term)
		}
		return term.write(a.Stdout)
	}
	info := describe(f)
	if o.json {
		return writeJSON(a.Stdout, info)
	}
	return info.write(a.Stdout)
}

func describe(f *hdl.File) indexInfo {
	m := f.Meta()
	info := indexInfo{
		Path: f.Path(), Bytes: f.Size(), Checksum: fmt.Sprintf("%016x", f.Checksum()), Creator: m.Creator, Format: m.Format,
		Documents: m.Docs, Terms: f.Terms(), Postings: m.Postings, Tokens: m.Tokens,
		Tokenizer: cmp.Or(m.Analysis.Tokens, analyze.TokensWords), Stemmer: cmp.Or(m.Analysis.Stemmer, "none"), StopWords: len(m.Analysis.StopWords),
		Codec: cmp.Or(m.Codec, "auto"), ExceptionRatio: m.ExceptionRatio, Dense: cmp.Or(m.Dense, "auto"),
		Texts: m.Texts, Codecs: describeCodecs(f), Sections: describeSections(f.Sections()),
	}
	if m.Impacts.Bits > 0 {
		info.Impacts = &m.Impacts
	}
	if m.Docs > 0 {
		info.MeanLength = float64(m.Length) / float64(m.Docs)
	}
	if m.Postings > 0 {
		info.BytesPerDocID = float64(len(f.Source().Words)) * 4 / float64(m.Postings)
		info.BytesPerFrequency = float64(len(f.Source().Freqs)) * 4 / float64(m.Postings)
	}
	return info
}

func describeImpacts(m *hdl.Impacts) string {
	of := m.Origin
	if m.Origin == hdl.ImpactsBM25 {
		of = fmt.Sprintf("%s, %s k1=%v b=%v", m.Origin, m.Variant, m.K1, m.B)
	}
	return fmt.Sprintf("%d bits, of %s, scale %.6g", m.Bits, of, m.Scale)
}

func (i *indexInfo) write(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "index\t%s\nbytes\t%d\nchecksum\t%s\n", i.Path, i.Bytes, i.Checksum)
	fmt.Fprintf(w, "creator\t%s\nformat\t%s\n", i.Creator, i.Format)
	sum, frequency := "tokens", "a frequency"
	if i.Impacts != nil {
		sum, frequency = "sum of impacts", "an impact"
	}
	fmt.Fprintf(w, "documents\t%d\nterms\t%d\npostings\t%d\n%s\t%d\n", i.Documents, i.Terms, i.Postings, sum, i.Tokens)
	fmt.Fprintf(w, "mean length\t%.2f tokens\n", i.MeanLength)
	fmt.Fprintf(w, "a posting\t%.3f bytes a docID, %.3f %s\n", i.BytesPerDocID, i.BytesPerFrequency, frequency)
	if m := i.Impacts; m != nil {
		fmt.Fprintf(w, "impacts\t%s\n", describeImpacts(m))
	}
	if i.Texts {
		fmt.Fprintf(w, "texts\tstored\n")
	}
	fmt.Fprintf(w, "analysis\t%s, stemmer %s, %d stop words\n", i.Tokenizer, i.Stemmer, i.StopWords)
	fmt.Fprintf(w, "codec\t%s, exception ratio %v, dense %s\n", i.Codec, i.ExceptionRatio, i.Dense)
	w.Flush()
	b.WriteByte('\n')

	if i.Codec == "auto" {
		fmt.Fprintf(&b, "%s\n", codec.CostRule)
	}
	writeCodecs(&b, i.Codecs)
	b.WriteByte('\n')

	writeSections(&b, i.Sections)
	_, err := io.WriteString(out, b.String())
	return err
}
