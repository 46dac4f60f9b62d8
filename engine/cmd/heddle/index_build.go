package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/terminal"
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
		Short: "Build an index from documents or posting lists",
		Long: `Build reads the inputs in order and writes one index file. The file appears when it
is complete; an interrupted or failed build leaves nothing.

  text    one document per line: NAME TAB TEXT
  jsonl   one object per line: id, and title, text, contents, content or body;
          or vector, an object of terms and their weights
  trec    SGML: <DOC> with a <DOCNO>
  pisa    BASE.docs, BASE.freqs, BASE.sizes; BASE.terms and BASE.documents if present
  ciff    Common Index File Format, version 1

Inputs may be gzipped; - is standard input. --format auto decides by names and first
bytes. pisa and ciff contain terms already; for them --tokenizer, --stem and --stopwords
describe the analysis of queries.

--codec auto gives each list the codec with the lowest cost, which index info shows. Any
other codec stores the lists that it makes smaller than raw; the other lists are raw.
--dense auto stores lists of more than one document in 32 as bitsets.

--store text keeps the texts, from which search prints snippets. --impacts 8 or 16
replaces frequencies by impacts, that is, by scores quantised to 8 or 16 bits: BM25
scores with --variant, --k1 and --b, or the weights of vectors. Without --impacts the
weights of vectors must be whole numbers and count as frequencies. Terms of vectors are
not analysed, and queries are split at white space, as with --tokenizer whitespace.

--build-memory limits the memory. Larger inputs use temporary files beside the index.`,
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
	fs.StringVar(&o.tokens, "tokenizer", analyze.TokensWords, "tokens of documents and queries: `"+analyze.TokensWords+"|"+analyze.TokensSpaces+"`")
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
		return errors.New("an index cannot be written to standard output: its parts are not written in order")
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
	var bar terminal.Progress
	started := false
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
			if !started {
				started, bar = true, a.progress("indexing", terminal.UnitBytes, total, o.noProgress)
				return // the rate counts from here
			}
			bar.To(done)
		},
	})
	bar.End()
	if err != nil {
		return err
	}
	for _, w := range sum.Warnings {
		log.Warn().Msg(w)
	}
	if o.json {
		return terminal.WriteJSON(a.Stdout, buildSummary{o.out, sum.Documents, sum.Terms, sum.Postings, sum.Tokens, sum.ReadBytes, sum.FileBytes, sum.Runs, sum.Warnings})
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d documents, %d terms, %d postings, %s\n", o.out, sum.Documents, sum.Terms, sum.Postings, terminal.Bytes(uint64(sum.FileBytes)))
	return err
}

// buildSummary is the answer in JSON. Its names are part of the command line's contract.
type buildSummary struct {
	Path      string   `json:"path"`
	Documents uint64   `json:"documents"`
	Terms     uint64   `json:"terms"`
	Postings  uint64   `json:"postings"`
	Tokens    uint64   `json:"tokens"`
	ReadBytes int64    `json:"read_bytes"` // compressed size
	Bytes     int64    `json:"bytes"`      // size of the index file
	Runs      int      `json:"runs"`       // sorted runs spilled to disk
	Warnings  []string `json:"warnings,omitempty"`
}

// readStopwords reads a file with one word per line. Path "none" gives no words.
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
