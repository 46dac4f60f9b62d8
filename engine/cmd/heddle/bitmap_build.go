package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/cmd/heddle/internal/tableinput"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/input"
	"heddle/engine/table/binning"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
)

type bitmapBuildOptions struct {
	settings
	out        string
	inputs     []string
	raw        []string
	format     string
	csv        tableinput.CSV
	columns    []string
	invalid    string
	set        []string
	json       bool
	noProgress bool
	force      bool
	given      func(flag string) bool
}

func newBitmapBuild(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "build -o X.hdb (INPUT… | --raw NAME:TYPE:FILE…) [flags]",
		Short: "Build a bitmap table from CSV, Parquet or raw columns",
		Long: `Build reads a table, divides the values of each column into bins, and writes the values
and a compressed bit vector for each bin. The file appears when it is complete; an
interrupted or failed build leaves nothing. It replaces a file of heddle, and a file of
another program with --force only. Several inputs with the same columns form one table,
in order; - is standard input. A folder stands for the files in it and in its subfolders
whose names end in .csv, .tsv (compressed or not) or .parquet, in the order of their
names, without hidden files and links. A warning counts the other files.

  csv      fields between delimiters, quoted or not, with a line of names: see heddle help csv
  parquet  columns; a list is multi-valued, members of structs are columns such as a.b
  raw      one file per column, --raw NAME:TYPE:FILE or NAME:TYPE:FILE:MISSING, of
           little-endian i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; the value MISSING marks
           missing values

CSV and raw files may be compressed by gzip, zstd or bzip2. A value that its column cannot
hold exactly is an error that names file, line and column. NaN is a value above all numbers;
--null nan, or MISSING nan, makes it a missing value, in any case except in strings.

--invalid fail stops at the first value that is none of its column; skip leaves its row
out. Texts of CSV, and of Parquet columns of type STRING, ENUM and JSON, are UTF-8 of up to
65536 bytes: replace puts U+FFFD for other bytes, truncate cuts longer texts, too. A warning
counts the rows and names the first.

--binning creates at most --bins bins per column; --set overrides the settings of one
column. Bins influence speed and size only. Without --bins, the binning auto leaves out bit
vectors that do not pay: those that take more room than the values, because few values lie in
runs. The bins of such a column, with the encoding none, are a summary of its values.

--build-memory limits the memory of the process. Larger tables use temporary files beside
the table. A limit that is too small is an error that names the least one. Pages of Parquet
files and records of CSV above a megabyte come on top.`,
		Example: `  heddle bitmap build -o flights.hdb flights.csv
  heddle bitmap build -o flights.hdb --bins 32 --set carrier:binning=distinct flights.csv.gz
  heddle bitmap build -o flights.hdb --raw delay:i16:delay.gz --raw distance:i16:distance.gz
  printf 'a,b\n1,x\n2,\n' | heddle bitmap build -o t.hdb --type a=float -`,
	}, &bitmapBuildOptions{})
}

func (o *bitmapBuildOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write the table to `X.hdb`")
	fs.StringArrayVar(&o.raw, "raw", nil, "column in its own file, `NAME:TYPE:FILE`; repeat for each column")
	flags.AddChoice(fs, &o.format, "format", "auto", "format of all inputs; auto decides by name and content: ", []string{"auto", "csv", "parquet"})
	o.csv.Add(fs)
	fs.StringSliceVar(&o.columns, "columns", nil, "include only these columns, `LIST`")
	flags.AddChoice(fs, &o.invalid, "invalid", input.Fail, "treatment of rows with invalid values: ", input.InvalidRowModes())
	fs.StringArrayVar(&o.set, "set", nil, "settings of one column, `NAME:KEY=VALUE,…`, with keys bins, binning, encoding; may be repeated")
	o.Add(fs, "bins", "binning", "encoding", "word", "build-memory")
	o.csv.Share(fs.Lookup("encoding"))
	fs.BoolVar(&o.force, "force", false, "replace a file of another program")
	addJSON(fs, &o.json)
	addNoProgress(fs, &o.noProgress)
	o.given = fs.Changed
}

