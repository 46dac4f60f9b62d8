package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/plan"
	"heddle/engine/predicate"
	"heddle/engine/rowset"
	"heddle/engine/trec"
)

type bitmapQueryOptions struct {
	settings
	path       string
	where      string
	predicates string
	count      bool
	rows       string
	roaring    string
	rescan     bool
	explain    bool
	json       bool
	given      struct{ where, predicates func() bool }
}

func newBitmapQuery(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "query X.hdb (--where PREDICATE | --predicates FILE) [flags]",
		Short: "Select the rows for which a predicate is true",
		Long: `Query prints how many rows a predicate selects, or which. A predicate is what stands
behind WHERE in SQL: columns compared with values by = != < <= > >=, BETWEEN, IN and
IS NULL, joined by AND, OR, NOT and parentheses. Texts and times stand in single quotes,
names that are no plain words in double ones. A comparison with a missing value is
neither true nor false, and a row is selected only where the whole is true.

Each line of a file of predicates is one, by its number from 1, or ID TAB PREDICATE.
They are answered in batches. A single --where has the ID 1.

  --count         ID TAB number of rows; the default
  --rows          ID TAB ROW a row, from 0
  --rows=ranges   ID TAB FIRST TAB LAST a range of consecutive rows
  --roaring FILE  the rows of the one predicate as a Roaring bitmap, portable format
  --json          an object a predicate: {"query": ID, "where": PREDICATE, "count": N},
                  with --rows "rows", with --explain "explain"

--explain says on standard error which bins a predicate takes whole and which it
checks against the stored values, what is read, where and how, and the time of each
stage.`,
		Example: `  heddle bitmap query flights.hdb --where 'delay >= 60'
  heddle bitmap query flights.hdb --where 'delay >= 15 AND distance BETWEEN 500 AND 999' --explain
  heddle bitmap query flights.hdb --where 'delay > 1000' --rows
  heddle bitmap query flights.hdb --where 'NOT distance < 4000' --rows=ranges --backend host
  heddle bitmap query flights.hdb --where 'delay IN (0, 1, 2)' --roaring ontime.roaring
  printf 'late\tdelay >= 60\nfar\tdistance >= 2000\n' | heddle bitmap query flights.hdb --predicates - --json`,
	}, &bitmapQueryOptions{})
}

func (o *bitmapQueryOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.where, "where", "", "select the rows for which `PREDICATE` is true")
	fs.StringVar(&o.predicates, "predicates", "", "answer every predicate of `FILE`, - for standard input")
	fs.BoolVar(&o.count, "count", false, "print how many rows are selected")
	fs.StringVar(&o.rows, "rows", "", "print the rows, or `ids|ranges` of them")
	fs.Lookup("rows").NoOptDefVal = rowIDs
	fs.StringVar(&o.roaring, "roaring", "", "write the rows to `FILE` as a Roaring bitmap; - is standard output")
	fs.BoolVar(&o.rescan, "rescan", false, "compute the scans of coa, roa, hybrid and ideal with each batch, as their paper does, and not once")
	fs.BoolVar(&o.explain, "explain", false, "say how each predicate was answered, and where the time went")
	addJSON(fs, &o.json)
	o.add(fs, "strategy", "backend", "device", "threads", "profiling", "tuning")
	o.given.where = func() bool { return fs.Changed("where") }
	o.given.predicates = func() bool { return fs.Changed("predicates") }
}

// What --rows may say.
const (
	rowIDs    = "ids"
	rowRanges = "ranges"
)

func (o *bitmapQueryOptions) Validate(args []string) (err error) {
	if o.path, err = oneArgument(args, "one table file"); err != nil {
		return err
	}
	outputs := 0
	for _, asked := range []bool{o.count, o.rows != "", o.roaring != ""} {
		if asked {
			outputs++
		}
	}
	switch {
	case o.given.where() == o.given.predicates():
		return errors.New("one of --where and --predicates is needed")
	case outputs > 1:
		return errors.New("--count, --rows and --roaring exclude each other")
	case o.rows != "" && o.rows != rowIDs && o.rows != rowRanges:
		return fmt.Errorf("unknown --rows %q (one of %s, %s)", o.rows, rowIDs, rowRanges)
	case o.roaring != "" && o.given.predicates():
		return errors.New("--roaring takes one predicate, by --where")
	case o.roaring == "-" && o.json:
		return errors.New("--json and --roaring - both write to standard output")
	case o.given.where():
		_, err = predicate.Parse(o.where) // before anything is opened
	}
	return err
}

