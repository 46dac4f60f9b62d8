package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/querylang"
	"heddle/engine/index/trec"
	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

type searchOptions struct {
	settings
	path       string
	query      string
	queries    string
	topics     trec.Format
	statistics string
	syntax     string
	all        bool
	count      bool
	part       bool
	explain    bool
	noHeader   bool
	given      struct{ query, queries func() bool }
}

func newSearch(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "search X.hdl (--query TEXT | --queries FILE) [flags]",
		Short: "Answer queries on an index",
		Long: `Search prints the best k documents for a query, or for each query of a file, by
descending score, equal scores in the order of the index. A query is a text; it is
cut into terms as the documents were. A term that occurs twice counts twice, and
heaven^2.5 counts as much as heaven two and a half times.

  --mode and      documents that have every term
  --mode or       documents that have any term
  --mode and-or   and, or else or for a query with fewer than k documents

Scores are BM25 (--variant, --k1, --b), or sums of impacts where the index holds
those. --statistics takes document frequencies from a JSON file in place of the
index, so that a part of a collection scores as the whole:
{"docs": N, "length": TOKENS, "df": {TERM: DOCUMENTS, …}}.

With --all and --count every document that matches counts, and nothing is ranked:
documents come in the order of the index. So they do with --syntax boolean, where a
query is an expression: AND, OR and NOT in capitals and parentheses, as in
'a AND (b OR c) NOT d'. AND may be left out and binds closer than OR; NOT subtracts
from the terms of AND around it, so there is no NOT alone. Between quotes an operator
is a term: "AND". A term that the analysis of the index splits is an AND of its
parts, not a phrase; a stop word drops out, with what is subtracted from it.

A query file is one of these, by its first line or by --queries-format:

  plain   TEXT a line, whose number, from 1, is its ID
  tsv     ID TAB TEXT a line; without either name lines may be of both kinds
  trec    <top> with <num> and <title>; or NUMBER:TEXT or NUMBER:PRIORITY:TEXT a line
  jsonl   {"id": ID, "text": TEXT} or {"id": ID, "vector": {TERM: WEIGHT, …}} a line,
          whose terms are taken as the index has them

A single --query has the ID 1. The first query that is wrong ends the run. Documents
are printed by name, or by docID where they have no name.

  --format text    RANK  SCORE  NAME, and a part of the text where the index stores it
  --format tsv     ID TAB RANK TAB NAME TAB SCORE
  --format jsonl   {"query": ID, "text": TEXT, "docs": [NAME, …], "scores": [SCORE, …]}
  --format trec    ID Q0 NAME RANK SCORE TAG, a run for heddle eval; a space in a name is _
  --count          ID TAB number of matching documents; in jsonl "count"

What is not ranked has score 1, and in format text only NAME, or ID TAB NAME for the
queries of a file. Ranked results begin with what is needed to repeat them: a line
that begins with #, in jsonl {"run": {…}}, with trec on standard error.

With --backend all queries run on the host and on every device, as --schedule says: each
alone on the processor that should finish it first, or in batches. Costs that heddle
calibrate measured are taken from beside the index. --explain runs queries one at a time
and says which processor each got, and what was expected of the others.

A backend shares the elements of each shortest list out to many work-groups or threads;
with --part each query has one of its own, which may be faster where queries are many
and small. Answers are the same.

A term that is in no document gives no result and no error; --explain names it.
What --explain says goes to standard error, or with jsonl into each object.`,
		Example: `  heddle search books.hdl --query 'heaven earth'
  heddle search books.hdl --query 'heaven^2 earth loom' --mode or -k 2 --variant atire --k1 1.2
  heddle search books.hdl --queries queries.tsv --mode or --format trec > run.txt
  heddle search books.hdl --query 'heaven earth' --all --format tsv
  heddle search books.hdl --queries queries.tsv --count
  heddle search books.hdl --queries queries.tsv --count --part
  printf '1:heaven\n2:earth\n' | heddle search books.hdl --queries - --format jsonl
  echo '{"id": 7, "vector": {"loom": 2.5, "earth": 0.5}}' | heddle search books.hdl --queries -
  heddle search books.hdl --syntax boolean --query 'heaven AND (earth OR sea) NOT hell'
  heddle search books.hdl --query 'heaven earth' --count --backend host --algorithm bs --explain
  heddle search books.hdl --queries queries.tsv --backend all --schedule sync`,
	}, &searchOptions{})
}