func (o *bitmapBuildOptions) Validate(args []string) error {
	o.inputs = args
	switch {
	case o.out == "":
		return errors.New("--output (-o) is missing")
	case o.out == "-":
		return errors.New("a table cannot be written to standard output: its parts are not written in order")
	case len(args) == 0 && len(o.raw) == 0:
		return errors.New("an input or --raw is missing (- is standard input)")
	case len(args) > 0 && len(o.raw) > 0:
		return errors.New("--raw and inputs exclude each other")
	}
	return o.csv.Validate()
}

func (o *bitmapBuildOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := o.buildOptions(c)
	if err != nil {
		return err
	}
	src, err := o.open(ctx, a, &log, batchMemory(opt.Memory))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	var bar terminal.Progress
	var task string
	opt.Progress = func(p tablebuild.Progress) {
		next, unit := "reading", terminal.UnitBytes
		if p.Writing {
			next, unit = "writing", terminal.UnitValues
		}
		if next == task {
			bar.To(p.Done)
			return
		}
		bar.End()
		task, bar = next, a.progress(next, unit, p.Total, o.noProgress)
	}
	fixed := tableFixed + uint64(runtime.GOMAXPROCS(0))*tableCore + columnMemory(len(src.Fields()))
	room, restore, err := memlimit.Set(opt.Memory, fixed+batchMemory(opt.Memory))
	if err != nil {
		return err
	}
	defer restore()
	opt.Memory = room
	built, err := tablebuild.Build(ctx, src, o.out, opt)
	bar.End()
	if err != nil {
		return err
	}
	if invalid := &built.Invalid; invalid.First != nil {
		log.Warn().Msgf("rows with invalid values, --invalid %s: %d; the first: %v", o.invalid, invalid.Rows, invalid.First)
	}
	if n := built.Invalid.Nulls; n > 0 {
		log.Warn().Msgf("missing values in arrays are left out: %d", n)
	}
	if o.json {
		return terminal.WriteJSON(a.Stdout, report.NewTableBuild(o.out, &built))
	}
	took := (built.Read + built.Write).Seconds()
	_, err = fmt.Fprintf(a.Stdout, "%s: %d rows, %d columns, %d-bit words, %s; read %.1f MB in %.2f s (%.1f MB/s)\n", o.out, built.Rows,
		len(built.Columns), built.Word, terminal.Bytes(uint64(built.FileBytes)), float64(built.InputBytes)/1e6, took, float64(built.InputBytes)/1e6/took)
	return err
}

// buildOptions converts flags and configuration.
func (o *bitmapBuildOptions) buildOptions(c *config.Config) (opt tablebuild.Options, err error) {
	opt = tablebuild.Options{
		Settings: tablebuild.Settings{Bins: c.Bitmap.Bins}, Columns: map[string]tablebuild.Settings{}, Word: c.Bitmap.Word,
		Memory: uint64(c.Index.BuildMemory), Creator: thisBuild().String(), Source: strings.Join(o.inputs, " "),
	}
	if opt.Bins == tablebuild.DefaultBins && !o.given("bins") {
		opt.Bins = 0
	}
	if len(o.raw) > 0 {
		opt.Source = strings.Join(o.raw, " ")
	}
	if opt.Binning, err = column.ParseBinning(c.Bitmap.Binning); err != nil {
		return opt, err
	}
	if opt.Encoding, err = column.ParseEncoding(c.Bitmap.Encoding); err != nil {
		return opt, err
	}
	for _, text := range o.set {
		name, s, err := tablebuild.ParseSettings(text, opt.Settings)
		if err != nil {
			return opt, usageError{fmt.Errorf("--set %q %w", text, err)}
		}
		opt.Columns[name] = s
	}
	return opt, nil
}

// Memory of the build of a table beside its limit, in bytes: buffers of files, of each core, and the
// descriptions of each column.
const (
	tableFixed  = 8 << 20
	tableCore   = 6 << 20
	tableColumn = 4 << 10 // beside its sample
)

// columnMemory is the memory of the columns of a table, in bytes.
func columnMemory(n int) uint64 { return uint64(n) * (tableColumn + binning.Memory(n)) }

// batchMemory is the part of the memory of a build for batches of CSV, in bytes.
func batchMemory(limit uint64) uint64 { return min(max(limit/16, 8<<20), 256<<20) }
