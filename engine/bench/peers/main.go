// Command peers measures heddle and other systems in turns: ranked search of real text
// beside github.com/blevesearch/bleve/v2, and builds (package builds). It is a module of its own, so that
// bleve and its dependencies stay out of heddle's.
//
//	go run -C engine/bench/peers . --real DIR --json rows.jsonl
//	go run -C engine/bench/peers . builds --heddle BEFORE,NOW --real DIR --work DIR --json rows.jsonl
//
// DIR holds collections (NAME.tsv.gz, one document per line: name TAB text) and TREC
// Terabyte topics (topics.terabyte*.txt), there or one folder below. The exhibit is
// table "text" of heddle bench rank.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/pflag"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/peers/builds"
	"heddle/engine/bench/rank"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "builds" {
		opt, err := builds.Parse(args[1:])
		if err != nil {
			return err
		}
		return builds.Run(ctx, opt, os.Stdout, os.Stderr)
	}
	opt := harness.Options{Tables: []string{"text"}}
	fs := pflag.NewFlagSet("peers", pflag.ContinueOnError)
	fs.StringVar(&opt.Real, "real", "", "collections and topics in the folder `DIR`")
	fs.StringVar(&opt.Backend, "backend", "auto", "backend of heddle, `KIND`: auto, host or opencl")
	fs.StringVar(&opt.Device, "device", "", "OpenCL devices whose name contains `TEXT`")
	fs.IntVar(&opt.Threads, "threads", 0, "`N` threads of pure Go and of bleve; 0 is all cores")
	fs.IntVar(&opt.Queries, "queries", 0, "put only `N` queries; 0 is 1000 to a GPU and 200 to a CPU, 40 with --short")
	fs.IntVar(&opt.Runs, "runs", 0, "timed runs, `N`; 0 is 5, or 2 with --short")
	fs.BoolVar(&opt.Short, "short", false, "fewer queries and runs")
	fs.StringVar(&opt.JSON, "json", "", "write the rows to `FILE`, one JSON object per line; - is standard output")
	fs.StringVar(&opt.Report, "report", "", "write a Markdown report to `FILE`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if opt.Real == "" {
		return fmt.Errorf("--real names no folder of collections and topics")
	}
	return rank.WithLibrary(&bleveLibrary).Run(ctx, opt, os.Stdout, os.Stderr)
}
