package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
)

type indexBuildOptions struct {
	settings
	out        string
	inputs     []string
	format     string
	tokens     string
	json       bool
	noProgress bool
}

func newIndexBuild(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "build -o X.hdl INPUT… [flags]",
		Short: "Build an index from documents or from inverted lists",
		Long: `Build reads the inputs, in order, and writes one index file. The file appears under
its name when it is complete; an interrupted or failed build leaves nothing.

  text    a document a line: NAME TAB TEXT
  jsonl   an object a line: id, and title, text, contents, content or body;
          or vector, an object of terms and their weights
  trec    SGML: <DOC> with a <DOCNO>
  pisa    BASE.docs, BASE.freqs, BASE.sizes; BASE.terms and BASE.documents if any
  ciff    Common Index File Format, version 1

Inputs may be gzipped; - is standard input. Format auto looks at names and first
bytes. For inverted inputs (pisa, ciff), --tokenizer, --stem and --stopwords say how
queries are to be analysed; the terms stay as they are.

With --codec auto each list gets the codec of least cost; index info says which and
why. Another codec stores the lists that take fewer words with it than raw; the rest
are raw. --dense auto makes bitsets of the lists of more than one document in 32.

Text stored by --store text is what search prints snippets of. --impacts 8 or 16
stores in place of frequencies what a posting adds to the score of its document, in
so many bits: by BM25 with --variant, --k1 and --b; of documents that are vectors,
their weights. Without it weights are whole numbers, and taken for frequencies. The
terms of vectors stay as they are, and queries are cut at white space alone, as
--tokenizer whitespace has it for texts.

Memory is bounded by --build-memory: what exceeds it goes to temporary files
beside the index, and is merged at the end.`,
		Example: `  heddle index build -o books.hdl books.tsv
  heddle index build -o books.hdl --stem english --stopwords stop.txt books.tsv
  printf 'a\tthe red loom\nb\tthe blue loom\n' | heddle index build -o looms.hdl --format text -`,
	}, &indexBuildOptions{})
}

func (o *indexBuildOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write the index to `X.hdl`")
	var formats []string
	for _, f := range build.Formats() {
		formats = append(formats, string(f))
	}
	fs.StringVar(&o.format, "format", string(build.Auto), "format of all inputs: `"+strings.Join(formats, "|")+"`")
	fs.StringVar(&o.tokens, "tokenizer", analyze.TokensWords, "what terms are made of: `"+analyze.TokensWords+"|"+analyze.TokensSpaces+"`")
	o.add(fs, "codec", "exception-ratio", "dense", "stem", "stopwords", "store", "impacts", "variant", "k1", "b", "build-memory")
	addJSON(fs, &o.json)
	addNoProgress(fs, &o.noProgress)
}

func (o *indexBuildOptions) Validate(args []string) error {
	o.inputs = args
	switch {
	case o.out == "":
		return errors.New("--output (-o) is missing")
	case o.out == "-":
		return errors.New("an index cannot be written to standard output: it is put together out of order")
	case len(args) == 0:
		return errors.New("an input is missing (- is standard input)")
	}
	_, err := build.ParseFormat(o.format)
	return err
}

func (o *indexBuildOptions) Run(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	stop, err := readStopwords(c.Index.Stopwords)
	if err != nil {
		return err
	}
	format, err := build.ParseFormat(o.format)
	if err != nil {
		return err
	}
	variant, err := bm25.ParseVariant(c.Ranking.Variant)
	if err != nil {
		return err
	}
	var bar *progress
	sum, err := build.Build(ctx, o.out, o.inputs, build.Options{
		Format: format,
		Codec:  c.Index.Codec, Dense: c.Index.Dense, ExceptionRatio: c.Index.ExceptionRatio,
		Tokens: o.tokens, Stem: c.Index.Stem, StopWords: stop,
		StoreTexts: c.Index.Store == "text", Impacts: uint8(c.Index.Impacts),
		Scoring:     bm25.Params{Variant: variant, K1: c.Ranking.K1, B: c.Ranking.B},
		MemoryLimit: uint64(c.Index.BuildMemory),
		Creator:     thisBuild().String(),
		Stdin:       a.Stdin,
		Progress: func(done, total int64, docs uint64) {
			if bar == nil { // it counts from here: its rates would make no sense yet
				bar = a.newProgress("indexing", unitBytes, total, o.noProgress)
				return
			}
			bar.to(done)
		},
	})
	if bar != nil {
		bar.end()
	}
	if err != nil {
		return err
	}
	for _, w := range sum.Warnings {
		log.Warn().Msg(w)
	}
	if o.json {
		return writeJSON(a.Stdout, buildSummary{o.out, sum.Documents, sum.Terms, sum.Postings, sum.Tokens, sum.ReadBytes, sum.FileBytes, sum.Runs, sum.Warnings})
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d documents, %d terms, %d postings, %s\n", o.out, sum.Documents, sum.Terms, sum.Postings, byteCount(uint64(sum.FileBytes)))
	return err
}

// buildSummary is the answer in JSON; its names are part of the contract.
type buildSummary struct {
	Path      string   `json:"path"`
	Documents uint64   `json:"documents"`
	Terms     uint64   `json:"terms"`
	Postings  uint64   `json:"postings"`
	Tokens    uint64   `json:"tokens"`
	ReadBytes int64    `json:"read_bytes"` // before decompression
	Bytes     int64    `json:"bytes"`      // of the file
	Runs      int      `json:"runs"`       // that were spilled to disk
	Warnings  []string `json:"warnings,omitempty"`
}

// readStopwords reads the words of a file, one a line; "none" has none.
func readStopwords(path string) ([]string, error) {
	if path == "none" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("stop words: %w", err)
	}
	return strings.Fields(string(text)), nil
}
