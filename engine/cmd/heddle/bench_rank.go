package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine/bench"
	"heddle/engine/plan"
)

type benchRankOptions struct {
	benchOptions
	codec string
}

func newBenchRank(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "rank [flags]",
		Short: "Measure ranked retrieval, and reproduce what a paper measured of it",
		Long: `Rank puts ranked queries to a workload shaped like GOV2 and its query log, to one
of learned sparse retrieval, and to real text. Every table or figure has a name;
--table and --figure choose some, together.

  ` + strings.Join(bench.RankExhibits(), "\n  ") + `

Backend auto measures both pure Go and OpenCL. All rankings are checked against each
other, a sample against plain scores of all documents.

Table text takes --real DIR, a folder with collections (NAME.tsv.gz, a document a
line: name TAB text) and TREC Terabyte topics (topics.terabyte*.txt), there or one
folder down. A heddle that was built with -tags bleve measures
github.com/blevesearch/bleve/v2 beside, in turns.`,
		Example: `  heddle bench rank --short --report report.md --plot figures
  heddle bench rank --table gov2,ding-table2,ding-table3 --backend opencl --json rows.jsonl
  heddle bench rank --table text --real . --queries 500`,
	}, &benchRankOptions{})
}

func (o *benchRankOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.IntVar(&o.Queries, "queries", 0, "put only `N` queries; 0 is 1000 to a GPU and 200 to a CPU, 40 with --short")
	fs.Uint32Var(&o.Docs, "docs", 0, "`N` documents, of other workloads in proportion; 0 is 25205179, a fiftieth with --short")
	fs.IntSliceVarP(&o.K, "k", "k", nil, "documents a query, `LIST` (default 10,1000; 10 with --short)")
	fs.StringVar(&o.Real, "real", "", "the folder `DIR` of table text")
	fs.StringVar(&o.codec, "codec", "parapfor", "`CODEC` of the lists")
}

func (o *benchRankOptions) Validate(args []string) (err error) {
	if err := bench.CheckRank(o.Options); err != nil {
		return err
	}
	for _, k := range o.K {
		if k < 1 || k > plan.MaxK {
			return fmt.Errorf("-k: %d is not from 1 to %d", k, plan.MaxK)
		}
	}
	if o.Docs > 0 && o.Docs < bench.LeastDocs {
		return fmt.Errorf("--docs: %d are fewer than %d", o.Docs, bench.LeastDocs)
	}
	if o.Codec, err = codec.ParseID(o.codec); err != nil {
		return err
	}
	if o.Codec == codec.Bitset {
		return errors.New("--codec: bitset is for dense lists only")
	}
	return o.benchOptions.Validate(args)
}

func (o *benchRankOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Rank(ctx, o.Options, a.Stdout, a.Stderr)
}
