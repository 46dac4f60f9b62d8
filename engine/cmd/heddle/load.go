//go:build !core

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/bench/load"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/cmd/heddle/internal/topics"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
	"heddle/engine/internal/calibrate"
)

// tokenVariable is the variable of the environment that has the token of the server.
const tokenVariable = "HEDDLE_TOKEN"

type loadOptions struct {
	settings
	url        string
	work       load.Work
	kind       string
	connection load.Connection
	load.Options
	query, queries, draw string
	reading              trec.Reading
	syntax               string
	plot                 string
	json                 bool
}

func newLoad(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "load URL (--index NAME | --table NAME) (--query TEXT | --queries FILE | --draw FILE)",
		Short: "Measure a server under load",
		Long: `Load sends queries to a server of heddle serve in an open loop: queries arrive as a Poisson
process, whether the server has answered earlier ones or not. A latency begins at the
moment at which the query should be sent, so that a slow server does not slow down the load.

Without --rate, load sweeps: it doubles the rate of queries from --from, until the server
does not sustain it, and then looks for the capacity between the last two rates, to 9
percent. At each rate it repeats windows of --duration until the median latencies of three
windows in sequence differ from their mean by at most a tenth, or until two of three windows
show that the server does not sustain the rate. A rate is sustained if answers come as fast
as queries, and at most one request in a thousand fails. If load itself sent its queries late,
because its machine was busy, the verdict of the rate is unknown, and the capacity a lower bound.

With --rate, load sends queries at this rate for --duration.

A line of the table has the rate of queries and of answers, percentiles of the latency, the
time in the engine and the time in its queue, as the server reports them, the lateness of load
itself (99th percentile), and the number of queries without an answer by code: the codes of the
library, or unreachable. Load does not send queries while 65536 requests have no answer yet
(client_busy), or if it is late by --request-timeout itself (client_late). Queued times exist
for an index without --batch.

  --kind search   the best --k documents of a query
  --kind match    the first 1000 documents that match a query
  --kind count    the number of documents that match, or of the rows of a table

--batch N sends N queries to an index in each request, which costs the server less per query.

--verify asks the server for each topic before the load, one request after the other, and
compares the answers under load with these. Load counts the answers that differ (wrong), and
fails at its end if there is one. Files of the server must not change meanwhile.

Queries of --queries are sent in turn, as text unless --syntax is given. --syntax boolean
asks for documents without scores, as --kind match. With --table they are predicates, one a
line. --draw draws queries from a copy of the index: one to six terms, with lists of every
length.

The token of a server that asks for one is in --token, or better in the variable
` + tokenVariable + `, which other users of the machine cannot see. Load and the server compete for
processors if they run on the same machine.`,
		Example: `  heddle load http://127.0.0.1:7700 --index books --query 'heaven earth'
  heddle load http://127.0.0.1:7700 --index books --queries log.tsv --rate 5000 --json
  heddle load http://127.0.0.1:7700 --index books --draw books.hdl --plot load.svg
  heddle load https://search.example --ca ca.pem --table flights --query 'delay >= 60'`,
	}, &loadOptions{})
}

func (o *loadOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.work.Index, "index", "", "ask the index `NAME`")
	fs.StringVar(&o.work.Table, "table", "", "count rows of the table `NAME`")
	fs.StringVar(&o.query, "query", "", "send the query or predicate `TEXT`")
	fs.StringVar(&o.queries, "queries", "", "send the queries or predicates of `FILE`; - is standard input")
	addReading(fs, &o.reading)
	fs.StringVar(&o.draw, "draw", "", "draw queries from the index file `X.hdl`")
	fs.StringVar(&o.kind, "kind", string(load.Search), "`KIND` of requests to an index: search, match or count")
	flags.AddChoice(fs, &o.syntax, "syntax", "", "syntax, default query for --query, literal for --queries; boolean has no scores: ", []string{syntaxLiteral, syntaxQuery, syntaxBoolean})
	fs.IntVar(&o.work.Batch, "batch", 1, "send `N` queries to an index in each request")
	fs.Float64Var(&o.Rate, "rate", 0, "send `N` queries per second; 0 is a sweep")
	fs.Float64Var(&o.From, "from", 100, "begin the sweep at `N` queries per second")
	fs.DurationVar(&o.Length, "duration", 0, "`DURATION` of the load, or of a window of the sweep; 0 is 10s, or 2s")
	fs.DurationVar(&o.Options.Timeout, "request-timeout", 10*time.Second, "`DURATION` after which a query fails")
	fs.BoolVar(&o.Verify, "verify", false, "compare each answer with the answer of the quiet server before the load")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the arrivals")
	fs.StringVar(&o.plot, "plot", "", "draw the latencies as SVG to `FILE`")
	addJSON(fs, &o.json)
	fs.StringVar(&o.connection.Token, "token", "", "send `TOKEN`; default: the variable "+tokenVariable)
	fs.StringVar(&o.connection.CA, "ca", "", "trust the authorities of `FILE` (PEM) in place of the system's")
	fs.StringVar(&o.connection.Cert, "cert", "", "certificate `FILE` of the client (PEM)")
	fs.StringVar(&o.connection.Key, "key", "", "key `FILE` of the certificate (PEM)")
	fs.BoolVar(&o.connection.HTTP2, "http2", false, "send the requests over few connections by HTTP/2")
	fs.IntVar(&o.connection.Connections, "connections", 4096, "open at most `N` connections")
	o.Add(fs, "k", "mode")
}