// predicateBatch is how many predicates of a file are answered at once.
const predicateBatch = 256

func (o *bitmapQueryOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	strategy, err := plan.ParseStrategy(c.Bitmap.Strategy)
	if err != nil {
		return err
	}
	opt, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	t, err := engine.OpenTable(ctx, o.path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	w := &rowWriter{o: o, t: t, out: bufio.NewWriterSize(a.Stdout, 64<<10), log: a.Stderr,
		opt: engine.TableOptions{Strategy: strategy, Rescan: o.rescan, Output: plan.OutputCounts}}
	if o.rows != "" || o.roaring != "" {
		w.opt.Output = plan.OutputBits
	}
	if o.given.where() {
		err = w.answer(ctx, []trec.Topic{{ID: "1", Text: o.where}})
	} else {
		err = w.answerFile(ctx, a)
	}
	return errors.Join(err, w.out.Flush())
}

// rowWriter answers predicates and prints the answers.
type rowWriter struct {
	o    *bitmapQueryOptions
	t    *engine.Table
	opt  engine.TableOptions
	rows plan.Rows
	ids  []uint32
	out  *bufio.Writer
	log  io.Writer
}

// answerFile answers the predicates of a file, a batch at a time.
func (w *rowWriter) answerFile(ctx context.Context, a *App) error {
	in := a.Stdin
	if w.o.predicates != "-" {
		f, err := os.Open(w.o.predicates)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	var batch []trec.Topic
	var failed error
	size := predicateBatch
	if w.o.explain {
		size = 1 // times are of one
	}
	err := trec.ReadTopics(w.o.predicates, in, trec.TSV, func(q trec.Topic) bool {
		if batch = append(batch, q); len(batch) == size {
			failed = w.answer(ctx, batch)
			batch = batch[:0]
		}
		return failed == nil
	})
	if err = errors.Join(failed, err); err != nil || len(batch) == 0 {
		return err
	}
	return w.answer(ctx, batch)
}

func (w *rowWriter) answer(ctx context.Context, batch []trec.Topic) error {
	where := make([]string, len(batch))
	for i, q := range batch {
		where[i] = q.Text
	}
	if err := w.t.Select(ctx, where, w.opt, &w.rows); err != nil {
		return err
	}
	for i, q := range batch {
		if err := w.write(ctx, i, q); err != nil {
			return err
		}
	}
	return nil
}

// rowAnswer is an answer in JSON; its names are part of the contract.
type rowAnswer struct {
	Query   string    `json:"query"`
	Where   string    `json:"where"`
	Count   uint32    `json:"count"`
	Rows    any       `json:"rows,omitempty"` // numbers, or pairs of them
	Explain *rowsPlan `json:"explain,omitempty"`
}

// rowsPlan says how a predicate was answered; its JSON names are part of the contract.
type rowsPlan struct {
	Where      string         `json:"where"`
	Columns    []columnPlan   `json:"columns"`
	Vectors    int            `json:"vectors"`
	Bytes      uint64         `json:"bytes"` // of the vectors, compressed
	Backend    string         `json:"backend"`
	Device     string         `json:"device"`
	How        string         `json:"how"`
	Estimates  []rowsEstimate `json:"estimates,omitempty"`
	Micros     float64        `json:"us"`
	UploadUS   float64        `json:"upload_us,omitempty"`
	DecodeUS   float64        `json:"decompress_us,omitempty"`
	ReduceUS   float64        `json:"reduce_us,omitempty"`
	CompactUS  float64        `json:"compact_us,omitempty"`
	DownloadUS float64        `json:"download_us,omitempty"`
}

type columnPlan struct {
	Column     string   `json:"column"`
	Values     []string `json:"values"`
	Missing    bool     `json:"missing,omitempty"` // is selected too
	Bins       int      `json:"bins"`
	Whole      int      `json:"whole"`   // bins that are taken as they are
	Checked    int      `json:"checked"` // bins whose rows are compared with stored values
	Candidates uint64   `json:"candidates"`
}

type rowsEstimate struct {
	Backend string  `json:"backend"`
	Micros  float64 `json:"us"`
}

func explainRows(e *engine.Explanation) *rowsPlan {
	p := &rowsPlan{Where: e.Where, Columns: []columnPlan{}, Vectors: e.Plan.Vectors, Bytes: e.Bytes,
		Backend: e.Backend.Kind, Device: e.Backend.Device, How: e.How,
		Micros: micros(e.Stats.Wall), UploadUS: micros(e.Stats.Upload), DecodeUS: micros(e.Stats.Decode), ReduceUS: micros(e.Stats.Probe),
		CompactUS: micros(e.Stats.Compact), DownloadUS: micros(e.Stats.Download)}
	for _, t := range e.Plan.Tests {
		p.Columns = append(p.Columns, columnPlan{t.Column, append([]string{}, t.Ranges...), t.Missing, t.Bins, t.Whole, t.Checked, t.Candidates})
	}
	for _, x := range e.Estimates {
		p.Estimates = append(p.Estimates, rowsEstimate{x.Backend.Kind, micros(x.Time)})
	}
	return p
}

// write prints answer i of the batch.
func (w *rowWriter) write(ctx context.Context, i int, q trec.Topic) error {
	n := w.rows.Counts[i]
	var plan *rowsPlan
	if w.o.explain { // it runs again: first uses are slower
		e, err := w.t.Explain(ctx, q.Text, w.opt)
		if err != nil {
			return err
		}
		if !w.o.json {
			if _, err := fmt.Fprintf(w.log, "%s: %s\n", q.ID, e); err != nil {
				return err
			}
		}
		plan = explainRows(&e)
	}
	if w.o.roaring != "" {
		if err := w.writeRoaring(i); err != nil {
			return err
		}
	}
	switch {
	case w.o.json:
		answer := rowAnswer{Query: q.ID, Where: q.Text, Count: n, Explain: plan}
		switch w.o.rows {
		case rowIDs:
			w.ids = rowset.AppendIDs(w.ids[:0], w.rows.Selection(i))
			answer.Rows = append([]uint32{}, w.ids...)
		case rowRanges:
			ranges := [][2]uint32{}
			for first, last := range rowset.Ranges(w.rows.Selection(i)) {
				ranges = append(ranges, [2]uint32{first, last})
			}
			answer.Rows = ranges
		}
		return writeJSON(w.out, answer)
	case w.o.roaring != "":
		return nil
	case w.o.rows == rowIDs:
		w.ids = rowset.AppendIDs(w.ids[:0], w.rows.Selection(i))
		for _, row := range w.ids {
			w.line(q.ID, row)
		}
	case w.o.rows == rowRanges:
		for first, last := range rowset.Ranges(w.rows.Selection(i)) {
			w.line(q.ID, first, last)
		}
	default:
		w.line(q.ID, n)
	}
	return nil
}

// line prints an ID and numbers. The writer keeps its errors until it is flushed.
func (w *rowWriter) line(id string, numbers ...uint32) {
	w.out.WriteString(id)
	var b [16]byte
	for _, n := range numbers {
		w.out.Write(strconv.AppendUint(append(b[:0], '\t'), uint64(n), 10))
	}
	w.out.WriteByte('\n')
}

// writeRoaring writes the rows of answer i to the file that was asked for.
func (w *rowWriter) writeRoaring(i int) error {
	bitmap := rowset.ToRoaring(w.rows.Selection(i))
	if w.o.roaring == "-" {
		_, err := bitmap.WriteTo(w.out)
		return err
	}
	f, err := os.OpenFile(w.o.roaring+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = bitmap.WriteTo(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), w.o.roaring)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
