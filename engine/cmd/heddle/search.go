package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/workload"
	"heddle/engine/file/auxiliary"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/cost"
	"heddle/engine/syntax"
)

type searchOptions struct {
	settings
	onePath
	queries
	filterOptions
	statistics string
	syntax     string
	all        bool
	count      bool
	part       bool
	explain    bool
	noHeader   bool
	none       bool // no document is asked for: k is 0

	strictScores, excludeSelf bool
}

func newSearch(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "search X.hdl|DIR (--query TEXT | --queries FILE) [flags]",
		Short: "Search an index",
		Long: `Search prints the best k documents for one query, or for each query of a file.
Documents are ordered by score, ties by their position in the index. The analysis of
the index splits a query into terms. A repeated term counts twice.

  --mode or       documents with any term; the default
  --mode and      documents with all terms
  --mode and-or   and; or for a query with fewer than k such documents, or with operators

Queries may contain operators:

  heaven^2.5      multiplies the weight of heaven by 2.5
  +bone -cell     bone is required, cell excluded; other words only add to the score
  a AND (b OR c) NOT d
                  upper case only; AND binds closer than OR and requires its neighbours
  a && (b || c) !d
                  the same
  comp*           all terms of the index that begin with comp, at most 1024; stemmed
                  indexes hold stems
  *               all documents; NOT hell, or -hell, alone is all documents without hell
  \(              the character itself

Quotes, fields (title:bone), bone~1, b*ne, b?ne, ranges ([a TO b]) and regular expressions
(/b.ne/) are errors; [1], and/or and /usr/bin are text. +, - and ! are signs only at the start
of a word: well-known, C++ and Hello! are text, and so is a parenthesis without its partner.
&& and || are words of their own. ^ behind a letter needs a positive number behind it. 10^8 is
text, and so is x\^n; (1998)^2 gives a number a weight. A term that the analysis splits becomes
the AND of its parts beside operators, not a phrase. A stop word disappears together with the
terms that are subtracted from it.

These operators are the --syntax query, the default for --query. Query files are taken as
text, without operators: their default is --syntax literal.

Scores are BM25 (--variant, --k1, --b). If the index stores impacts, scores are sums of
impacts in the units of the weights that the index was built from.
--statistics replaces the statistics of the index by the statistics of a larger
collection: {"docs": N, "length": TOKENS, "df": {TERM: DOCUMENTS, …}}.

--all and --count match documents without ranking. --all prints every match in the
order of the index. --syntax boolean reads the same queries, does not rank either, and
joins words without operators by AND unless --mode is given.

--where or --filter without --query is the query *. Documents that only * or NOT matches have the
score 0. With -k 0 no document is printed, which leaves the counts of jsonl and --facets.

--where searches the documents whose attributes make a predicate true; --table is their
attribute table, whose row i describes document i (heddle index build --attributes). A
collection has attributes of its own (heddle collection create --attribute).
heddle bitmap query --help describes predicates. --filter searches the documents of a
Roaring bitmap, such as one of heddle bitmap query --roaring. With both, documents must
pass both. Scores are those of the search without a filter. --explain tells how many
documents pass and how the filter was used.

--facets counts all matching documents, not the best k alone, per value of columns of --table:
after the documents, lines  facet TAB COLUMN TAB VALUE TAB COUNT, after ID TAB for a query
file; in jsonl {"query": ID, "matches": N, "facets": [{"column": …, "values": […]}]}. The
format trec has none. VALUE is empty for documents without a value, and "" for an empty text.
bins(year, 1900, 1950) in place of a column counts the documents below 1900, from 1900 to below
1950, and from 1950 on: VALUE is "< 1900", "[1900, 1950)" or ">= 1950". All bins are printed,
in their order. bins(year) has the bins of the table; a collection refuses it, because its
segments have different bins.
A column with a comma in its name stands in "quotes", with two quotes for a quote.

DIR is a collection: see heddle collection. Its answers equal the answers of an index of
its documents.
--part, --table and cost models are for index files.

The first line of a query file, or --queries-format, determines its format. A file, but not
standard input, may be compressed by gzip, zstd or bzip2. Text is UTF-8, or UTF-16 with a
byte order mark; a line has at most 1 MiB.

  plain   one TEXT per line; its ID is the line number, from 1
  tsv     ID TAB TEXT per line; without --queries-format, lines may be plain or tsv
  trec    elements <top>, <topic>, <query> or <DOC> in SGML or XML, with the ID in <num>,
          <qid>, <id>, <DOCNO> or an attribute number or id, and the text in <title>, <query> or
          <content>; or lines NUMBER:TEXT or NUMBER:PRIORITY:TEXT
  jsonl   {"id": ID, "text": TEXT} or {"id": ID, "vector": {TERM: WEIGHT, …}} per line;
          terms of vectors are not analysed, and a weight of 0 counts as absent
  car     PAGE/HEADING%20WORD/… per line, which is also the ID

A query of --query has the ID 1. An invalid query of a file has no answer: standard error
names its line and the reason, and the exit code is 1. Documents are printed by name, or by
docID if they have no name.

  --format text    RANK  SCORE  NAME, and a snippet if the index stores texts
  --format tsv     ID TAB RANK TAB NAME TAB SCORE
  --format jsonl   {"query": ID, "text": TEXT, "docs": [NAME, …], "scores": [SCORE, …]}
  --format trec    ID Q0 NAME RANK SCORE TAG, for heddle eval; spaces in names become _
  --count          ID TAB number of matching documents; in jsonl "count"

Control characters in names and terms become escapes such as \x1b, except in jsonl.
Without ranking, the score is 1 and format text prints NAME, or ID TAB NAME for a query
file. Ranked results start with a header that lists all settings of the run: a line that
starts with #, in jsonl {"run": {…}}, for trec on standard error.

--backend auto includes the start-up time of a device: queries that pure Go should finish
sooner run on the host. --explain prints both estimates. Queries from standard input run
on the device.

--backend all runs queries on the host and on all devices. --policy decides what runs
where: wu-async, for example, runs each query alone on the faster processor. The
scheduler reads the cost model that heddle calibrate stored beside the index. With
--explain queries run one at a time, and the explanation names the chosen processor and
the estimates for the alternatives. With --all and --count it also has the number of blocks of
compressed lists that were decoded; a device counts them by slower kernels.

By default many work-groups or threads intersect the lists of one query. --part uses a
single one per query, which can be faster for many small queries.

A term without documents is no error. If a query has no results, standard error names its
terms that are in no document; --explain always names them. It also names words of which the
analysis leaves nothing (stop words, signs), queries of a file with the ID of an earlier one,
documents that have one name in a run, and the first sign or parenthesis that is no operator
where it stands.
Explanations go to standard error, or in jsonl into each object: as "explain", for a
collection as "explanation", a text.`,
		Example: `  heddle search books.hdl --query 'heaven earth'
  heddle search books.hdl --query 'heaven^2 earth loom' -k 2 --variant atire --k1 1.2
  heddle search books.hdl --queries queries.tsv --format trec > run.txt
  heddle search books.hdl --query 'heaven earth' --mode and --all --format tsv
  heddle search books.hdl --queries queries.tsv --count
  heddle search books.hdl --queries queries.tsv --count --mode and --part
  printf '1:heaven\n2:earth\n' | heddle search books.hdl --queries - --format jsonl
  echo '{"id": 7, "vector": {"loom": 2.5, "earth": 0.5}}' | heddle search books.hdl --queries -
  heddle search books.hdl --query '+heaven earth sea -hell'
  heddle search books.hdl --query 'heaven AND (earth OR sea) NOT hell' --count
  heddle search books.hdl --syntax literal --query 'C++ (1998): "what is 10^8?"'
  heddle search books.hdl --query 'heaven earth' --mode and --count --algorithm bs --explain
  heddle search books.hdl --query 'heaven earth' --table docs.hdb --where 'year >= 1900'
  heddle search books.hdl --query 'heaven earth' --filter docs.roaring --count
  heddle search books.hdl --query 'heaven earth' --table docs.hdb --facets 'lang,bins(year,1900)'
  heddle search books.hdl --queries queries.tsv --backend all --policy wu`,
	}, &searchOptions{})
}

