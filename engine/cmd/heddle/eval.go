package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/input"
	"heddle/engine/index/trec"
)

type evalOptions struct {
	run, qrels string
	cutoffs    []int
	measures   []string
	level      int
	complete   bool
	perQuery   bool
	json       bool
}

func newEval(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "eval RUN QRELS [flags]",
		Short: "Measure a run against relevance judgements",
		Long: `Eval prints measures as lines MEASURE TAB all TAB VALUE. The default measures are mean
average precision (map), reciprocal rank (recip_rank), precision (P_k), recall (recall_k)
and nDCG (ndcg_cut_k) at ranks k. Names, definitions and tie rule are identical to
trec_eval 10.

With -m, eval prints only the named measures: map, gm_map, Rprec, bpref, recip_rank,
iprec_at_recall, P, recall, ndcg, ndcg_cut, success, set_P, set_recall, set_map, set_F,
num_q, num_ret, num_rel, num_rel_ret, or a set of them: official, set, all. Parameters
follow a dot: P.5,10.

  RUN     lines QUERY Q0 DOCUMENT RANK SCORE TAG, as search --format trec writes them
  QRELS   lines QUERY ITERATION DOCUMENT RELEVANCE

Documents are ordered by descending score, ties by descending name; the column RANK is
ignored. A document without judgement is not relevant. The gain of nDCG is the
relevance, the discount is log2(rank + 1).

Means cover the queries that occur in both files. With --complete they cover all queries
of QRELS, and a query without results counts as zero. A line on standard error gives the
numbers of queries that occur in one file only.`,
		Example: `  heddle eval run.txt qrels.txt
  heddle eval run.txt qrels.txt -k 10 --per-query
  heddle eval run.txt qrels.txt -m official -m ndcg_cut.10
  heddle search books.hdl --queries queries.tsv --format trec | heddle eval - qrels.txt --json`,
	}, &evalOptions{})
}

func (o *evalOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntSliceVarP(&o.cutoffs, "k", "k", trec.DefaultCutoffs(), "ranks of P, recall and nDCG, `LIST`")
	fs.StringArrayVarP(&o.measures, "measure", "m", nil, "print only `MEASURE`; may be repeated")
	fs.IntVar(&o.level, "level", 1, "minimum relevance `N` of a relevant document, except for nDCG")
	fs.BoolVarP(&o.complete, "complete", "c", false, "average over all queries in QRELS")
	fs.BoolVarP(&o.perQuery, "per-query", "q", false, "print the measures of each query before the means")
	addJSON(fs, &o.json)
}

func (o *evalOptions) Validate(args []string) error {
	switch {
	case len(args) != 2:
		return fmt.Errorf("takes a run file and a qrels file, found %d arguments", len(args))
	case args[0] == "-" && args[1] == "-":
		return errors.New("standard input (-) is given twice")
	case o.measures != nil && trec.ParseMeasures(o.measures) != nil:
		return trec.ParseMeasures(o.measures)
	case o.level < 1:
		return fmt.Errorf("--level %d is less than 1", o.level)
	}
	o.run, o.qrels = args[0], args[1]
	slices.Sort(o.cutoffs)
	if o.cutoffs = slices.Compact(o.cutoffs); len(o.cutoffs) == 0 || o.cutoffs[0] < 1 {
		return fmt.Errorf("-k %v: ranks start at 1", o.cutoffs)
	}
	return nil
}

func (o *evalOptions) Run(ctx context.Context, a *App) error {
	run, err := readFile(ctx, a, o.run, trec.ReadRun)
	if err != nil {
		return err
	}
	qrels, err := readFile(ctx, a, o.qrels, trec.ReadQrels)
	if err != nil {
		return err
	}
	r, err := trec.Evaluate(run, qrels, trec.Options{Measures: o.measures, Cutoffs: o.cutoffs, Level: o.level, Complete: o.complete})
	if err != nil {
		return fmt.Errorf("%s and %s: %w", o.run, o.qrels, err)
	}
	if len(r.Missing)+len(r.Unjudged) > 0 {
		fmt.Fprintf(a.Stderr, "heddle eval: %d queries without results, %d without judgements\n", len(r.Missing), len(r.Unjudged))
	}
	out := bufio.NewWriter(a.Stdout)
	if o.perQuery {
		for i := range r.Queries {
			if err := o.write(out, r, &r.Queries[i]); err != nil {
				return err
			}
		}
	}
	return errors.Join(o.write(out, r, &r.All), out.Flush())
}

// write writes the measures of one query, or the means, as lines of trec_eval or as a
// JSON object.
func (o *evalOptions) write(out io.Writer, r *trec.Report, m *trec.Measures) error {
	object := map[string]any{"query": m.Query}
	for _, v := range r.Values(m) {
		object[v.Name] = v.Value
		if o.json {
			continue
		}
		format := "%-22s\t%s\t%6.4f\n"
		if v.Count {
			format = "%-22s\t%s\t%.0f\n"
		}
		if _, err := fmt.Fprintf(out, format, v.Name, terminal.Field(m.Query), v.Value); err != nil {
			return err
		}
	}
	if o.json {
		return terminal.WriteJSON(out, object)
	}
	return nil
}

// readFile reads a file, compressed or not; path "-" is standard input.
func readFile[T any](ctx context.Context, a *App, path string, read func(path string, r io.Reader) (T, error)) (T, error) {
	in := input.Opener{Ctx: ctx, Stdin: a.Stdin}
	f, err := in.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(path, f)
}
