package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/boolean"
	"heddle/engine/plan"
	"heddle/engine/trec"
)

type searchOptions struct {
	settings
	path    string
	query   string
	queries string
	topics  trec.Format
	syntax  string
	all     bool
	count   bool
	explain bool
	given   struct{ query, queries func() bool }
}

func newSearch(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "search X.hdl (--query TEXT | --queries FILE) [flags]",
		Short: "Answer queries on an index",
		Long: `Search prints the documents that match a query, or each query of a file. A query
is a text; it is cut into terms as the documents were.

Mode and finds the documents that have every term. They are not ranked: they come
in the order of the index, and without --all only the first k of them.

With --syntax boolean a query is an expression: AND, OR and NOT in capitals and
parentheses, as in 'a AND (b OR c) NOT d'. AND may be left out and binds closer
than OR; NOT subtracts from the terms of AND around it, so there is no NOT alone.
Between quotes an operator is a term: "AND". A term that the analysis of the index
splits is an AND of its parts, not a phrase; a stop word drops out, with what is
subtracted from it. In a query file, the first query that is wrong ends the run.

A query file has one query a line, "ID TAB TEXT" or TEXT alone, which gets its
number, from 1, as its ID; a single --query has the ID 1. Documents are printed by
name, or by docID where they have no name.

  --count           ID TAB number of matching documents
  --format text     NAME, or ID TAB NAME for the queries of a file
  --format tsv      ID TAB RANK TAB NAME TAB SCORE; mode and scores 1
  --format jsonl    {"query": ID, "text": TEXT, "count": N, "docs": [NAME, …]}

A term that is in no document gives no result and no error; --explain names it.
What --explain says goes to standard error, or with jsonl into each object.`,
		Example: `  heddle search books.hdl --query 'heaven earth'
  heddle search books.hdl --query 'heaven earth' --all --format tsv
  heddle search books.hdl --queries queries.tsv --count
  printf 'heaven\nearth\n' | heddle search books.hdl --queries - --format jsonl
  heddle search books.hdl --syntax boolean --query 'heaven AND (earth OR sea) NOT hell'
  heddle search books.hdl --query 'heaven earth' --backend host --algorithm bs --explain`,
	}, &searchOptions{})
}

func (o *searchOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.query, "query", "", "answer the query `TEXT`")
	fs.StringVar(&o.queries, "queries", "", "answer every line of `FILE`, - for standard input")
	fs.StringVar((*string)(&o.topics), "queries-format", string(trec.Auto), "form of the query file: auto, plain, tsv, trec or jsonl `FORMAT`")
	fs.StringVar(&o.syntax, "syntax", syntaxPlain, "what a query is: "+syntaxPlain+" (its terms) or "+syntaxBoolean+" (AND, OR, NOT, parentheses) `SYNTAX`")
	fs.BoolVar(&o.all, "all", false, "print every matching document, not only the first k")
	fs.BoolVar(&o.count, "count", false, "print only how many documents match")
	fs.BoolVar(&o.explain, "explain", false, "say how each query was answered, and where the time went")
	o.add(fs, "mode", "k", "algorithm", "format", "backend", "device", "threads", "profiling", "tuning")
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
	case o.given.query() && o.syntax == syntaxBoolean:
		_, err = boolean.Parse(o.query) // before anything is opened
	}
	return err
}

// What --syntax may say.
const (
	syntaxPlain   = "plain"
	syntaxBoolean = "boolean"
)

// engineOptions are those that the configuration asks for.
func engineOptions(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	algorithm, err := plan.ParseAlgorithm(c.Search.Algorithm)
	backend := c.Devices.Backend
	if backend == "auto" && c.Devices.Device != "" {
		backend = "opencl" // who names a device wants no other place
	}
	return engine.Options{
		Backend: backend, Device: c.Devices.Device, Threads: c.Devices.Threads, Profiling: c.Devices.Profiling,
		Tuning:          c.Devices.Tuning,
		Algorithm:       algorithm,
		BatchCandidates: uint64(c.Batching.Candidates), Workers: c.Batching.Workers,
		DeviceMemory: uint64(c.Memory.Device), HostMemory: uint64(c.Memory.Tables),
		Log: &log,
	}, err
}

func (o *searchOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	opt.Lazy = o.given.query() // tables for all lists are not worth one query
	x, err := engine.Open(ctx, o.path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()

	out := bufio.NewWriterSize(a.Stdout, 64<<10)
	s := &searcher{
		x: x, opt: engine.SearchOptions{CountOnly: o.count}, path: o.queries, boolean: o.syntax == syntaxBoolean,
		out: &answerWriter{out: out, file: x.File(), format: c.Search.Format, count: o.count, limit: c.Search.K, ids: o.given.queries()},
	}
	if o.all {
		s.out.limit = -1
	}
	if o.explain {
		s.explain = a.Stderr
	}
	if o.given.query() {
		return s.answer(ctx, []trec.Topic{{ID: "1", Text: o.query}})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reader when answering fails
	r, err := readQueries(ctx, o.queries, o.topics, a.Stdin, c.Batching.Queries)
	if err != nil {
		return err
	}
	var qs []trec.Topic
	for {
		if qs, err = r.next(ctx, qs[:0]); err != nil || len(qs) == 0 {
			return err
		}
		if err := s.answer(ctx, qs); err != nil {
			return err
		}
	}
}