func (o *searchOptions) AddFlags(fs *pflag.FlagSet) {
	o.filterOptions.add(fs)
	o.queries.add(fs, "query", "TEXT", "answer the query", "queries", "answer all queries of")
	addReading(fs, &o.reading)
	addChoice(fs, &o.syntax, "syntax", "", "syntax of queries, default query for --query and literal for --queries; boolean has no scores and joins words by AND: ", []string{syntaxLiteral, syntaxQuery, syntaxBoolean})
	fs.BoolVar(&o.all, "all", false, "print all matching documents without ranking")
	fs.BoolVar(&o.count, "count", false, "print the number of matching documents")
	fs.BoolVar(&o.part, "part", false, "with --all or --count: one work-group or thread per query (PART of Wu et al. 2010)")
	fs.BoolVar(&o.explain, "explain", false, "explain the execution of each query, with the time of each stage")
	fs.BoolVar(&o.noHeader, "no-header", false, "omit the header of ranked results")
	fs.BoolVar(&o.strictScores, "strict-scores", false, "make printed scores strictly decreasing, for tools that sort again")
	fs.BoolVar(&o.excludeSelf, "exclude-self", false, "leave out the document whose name is the ID of the query")
	fs.StringVar(&o.statistics, "statistics", "", "JSON `FILE` with the statistics of the whole collection")
	o.settings.add(fs, "mode", "k", "variant", "k1", "b", "algorithm", "format", "backend", "device", "threads", "profiling", "tuning", "policy")
}

