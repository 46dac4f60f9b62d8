package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/cmd/heddle/internal/workload"
	"heddle/engine/feedback"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/index/synonym"
	"heddle/engine/internal/cost"
)

type searchOptions struct {
	settings
	onePath
	queries
	filterOptions
	pageOptions
	feedback    feedbackOptions
	statistics  string
	syntax      string
	all         bool
	count       bool
	total       flags.Total
	expand      string
	expandScore string
	tie         tie
	fixed       int
	weights     string        // of fields
	parts       engine.Fields // of the documents of an answer
	snippet     int
	part        bool
	explain     bool
	synonyms    string
	noHeader    bool
	none        bool // no document is asked for: k is 0

	strictScores, excludeSelf bool
}

func newSearch(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "search X.hdl|DIR (--query TEXT | --queries FILE) [flags]",
		Short: "Search an index",
		Long: `Search prints the best k documents for one query, or for each query of a file, with their scores
of BM25 or sums of impacts; equal scores are in the order of the index. --all and --count match
documents without ranking. --where and --filter alone are the query *. DIR is a collection.

  heddle help query-language   operators such as +bone -cell, AND, OR, NOT, comp*, heaven^2
  heddle help formats          query files, answers, facets
  heddle help predicates       conditions of --where on attributes
  heddle help algorithms       intersection of lists
  heddle help policies         division of queries between host and devices
--backend auto takes the host if it should finish sooner, --backend all the host and all devices.`,
		Example: `  heddle search books.hdl --query '+heaven earth -hell'
  heddle search books.hdl --queries queries.tsv --format trec > run.txt
  heddle search books.hdl --query heaven --table docs.hdb --where 'year >= 1900' --facets lang
  heddle search stories --query loom --fields text,year --sort 'year desc' -k 2 --after '*'`,
	}, &searchOptions{})
}

func (o *searchOptions) AddFlags(fs *pflag.FlagSet) {
	o.filterOptions.add(fs)
	o.queries.add(fs, "query", "TEXT", "answer the query", "queries", "answer all queries of")
	addReading(fs, &o.reading)
	flags.AddChoice(fs, &o.syntax, "syntax", "", "syntax; literal for --queries: ", []string{syntaxLiteral, syntaxQuery, syntaxBoolean})
	fs.BoolVar(&o.all, "all", false, "print all matching documents without ranking")
	fs.BoolVar(&o.count, "count", false, "print the number of matching documents")
	fs.Var(&o.total, "total", "print the number of matches; --total=`NUMBER` counts up to it")
	fs.Lookup("total").NoOptDefVal = "true"
	o.pageOptions.add(fs)
	o.feedback.add(fs)
	fs.StringSliceVar(&o.parts.Members, "fields", nil, "print the `MEMBERS` of stored objects, like title,meta.year")
	fs.BoolVar(&o.parts.Source, "source", false, "print stored objects or texts")
	fs.IntVar(&o.snippet, "snippet", 0, "print the best part of each stored text, of about `BYTES`")
	fs.StringSliceVar(&o.parts.Attributes, "attributes", nil, "print the values of `COLUMNS` of --table; * is all")
	flags.AddChoice(fs, &o.expand, "expand", "error", "words of more terms: ", []string{"error", "top"})
	fs.StringVar(&o.synonyms, "synonyms", "", "put the synonyms of `FILE` into queries (help synonyms)")
	fs.IntVar(&o.fixed, "prefix-length", 0, "equal first `N` characters of loom~1")
	fs.StringVar(&o.weights, "query-fields", "", "`FIELDS` of words, like title^3,body; default all")
	fs.Var(&o.tie, "tie", "best field of a word plus `NUMBER` times the others; default sum")
	flags.AddChoice(fs, &o.expandScore, "expand-score", "sum", "score of a word of several terms: ", []string{"sum", "best"})
	fs.BoolVar(&o.part, "part", false, "with --all, --count: one thread a query (PART, Wu et al. 2010)")
	fs.BoolVar(&o.explain, "explain", false, "explain the execution of each query, with times")
	fs.BoolVar(&o.noHeader, "no-header", false, "omit the header of ranked results")
	fs.BoolVar(&o.strictScores, "strict-scores", false, "make scores strictly decreasing, for tools that sort again")
	fs.BoolVar(&o.excludeSelf, "exclude-self", false, "leave out the document whose name is the ID of the query")
	fs.StringVar(&o.statistics, "statistics", "", "JSON `FILE` with the statistics of the whole collection")
	o.settings.Add(fs, "mode", "k", "variant", "k1", "b", "algorithm", "accumulators", "format", "expansions", "backend", "device", "threads", "profiling", "tuning", "policy")
}

