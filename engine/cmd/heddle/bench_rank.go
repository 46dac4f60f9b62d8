//go:build !core

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/rank"
	"heddle/engine/plan"
)

type benchRankOptions struct {
	benchOptions
	codec string
}

func newBenchRank(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "rank [flags]",
		Short: "Measure ranked retrieval",
		Long: `Rank runs ranked queries on a workload shaped like GOV2 and its query log, on a workload
of learned sparse retrieval, and on real text, and reproduces the measurements of Ding et
al. (WWW 2009).` + exhibits(rank.Family) + `

Backend auto measures pure Go and OpenCL. All rankings are compared with each other, and
a sample with plain scores of all documents.

Table text needs --real DIR: a folder with collections (NAME.tsv.gz, one document per
line: name TAB text) and TREC Terabyte topics (topics.terabyte*.txt), there or one level
deeper. The module engine/bench/peers has github.com/blevesearch/bleve/v2 as a baseline.

Table pisa needs --pisa DIR: a folder with the programs compress_inverted_index,
create_wand_data, evaluate_queries, lexicon and queries of github.com/pisa-engine/pisa. It
exports the GOV2-like workload, and compares answers and times in turns.`,
		Example: `  heddle bench rank --short --report report.md --plot figures
  heddle bench rank --table gov2,ding-table2,ding-table3 --backend opencl --json rows.jsonl
  heddle bench rank --table text --real . --queries 500
  heddle bench rank --table pisa --docs 2520517 --pisa pisa/build/bin --backend host`,
	}, &benchRankOptions{benchOptions: benchOptions{family: rank.Family}})
}

func (o *benchRankOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.IntVar(&o.Queries, "queries", 0, "number `N` of queries; 0 is 1000 on a GPU and 200 on a CPU, 40 with --short")
	fs.Uint32Var(&o.Docs, "docs", 0, "number `N` of documents; other workloads scale with it; 0 is 25205179, 1/50 of it with --short")
	fs.IntSliceVarP(&o.K, "k", "k", nil, "documents per query, `LIST` (default 10,1000; 10 with --short)")
	fs.StringVar(&o.Real, "real", "", "folder `DIR` of table text")
	fs.StringVar(&o.PISA, "pisa", "", "folder `DIR` of PISA's programs, the baseline of table pisa")
	fs.StringVar(&o.codec, "codec", "parapfor", "`CODEC` of the lists")
}

func (o *benchRankOptions) Validate(args []string) (err error) {
	for _, k := range o.K {
		if k < 1 || k > plan.MaxK {
			return fmt.Errorf("-k %d is not from 1 to %d", k, plan.MaxK)
		}
	}
	if err := checkDocs(o.Docs); err != nil {
		return err
	}
	if o.Codec, err = codec.ParseID(o.codec); err != nil {
		return err
	}
	if o.Codec == codec.Bitset {
		return errors.New("--codec bitset is for dense lists only: choose another codec")
	}
	return o.benchOptions.Validate(args)
}

// checkDocs checks --docs.
func checkDocs(n uint32) error {
	if n > 0 && n < harness.LeastDocs {
		return fmt.Errorf("--docs %d is less than %d", n, harness.LeastDocs)
	}
	return nil
}