func (o *searchOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.query, "query", "", "answer the query `TEXT`")
	fs.StringVar(&o.queries, "queries", "", "answer every query of `FILE`, - for standard input")
	fs.StringVar((*string)(&o.topics), "queries-format", string(trec.Auto), "form of the query file: auto, plain, tsv, trec or jsonl `FORMAT`")
	fs.StringVar(&o.syntax, "syntax", syntaxPlain, "what a query is: "+syntaxPlain+" (its terms) or "+syntaxBoolean+" (AND, OR, NOT, parentheses) `SYNTAX`")
	fs.BoolVar(&o.all, "all", false, "print every matching document, unranked")
	fs.BoolVar(&o.count, "count", false, "print only how many documents match")
	fs.BoolVar(&o.part, "part", false, "with --all or --count: one work-group, or thread, a query, in place of many (PART of Wu et al. 2010)")
	fs.BoolVar(&o.explain, "explain", false, "say how each query was answered, and where the time went")
	fs.BoolVar(&o.noHeader, "no-header", false, "leave out how to repeat ranked results")
	fs.StringVar(&o.statistics, "statistics", "", "JSON `FILE` with the statistics of the whole collection")
	o.add(fs, "mode", "k", "variant", "k1", "b", "algorithm", "format", "backend", "device", "threads", "profiling", "tuning", "schedule")
	o.given.query = func() bool { return fs.Changed("query") }
	o.given.queries = func() bool { return fs.Changed("queries") }
}

func (o *searchOptions) Validate(args []string) (err error) {
	if o.path, err = oneArgument(args, "one index file"); err != nil {
		return err
	}
	if _, err := trec.ParseFormat(string(o.topics)); err != nil {
		return fmt.Errorf("--queries-format: %w", err)
	}
	switch {
	case !o.given.query() && !o.given.queries():
		return errors.New("--query or --queries is missing")
	case o.given.query() && o.given.queries():
		return errors.New("--query and --queries exclude each other")
	case o.all && o.count:
		return errors.New("--all and --count exclude each other")
	case o.syntax != syntaxPlain && o.syntax != syntaxBoolean:
		return fmt.Errorf("unknown --syntax %q (one of %s, %s)", o.syntax, syntaxPlain, syntaxBoolean)
	case o.statistics != "" && !o.ranked():
		return errors.New("--statistics is for ranked results, which --all, --count and --syntax boolean do not give")
	case o.part && (o.ranked() || o.syntax == syntaxBoolean):
		return errors.New("--part is for --all and --count, and not for --syntax boolean")
	case o.given.query() && o.syntax == syntaxBoolean:
		_, err = querylang.Parse(o.query) // before anything is opened
	}
	return err
}

// What --syntax may say.
const (
	syntaxPlain   = "plain"
	syntaxBoolean = "boolean"
)

// ranked says whether documents are scored, or only matched.
func (o *searchOptions) ranked() bool { return !o.all && !o.count && o.syntax == syntaxPlain }

// engineOptions are those that the configuration asks for.
func engineOptions(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	algorithm, err := plan.ParseAlgorithm(c.Search.Algorithm)
	backend := c.Devices.Backend
	if backend == "all" {
		backend = "auto" // of engines: the host and the devices
	} else if backend == "auto" && c.Devices.Device != "" {
		backend = "opencl" // who names a device wants no other place
	}
	return engine.Options{
		Backend: backend, Device: c.Devices.Device, Threads: c.Devices.Threads, Profiling: c.Devices.Profiling,
		Tuning:          c.Devices.Tuning,
		Algorithm:       algorithm,
		BatchCandidates: uint64(c.Batching.Candidates), BatchPostings: uint64(c.Batching.Postings), Workers: c.Batching.Workers,
		DeviceMemory: uint64(c.Memory.Device), HostMemory: uint64(c.Memory.Tables),
		Log: &log,
	}, err
}