func (o *searchOptions) Validate(args []string) (err error) {
	if err = o.set(args, "index file"); err != nil {
		return err
	}
	if !o.given.text() && !o.given.file() && (o.where != "" || o.bitmap != "") { // all documents that pass
		if o.text = "*"; o.syntax != syntaxBoolean {
			o.syntax = syntaxQuery
		}
		o.given.text = func() bool { return true }
	}
	o.operators = !o.literal()
	if err = o.queries.validate("query", "queries"); err != nil {
		return err
	}
	if err = o.filterOptions.validate(isFolder(o.path)); err != nil {
		return err
	}
	switch {
	case o.all && o.count:
		return errors.New("--all and --count exclude each other")
	case len(o.facets) > 0 && o.count:
		return errors.New("--facets counts documents already: omit --count")
	case o.statistics != "" && !o.ranked():
		return errors.New("--statistics is for ranked results: omit --all, --count and --syntax boolean")
	case (o.strictScores || o.excludeSelf) && !o.ranked():
		return errors.New("--strict-scores and --exclude-self are for ranked results: omit --all, --count and --syntax boolean")
	case o.part && (o.ranked() || o.syntax == syntaxBoolean):
		return errors.New("--part is for --all and --count without --syntax boolean")
	case o.single() && !o.literal(): // before any file is opened
		_, err = querylang.Read(o.text, querylang.Or)
		return err
	}
	return nil
}

// The values of --syntax.
const (
	syntaxLiteral = "literal"
	syntaxQuery   = "query"
	syntaxBoolean = "boolean"
)

// ranked reports whether documents are scored.
func (o *searchOptions) ranked() bool {
	return !o.all && !o.count && o.syntax != syntaxBoolean && !o.none
}

// literal reports whether queries are text without operators.
func (o *searchOptions) literal() bool {
	return o.syntax == syntaxLiteral || o.syntax == "" && !o.single()
}

// validate checks flags against the configuration.
func (o *searchOptions) validate(c *config.Config, mode engine.Match) error {
	switch {
	case mode == engine.AndOr && !o.ranked():
		return usageError{errors.New("mode and-or is for ranked results: use and or or with --all and --count")}
	case o.part && mode == engine.Or:
		return usageError{errors.New("--part is for mode and: it divides the shortest list, and mode or has none")}
	case len(o.facets) > 0 && c.Search.Format == "trec":
		return usageError{errors.New("--facets has no format trec: use text, tsv or jsonl")}
	case o.count && c.Search.Format == "trec":
		return usageError{errors.New("--count has no format trec: use text, tsv or jsonl")}
	}
	return nil
}