func (o *loadOptions) Validate(args []string) (err error) {
	if o.url, err = oneArgument(args, "URL"); err != nil {
		return err
	}
	if at, err := url.Parse(o.url); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("%q: want http://HOST:PORT or https://HOST:PORT", o.url)
	}
	given := 0
	for _, source := range []string{o.query, o.queries, o.draw} {
		if source != "" {
			given++
		}
	}
	switch {
	case (o.work.Index == "") == (o.work.Table == ""):
		return errors.New("give either --index or --table")
	case given != 1:
		return errors.New("give one of --query, --queries and --draw")
	case o.draw != "" && o.work.Table != "":
		return errors.New("--draw is for an index")
	case o.Rate < 0 || o.From <= 0 || o.Length < 0 || o.Options.Timeout <= 0 || o.work.Batch < 1 || o.connection.Connections < 1:
		return errors.New("--rate and --duration cannot be negative; --from, --request-timeout, --batch and --connections must be positive")
	case (o.connection.Cert == "") != (o.connection.Key == ""):
		return errors.New("--cert and --key belong together")
	}
	if o.work.Kind, err = load.ParseKind(o.kind); err != nil {
		return fmt.Errorf("--kind: %w", err)
	}
	if o.work.Table != "" {
		if o.work.Batch != 1 {
			return errors.New("--batch is for an index")
		}
		o.reading, o.work.Kind = trec.Reading{Format: trec.Plain}, load.Count
	} else {
		o.work.Literal = o.syntax == syntaxLiteral || o.syntax == "" && o.query == ""
		if o.syntax == syntaxBoolean && o.work.Kind == load.Search {
			o.work.Kind = load.Match
		}
	}
	return checkReading(o.reading)
}

func (o *loadOptions) Run(ctx context.Context, a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	if o.work.K, o.work.Mode = c.Search.K, c.Search.Mode; o.syntax == syntaxBoolean && c.Origin("search.mode").Kind == config.FromDefault {
		o.work.Mode = engine.And.String()
	}
	if err := o.read(ctx, a); err != nil {
		return err
	}
	o.connection.Token = cmp.Or(o.connection.Token, a.Getenv(tokenVariable))
	client, err := o.connection.Client(o.url)
	if err != nil {
		return err
	}
	var levels []*load.Level
	table := load.NewTable(terminal.Writer(a.Stdout))
	o.Report = func(l *load.Level) error {
		levels = append(levels, l)
		if o.json {
			return terminal.WriteJSON(a.Stdout, l)
		}
		return table.Add(l)
	}
	capacity, err := load.Run(ctx, client, &o.work, o.Options)
	if err == nil && o.Rate == 0 {
		err = o.print(a, capacity, load.Limited(levels, capacity))
	}
	if o.plot != "" && len(levels) > 0 {
		err = errors.Join(err, load.Plot(o.plot, o.work.Index+o.work.Table+", "+string(o.work.Kind), levels))
	}
	return err
}

// print prints the result of a sweep. Limited says that load was late by itself at the rates above.
func (o *loadOptions) print(a *App, capacity float64, limited bool) error {
	if o.json {
		return terminal.WriteJSON(a.Stdout, map[string]any{"capacity": capacity, "limited": limited})
	}
	said := "the server does not sustain any of these rates"
	switch {
	case limited && capacity > 0:
		said = fmt.Sprintf("capacity: at least %.0f queries/s; load, not the server, was the limit: its machine was busy", capacity)
	case limited:
		said = "capacity: unknown; load, not the server, was the limit: its machine was busy"
	case capacity > 0:
		said = fmt.Sprintf("capacity: %.0f queries/s", capacity)
	}
	_, err := fmt.Fprintln(a.Stdout, said)
	return err
}

// read reads or draws the queries.
func (o *loadOptions) read(ctx context.Context, a *App) error {
	switch {
	case o.query != "":
		o.work.Topics = []string{o.query}
		return nil
	case o.draw != "":
		f, err := hdl.Open(o.draw)
		if err != nil {
			return err
		}
		defer f.Close()
		all, err := calibrate.Draw(f.Source(), f.Term)
		if err != nil {
			return fmt.Errorf("%s: %w", o.draw, err)
		}
		for _, terms := range all {
			o.work.Topics = append(o.work.Topics, strings.Join(terms, " "))
		}
		return nil
	}
	err := topics.File{Path: o.queries, Reading: o.reading, Stdin: a.Stdin}.Each(ctx, 1<<10, func(_ context.Context, all []trec.Topic) error {
		for _, t := range all {
			if t.Err == nil && t.Text == "" && len(t.Terms) > 0 {
				t.Err = errors.New("load sends texts, not vectors")
			}
			if t.Err != nil {
				return &trec.Error{Path: o.queries, Line: t.Line, Err: t.Err}
			}
			o.work.Topics = append(o.work.Topics, t.Text)
		}
		return nil
	})
	if err == nil && len(o.work.Topics) == 0 {
		err = fmt.Errorf("%s has no queries", o.queries)
	}
	return err
}