func (o *searchOptions) Validate(args []string) (err error) {
	if err = o.set(args, "index file"); err != nil {
		return err
	}
	if err = o.validateFeedback(); err != nil {
		return err
	}
	if !o.given.text() && !o.given.file() && (o.where != "" || o.bitmap != "" || len(o.sort) > 0) { // all documents that pass
		if o.text = "*"; o.syntax != syntaxBoolean {
			o.syntax = syntaxQuery
		}
		o.given.text = func() bool { return true }
	}
	o.operators = !o.literal()
	if err = o.queries.validate("query", "queries"); err != nil {
		return err
	}
	if err = o.filterOptions.validate(isFolder(o.path), o.attributes() || len(o.parts.Attributes) > 0); err != nil {
		return err
	}
	if err = o.pageOptions.validate(o.table != "" || isFolder(o.path), o.ranked()); err != nil {
		return err
	}
	switch {
	case o.all && o.count:
		return errors.New("--all and --count exclude each other")
	case o.total > 0 && (o.all || o.count || o.syntax == syntaxBoolean):
		return errors.New("--total is for ranked results: omit --all, --count and --syntax boolean")
	case o.total > 0 && o.excludeSelf:
		return errors.New("--total counts the document that --exclude-self leaves out: omit one of them")
	case o.fetches() && !o.ranked():
		return errors.New("--fields, --source, --snippet and --attributes are for ranked results: omit --all, --count and --syntax boolean")
	case o.after != "" && o.excludeSelf:
		return errors.New("--after counts the document that --exclude-self leaves out: omit one of them")
	case len(o.parts.Attributes) > 0 && o.table == "" && !isFolder(o.path):
		return errors.New("--attributes needs the table of the documents' attributes: --table X.hdb")
	case len(o.facets) > 0 && o.count:
		return errors.New("--facets counts documents already: omit --count")
	case o.fixed < 0 || o.fixed > querylang.MaxFixed:
		return fmt.Errorf("--prefix-length %d: want 0 to %d", o.fixed, querylang.MaxFixed)
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
	return !o.all && !o.count && o.syntax != syntaxBoolean && (!o.none || o.minScore > 0)
}

// literal reports whether queries are text without operators.
func (o *searchOptions) literal() bool {
	return o.syntax == syntaxLiteral || o.syntax == "" && !o.single()
}

// fetches reports whether a flag asks for parts of documents.
func (o *searchOptions) fetches() bool {
	return len(o.parts.Members) > 0 || o.parts.Source || o.snippet != 0 || len(o.parts.Attributes) > 0
}

// validate checks flags against the configuration.
func (o *searchOptions) validate(c *config.Config, mode engine.Match) error {
	o.run = c.Search.Format == "trec"
	switch {
	case o.none && o.paged() && !(o.minScore > 0 && o.total > 0):
		return usageError{errors.New("--offset, --after, --sort, --min-score, --collapse and --boost are for ranked results: -k must be at least 1, or 0 with --min-score and --total")}
	case o.none && o.feedback.on():
		return usageError{errors.New("--like and --rm3 rank documents: -k must be at least 1")}
	case mode == engine.AndOr && !o.ranked():
		return usageError{errors.New("mode and-or is for ranked results: use and or or with --all and --count")}
	case o.part && mode == engine.Or:
		return usageError{errors.New("--part is for mode and: it divides the shortest list, and mode or has none")}
	case len(o.facets) > 0 && o.run:
		return usageError{errors.New("--facets has no format trec: use text, tsv or jsonl")}
	case o.total > 0 && o.run:
		return usageError{errors.New("--total has no format trec: use text, tsv or jsonl")}
	case o.fetches() && c.Search.Format != "text" && c.Search.Format != "jsonl":
		return usageError{fmt.Errorf("--fields, --source, --snippet and --attributes have no format %s: use text or jsonl", c.Search.Format)}
	case o.after != "" && o.run:
		return usageError{errors.New("--after has no format trec: use text, tsv or jsonl")}
	case o.count && o.run:
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
	if o.feedback.given("like") {
		mode = engine.Or // the words of a document need not be in another one together
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
	choice := a.Choose(&c.Devices, o.workload(c, mode).Work)
	opt, err := machine.Options(c, log)
	if err != nil {
		return err
	}
	opt.CountLoads = o.explain && !o.ranked() && opt.Backend != "host"
	e, x, err := machine.Open(ctx, &a.Machine, opt, func(e *engine.Engine) (*engine.Index, error) {
		return e.OpenIndex(ctx, o.path, engine.IndexOptions{})
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close(opt, e)) }()
	s := &answer.Searcher{Query: engine.Query{Match: mode, Expansion: o.expansion(), QueryFields: o.weights, Tie: o.tie.value, CountOnly: o.count, Total: uint64(o.total), Literal: o.literal()}, Invalid: o.invalid, Notes: a.Stderr, Similar: o.single(),
		Choice: choice, Scheduled: c.Devices.Backend == "all"}
	if o.part {
		s.Query.Override = &engine.Override{Part: true}
	}
	if s.Query.Filter, s.Facets, s.Query.Table, err = o.filterOptions.open(ctx, e, x); err != nil {
		return err
	}
	if s.Index, err = x.Snapshot(); err != nil {
		return err
	}
	defer s.Index.Close()
	if s.Synonyms, err = o.readSynonyms(s.Index); err != nil {
		return err
	}
	err = o.answer(ctx, a, c, s, mode)
	if o.explain {
		for _, r := range s.Index.Info().Resident {
			if l := r.Cache; l != nil {
				fmt.Fprintf(a.Stderr, "%s: list cache: %d of %d lists of queries were resident; %d lists, %s of %s; %s loaded, %d lists evicted\n",
					r.Processor, l.Hits, l.Hits+l.Misses, l.Lists, terminal.Bytes(l.Used), terminal.Bytes(l.Capacity), terminal.Bytes(l.BytesIn), l.Evicted)
			}
		}
	}
	return err
}

// readSynonyms reads the file of --synonyms for an index; nil without the flag.
func (o *searchOptions) readSynonyms(x *engine.Snapshot) (*synonym.Set, error) {
	if o.synonyms == "" {
		return nil, nil
	}
	rules, err := readRules(o.synonyms)
	if err != nil {
		return nil, usageError{err}
	}
	return x.Synonyms(rules)
}

// readRules reads a file of synonyms.
func readRules(path string) (*synonym.Rules, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rules, err := synonym.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rules.Name = path
	return rules, nil
}

// expansion rules the terms of prefixes and tolerant words.
func (o *searchOptions) expansion() engine.Expansion {
	return engine.Expansion{Top: o.expand == "top", PrefixLength: o.fixed, Best: o.expandScore == "best"}
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
	answerAll := o.feedback.wrap(feedback.Of(s.Index), &s.Query, s.Answer)
	return errors.Join(o.each(ctx, a, c.Batching.Queries, answerAll), s.Writer.Report(a.Stderr))
}

// writer returns the writer of answers.
func (o *searchOptions) writer(a *App, c *config.Config) answer.Writer {
	w := answer.NewWriter(a.Stdout, c.Search.Format)
	w.Count, w.Limit, w.IDs = o.count, c.Search.K, !o.single()
	w.StrictScores, w.ExcludeSelf = o.strictScores, o.excludeSelf
	w.Bold = a.Getenv("NO_COLOR") == "" && terminal.Is(a.Stdout)
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
	q.CountOnly = o.none
	o.page(q)
	if o.fetches() {
		f := o.parts
		if len(f.Attributes) > 0 {
			f.Table = q.Table
		}
		if o.snippet != 0 {
			f.Snippet = &engine.Snippet{Size: o.snippet, Mark: answer.Mark, Escape: true}
		}
		ask := f.Internal()
		if err := ask.Validate(); err != nil {
			return usageError{err}
		}
		q.Fields = &f
	}
	if _, err := q.Page(); err != nil {
		return usageError{err}
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
		q.Statistics, err = answer.ReadStatistics(o.statistics)
	}
	return err
}