func (o *searchOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	mode, err := engine.ParseMode(c.Search.Mode)
	switch {
	case err != nil:
		return err
	case mode == engine.AndOr && o.syntax == syntaxPlain && !o.ranked():
		return usageError{errors.New("mode and-or is for ranked results; --all and --count take and, or or")}
	case o.part && mode == engine.Or:
		return usageError{errors.New("--part is for mode and: an OR has no shortest list to walk")}
	case o.count && c.Search.Format == "trec":
		return usageError{errors.New("format trec is for documents, not for --count")}
	}
	opt, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	opt.Lazy = o.given.query() // tables for all lists are not worth one query
	var all *engine.View       // nil: one backend answers
	var x *engine.Index
	closing := func() error { return x.Close() }
	if c.Devices.Backend == "all" {
		e, v, err := startAll(ctx, c, o.path, opt)
		if err != nil {
			return err
		}
		all, x = &v, v.Index()
		closing = func() error { v.Close(); return e.Close() }
	} else if x, err = engine.Open(ctx, o.path, opt); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()

	s := &searcher{
		x: x, all: all, opt: engine.SearchOptions{CountOnly: o.count, Any: mode == engine.Or, Part: o.part}, path: o.queries, boolean: o.syntax == syntaxBoolean,
		out: &answerWriter{out: bufio.NewWriterSize(a.Stdout, 64<<10), file: x.File(), format: c.Search.Format, count: o.count, limit: c.Search.K, ids: o.given.queries()},
	}
	if o.all {
		s.out.limit = -1
	}
	if o.explain {
		s.explain = a.Stderr
	}
	if o.ranked() {
		if s.rank, err = o.rankOptions(c, x, mode); err != nil {
			return err
		}
		h := describeRun(x, s.rank, o.statistics)
		s.out.tag = h.tag()
		if s.out.snippet, err = newSnippets(x); err != nil {
			return err
		}
		if !o.noHeader {
			if err := h.write(s.out, a.Stderr); err != nil {
				return err
			}
		}
	}
	if o.given.query() {
		return s.answer(ctx, []trec.Topic{{ID: "1", Text: o.query}})
	}
	return answerFile(ctx, o.queries, o.topics, a.Stdin, c.Batching.Queries, s.answer)
}

// startAll opens the index at path on all processors.
func startAll(ctx context.Context, c *config.Config, path string, opt engine.Options) (*engine.Engine, engine.View, error) {
	all, err := scheduledOptions(c, opt)
	if err != nil {
		return nil, engine.View{}, err
	}
	e, err := engine.Start(ctx, path, all)
	if err != nil {
		return nil, engine.View{}, err
	}
	v, err := e.View()
	return e, v, err
}

// scheduledOptions are those of an engine on all processors.
func scheduledOptions(c *config.Config, opt engine.Options) (engine.EngineOptions, error) {
	mode, err1 := schedule.ParseMode(c.Schedule.Mode)
	metric, err2 := cost.ParseMetric(c.Schedule.Metric)
	placement, err3 := engine.ParsePlacement(c.Schedule.Placement)
	return engine.EngineOptions{
		Options: opt,
		Schedule: schedule.Options{
			Mode: mode, Capacity: c.Schedule.Queue, MaxAge: c.Schedule.MaxAge, Enter: c.Schedule.Enter, Leave: c.Schedule.Leave,
			Hold: c.Schedule.Hold, Similar: c.Schedule.Similar,
		},
		Timeout: c.Schedule.Timeout, Blocks: c.Schedule.Blocks, Placement: placement, Results: uint64(c.Schedule.Results),
		Costs: c.Schedule.Costs, Metric: metric,
	}, errors.Join(err1, err2, err3)
}

// rankOptions are those that the flags and the configuration ask for on x.
func (o *searchOptions) rankOptions(c *config.Config, x *engine.Index, mode engine.Mode) (*engine.RankOptions, error) {
	opt := &engine.RankOptions{Mode: mode, K: c.Search.K}
	asked := slices.ContainsFunc([]string{"ranking.variant", "ranking.k1", "ranking.b"}, func(key string) bool {
		return c.Origin(key).Kind != config.FromDefault
	})
	// Impacts were scored when the index was built; who asks for another scoring
	// shall hear so.
	if x.Source().Impacts == 0 || asked {
		variant, err := bm25.ParseVariant(c.Ranking.Variant)
		if err != nil {
			return nil, err
		}
		opt.Scoring = &bm25.Params{Variant: variant, K1: c.Ranking.K1, B: c.Ranking.B}
	}
	var err error
	if o.statistics != "" {
		opt.Statistics, err = readStatistics(o.statistics)
	}
	return opt, err
}

// readStatistics reads those of a collection from a JSON file.
func readStatistics(path string) (*engine.Statistics, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	st := new(engine.Statistics)
	if err := d.Decode(st); err != nil {
		return nil, fmt.Errorf("%s: %w: statistics: %w", path, build.ErrCorrupt, err)
	}
	return st, nil
}