func (o *searchOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	o.none = c.Search.K == 0
	mode, err := engine.ParseMatch(c.Search.Mode)
	if o.syntax == syntaxBoolean && c.Origin("search.mode").Kind == config.FromDefault {
		mode = engine.And
	}
	if err == nil {
		err = o.validate(c, mode)
	}
	if err != nil {
		return err
	}
	if folder, err := isCollection(o.path); err != nil {
		return err
	} else if folder {
		return o.collection(ctx, a, c, log, mode)
	}
	choice := a.choose(c, o.workload(c, mode).Work)
	opt, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	opt.CountLoads = o.explain && !o.ranked() && opt.Backend != "host"
	opt.Lazy = opt.Backend != "opencl" && (opt.Lazy || o.single()) // one query does not repay auxiliary tables for all lists
	e, x, err := a.openIndex(ctx, o.path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEngine(opt, e)) }()
	s := &answer.Searcher{Query: engine.Query{Match: mode, CountOnly: o.count, Literal: o.literal()}, Invalid: o.invalid, Notes: a.Stderr,
		Choice: choice, Scheduled: c.Devices.Backend == "all"}
	if o.part {
		s.Query.Override = &engine.Override{Part: true}
	}
	if s.Query.Filter, s.Facets, err = o.filterOptions.open(ctx, e, x); err != nil {
		return err
	}
	if s.Index, err = x.Snapshot(); err != nil {
		return err
	}
	defer s.Index.Close()
	return o.answer(ctx, a, c, s, mode)
}

// workload describes the queries for the choice of a processor.
func (o *searchOptions) workload(c *config.Config, mode engine.Match) *workload.Search {
	s := &workload.Search{Path: o.path, Literal: o.literal(), Costs: c.Schedule.Costs, Queries: o.sample()}
	switch {
	case o.ranked():
		s.Kind = map[engine.Match]cost.Kind{engine.And: cost.RankAnd, engine.Or: cost.RankOr, engine.AndOr: cost.RankAndOr}[mode]
	case mode == engine.Or:
		s.Kind = cost.Boolean
	case o.count:
		s.Kind = cost.Count
	default:
		s.Kind = cost.And
	}
	return s
}

// answer prints the answers to all queries.
func (o *searchOptions) answer(ctx context.Context, a *App, c *config.Config, s *answer.Searcher, mode engine.Match) (err error) {
	s.Writer = o.writer(a, c)
	if o.explain {
		s.Explain = a.Stderr
	}
	if o.ranked() {
		if err := o.rank(&s.Query, c, s.Index.Source().Impacts != 0); err != nil {
			return err
		}
		b := thisBuild()
		if err := s.Begin(answer.Run{Version: b.Version, Revision: b.Revision, Statistics: o.statistics, NoHeader: o.noHeader}, a.Stderr); err != nil {
			return err
		}
	}
	return errors.Join(o.each(ctx, a, c.Batching.Queries, s.Answer), s.Writer.Report(a.Stderr))
}

// writer returns the writer of answers.
func (o *searchOptions) writer(a *App, c *config.Config) answer.Writer {
	w := answer.NewWriter(a.Stdout, c.Search.Format)
	w.Count, w.Limit, w.IDs = o.count, c.Search.K, !o.single()
	w.StrictScores, w.ExcludeSelf = o.strictScores, o.excludeSelf
	if o.all {
		w.Limit = -1
	}
	return w
}

// rank sets the options of a ranked query from flags and configuration. With impacts the index has
// scores already.
func (o *searchOptions) rank(q *engine.Query, c *config.Config, impacts bool) (err error) {
	if q.K = c.Search.K; o.excludeSelf {
		q.K++
	}
	asked := slices.ContainsFunc([]string{"ranking.variant", "ranking.k1", "ranking.b"}, func(key string) bool {
		return c.Origin(key).Kind != config.FromDefault
	})
	if impacts && (asked || o.statistics != "") {
		return usageError{errors.New("the index holds impacts, which are scores already: omit --variant, --k1, --b and --statistics")}
	}
	if !impacts {
		variant, err := bm25.ParseVariant(c.Ranking.Variant)
		if err != nil {
			return err
		}
		q.Scoring = &bm25.Params{Variant: variant, K1: c.Ranking.K1, B: c.Ranking.B}
	}
	if o.statistics != "" {
		q.Statistics, err = readStatistics(o.statistics)
	}
	return err
}

// readStatistics reads the statistics of a collection from a JSON file.
func readStatistics(path string) (*engine.Statistics, error) {
	text, err := auxiliary.Read(path, 1<<30)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	st := new(engine.Statistics)
	if err := d.Decode(st); err != nil {
		return nil, fmt.Errorf("%s: %w: statistics: %w", path, build.ErrCorrupt, syntax.JSON(text, err))
	}
	return st, nil
}
