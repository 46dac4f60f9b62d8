package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/evaluation"
	"heddle/engine/index/trec"
)

type evalOptions struct {
	files    []string
	cutoffs  []int
	measures []string
	level    int
	complete bool
	perQuery bool
	fuse     string
	depth    int
	json     bool
}

func newEval(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "eval RUN [RUN ...] QRELS [flags]",
		Short: "Measure a run against relevance judgements, compare runs, fuse runs",
		Long: `Eval prints measures as lines MEASURE TAB all TAB VALUE. The default measures are mean
average precision (map), reciprocal rank (recip_rank), precision (P_k), recall (recall_k)
and nDCG (ndcg_cut_k) at ranks k. Names, definitions and tie rule are identical to
trec_eval 10.

  RUN     lines QUERY Q0 DOCUMENT RANK SCORE TAG, as search --format trec writes them
  QRELS   lines QUERY ITERATION DOCUMENT RELEVANCE

The files may stand in any order: the first line tells a run from judgements.

With -m, eval prints only the named measures: runid, map, gm_map, Rprec, bpref,
recip_rank, iprec_at_recall, P, recall, infAP, gm_bpref, Rprec_mult, ndcg, ndcg_rel,
ndcg_cut, map_cut, success, set_P, set_recall, set_map, set_F, rbp, num_q, num_ret,
num_rel, num_rel_ret, or a set of them: official, set, all (or all_trec). Parameters
follow a dot: P.5,10. Names of ir-measures work as well: nDCG@10, AP@100, RR@10,
Success@5, RBP(p=0.8). recip_rank_cut (RR@k) is not in trec_eval.

Documents are ordered by descending score, ties by descending name; the column RANK is
ignored. A document without judgement is not relevant. The gain of nDCG is the
relevance, the discount is log2(rank + 1).

Means cover the queries that occur in both files. With --complete they cover all queries
of QRELS, and a query without results counts as zero. A line on standard error gives the
numbers of queries that occur in one file only.

With several runs, eval prints a line per measure and run: the mean over the queries that
all runs have, the difference to the first run, and the p-values of the paired t-test and
of Fisher's randomisation test against the first run, corrected by Holm. --fuse joins the
runs to one by reciprocal rank (rrf) or by the sum of normalised scores (combsum), and
prints it; it takes no QRELS.`,
		Example: `  heddle eval run.txt qrels.txt
  heddle eval run.txt qrels.txt -k 10 --per-query
  heddle eval run.txt qrels.txt -m official -m nDCG@10
  heddle eval bm25.txt splade.txt qrels.txt -m map -m ndcg_cut.10
  heddle eval bm25.txt splade.txt --fuse rrf | heddle eval - qrels.txt
  heddle search books.hdl --queries queries.tsv --format trec | heddle eval - qrels.txt --json`,
	}, &evalOptions{})
}

func (o *evalOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntSliceVarP(&o.cutoffs, "k", "k", trec.DefaultCutoffs(), "ranks of P, recall and nDCG, `LIST`")
	fs.StringArrayVarP(&o.measures, "measure", "m", nil, "print only `MEASURE`; may be repeated")
	fs.IntVar(&o.level, "level", 1, "minimum relevance `N` of a relevant document, except for nDCG")
	fs.BoolVarP(&o.complete, "complete", "c", false, "average over all queries in QRELS")
	fs.BoolVarP(&o.perQuery, "per-query", "q", false, "print the measures of each query before the means")
	fs.StringVar(&o.fuse, "fuse", "", "print the runs joined by `METHOD`: rrf or combsum")
	fs.IntVar(&o.depth, "depth", 1000, "documents `N` of each query of a fused run")
	addJSON(fs, &o.json)
}

func (o *evalOptions) Validate(args []string) error {
	stdin := 0
	for _, path := range args {
		if path == "-" {
			stdin++
		}
	}
	switch {
	case len(args) < 2 && o.fuse == "":
		return fmt.Errorf("takes a run file and a qrels file, found %d arguments", len(args))
	case len(args) < 2:
		return fmt.Errorf("--fuse takes two or more runs, found %d", len(args))
	case stdin > 1:
		return errors.New("standard input (-) is given twice")
	case o.measures != nil && trec.ParseMeasures(o.measures) != nil:
		return trec.ParseMeasures(o.measures)
	case o.level < 1:
		return fmt.Errorf("--level %d is less than 1", o.level)
	case o.fuse != "" && !slices.Contains(trec.Fusions(), trec.Fusion(o.fuse)):
		return fmt.Errorf("--fuse %q is unknown (one of %v)", o.fuse, trec.Fusions())
	case o.depth < 1:
		return fmt.Errorf("--depth %d is less than 1", o.depth)
	case len(args) > 2 && o.perQuery:
		return errors.New("--per-query needs a single run")
	}
	o.files = args
	slices.Sort(o.cutoffs)
	if o.cutoffs = slices.Compact(o.cutoffs); len(o.cutoffs) == 0 || o.cutoffs[0] < 1 {
		return fmt.Errorf("-k %v: ranks start at 1", o.cutoffs)
	}
	return nil
}

func (o *evalOptions) Run(ctx context.Context, a *App) error {
	in, err := evaluation.Read(ctx, a.Stdin, o.files, o.fuse != "")
	if err != nil {
		return err
	}
	if o.fuse != "" {
		return in.Fuse(a.Stdout, trec.Fusion(o.fuse), o.depth)
	}
	options := trec.Options{Measures: o.measures, Cutoffs: o.cutoffs, Level: o.level, Complete: o.complete}
	if len(in.Runs) > 1 {
		return in.Compare(a.Stdout, a.Stderr, o.json, options)
	}
	r, err := trec.Evaluate(in.Runs[0], in.Qrels, options)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", in.Paths[0], in.Judgements, err)
	}
	if len(r.Missing)+len(r.Unjudged) > 0 {
		fmt.Fprintf(a.Stderr, "heddle eval: %d queries without results, %d without judgements\n", len(r.Missing), len(r.Unjudged))
	}
	out := bufio.NewWriter(a.Stdout)
	if o.perQuery {
		for i := range r.Queries {
			if err := evaluation.Write(out, r, &r.Queries[i], o.json); err != nil {
				return err
			}
		}
	}
	return errors.Join(evaluation.Write(out, r, &r.All, o.json), out.Flush())
}
