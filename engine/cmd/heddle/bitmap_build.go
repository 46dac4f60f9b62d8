package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
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
	names      []string
	delimiter  string
	null       []string
	types      []string
	columns    []string
	set        []string
	json       bool
	noProgress bool
	given      func(flag string) bool
}

func newBitmapBuild(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "build -o X.hdb (INPUT… | --raw NAME:TYPE:FILE…) [flags]",
		Short: "Build a bitmap table from CSV, Parquet or raw columns",
		Long: `Build reads a table, cuts the values of each column into bins, and writes for each bin
a compressed bit vector of its rows, and the values. The file appears under its name
when it is complete; an interrupted or failed build leaves nothing. Several inputs of
the same columns are one table, in order; - is standard input.

  csv      fields separated by --delimiter, in quotes or not; the first line has the
           names unless --names gives them. Empty fields and those of --null are
           missing values. Types are found from the first rows, or given by --type
  parquet  columns that are not nested
  raw      a file a column, --raw NAME:TYPE:FILE or NAME:TYPE:FILE:MISSING, of
           little-endian i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; MISSING is the value
           that stands for none

CSV and raw files may be gzipped. Types are int, float, string, bool and timestamp.

Each column gets at most --bins bins by --binning; --set gives a column settings of its
own. Answers are exact whatever the bins are: where a predicate cuts a bin, its rows
are compared with the stored values.

Memory is bounded by --build-memory: keys go to a temporary file beside the table, and
vectors too where there is no room.`,
		Example: `  heddle bitmap build -o flights.hdb flights.csv
  heddle bitmap build -o flights.hdb --bins 32 --set carrier:binning=distinct flights.csv.gz
  heddle bitmap build -o flights.hdb --raw delay:i16:delay.gz --raw distance:i16:distance.gz
  printf 'a,b\n1,x\n2,\n' | heddle bitmap build -o t.hdb --type a=float -`,
	}, &bitmapBuildOptions{})
}

func (o *bitmapBuildOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write the table to `X.hdb`")
	fs.StringArrayVar(&o.raw, "raw", nil, "a column in a file of its own, `NAME:TYPE:FILE`; once a column")
	fs.StringVar(&o.format, "format", "auto", "format of all inputs: `auto|csv|parquet`; auto goes by the name")
	fs.StringSliceVar(&o.names, "names", nil, "names of the columns of CSV without a first line of them, `LIST`")
	fs.StringVar(&o.delimiter, "delimiter", ",", "what separates the fields of CSV: a `CHARACTER`, or tab")
	fs.StringArrayVar(&o.null, "null", nil, "`TEXT` that stands for a missing value in CSV; more than once for several")
	fs.StringArrayVar(&o.types, "type", nil, "`NAME=TYPE` of a column of CSV; once a column")
	fs.StringSliceVar(&o.columns, "columns", nil, "only these columns, `LIST`")
	fs.StringArrayVar(&o.set, "set", nil, "settings of one column, `NAME:KEY=VALUE,…` with bins, binning, encoding; once a column")
	o.add(fs, "bins", "binning", "encoding", "word", "build-memory")
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
		return errors.New("a table cannot be written to standard output: it is put together out of order")
	case len(args) == 0 && len(o.raw) == 0:
		return errors.New("an input is missing (- is standard input), or --raw")
	case len(args) > 0 && len(o.raw) > 0:
		return errors.New("--raw takes the place of inputs")
	case o.format != "auto" && o.format != "csv" && o.format != "parquet":
		return fmt.Errorf("unknown --format %q (one of auto, csv, parquet)", o.format)
	case o.delimiter != "tab" && (len(o.delimiter) != 1 || strings.ContainsAny(o.delimiter, "\"\r\n")):
		return fmt.Errorf("--delimiter %q is neither tab nor one character of ASCII that is no quote or line end", o.delimiter)
	}
	return nil
}

func (o *bitmapBuildOptions) Run(ctx context.Context, a *App) (err error) {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := o.buildOptions(c)
	if err != nil {
		return err
	}
	src, err := o.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	var bar *progress
	writing := false
	opt.Progress = func(p tablebuild.Progress) {
		if bar != nil && writing != p.Writing {
			bar.end()
			bar = nil
		}
		if writing = p.Writing; bar == nil {
			what, unit := "reading", unitBytes
			if writing {
				what, unit = "writing", unitValues
			}
			bar = a.newProgress(what, unit, p.Total, o.noProgress)
			return
		}
		bar.to(p.Done)
	}
	report, err := tablebuild.Build(ctx, src, o.out, opt)
	if bar != nil {
		bar.end()
	}
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(a.Stdout, newTableSummary(o.out, &report))
	}
	took := (report.Read + report.Write).Seconds()
	_, err = fmt.Fprintf(a.Stdout, "%s: %d rows, %d columns, %d-bit words, %s; read %.1f MB in %.2f s (%.1f MB/s)\n", o.out, report.Rows,
		len(report.Columns), report.Word, byteCount(uint64(report.FileBytes)), float64(report.InputBytes)/1e6, took, float64(report.InputBytes)/1e6/took)
	return err
}

// buildOptions are those that flags and configuration ask for.
func (o *bitmapBuildOptions) buildOptions(c *config.Config) (opt tablebuild.Options, err error) {
	opt = tablebuild.Options{
		Settings: tablebuild.Settings{Bins: c.Bitmap.Bins}, Columns: map[string]tablebuild.Settings{}, Word: c.Bitmap.Word,
		Memory: uint64(c.Index.BuildMemory), Creator: thisBuild().String(), Source: strings.Join(o.inputs, " "),
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
		name, s, err := parseColumnSettings(text, opt.Settings)
		if err != nil {
			return opt, usageError{fmt.Errorf("--set %q %w", text, err)}
		}
		opt.Columns[name] = s
	}
	return opt, nil
}

// parseColumnSettings reads NAME:KEY=VALUE,…; what is not said is as in s. The name may
// have colons.
func parseColumnSettings(text string, s tablebuild.Settings) (name string, _ tablebuild.Settings, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return "", s, errors.New("is not NAME:KEY=VALUE,…")
	}
	for _, pair := range strings.Split(text[i+1:], ",") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "bins":
			s.Bins, err = strconv.Atoi(value)
			if err != nil || s.Bins < 1 || s.Bins > binning.MaxBins {
				err = fmt.Errorf("%q is no number from 1 to %d", value, binning.MaxBins)
			}
		case "binning":
			s.Binning, err = column.ParseBinning(value)
		case "encoding":
			s.Encoding, err = column.ParseEncoding(value)
		default:
			err = fmt.Errorf("unknown key (one of bins, binning, encoding)")
		}
		if err != nil {
			return "", s, fmt.Errorf("has a wrong %q: %w", key, err)
		}
	}
	return text[:i], s, nil
}

// tableSummary is the answer in JSON; its names are part of the contract.
type tableSummary struct {
	Path       string               `json:"path"`
	Rows       uint32               `json:"rows"`
	Word       int                  `json:"word"`
	Columns    []tableColumnSummary `json:"columns"`
	InputBytes int64                `json:"input_bytes"` // as they are stored
	Bytes      int64                `json:"bytes"`       // of the file
	Seconds    float64              `json:"seconds"`
}

type tableColumnSummary struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Binning     string `json:"binning"`
	Encoding    string `json:"encoding"`
	Bins        int    `json:"bins"`
	Vectors     int    `json:"vectors"`
	Missing     uint32 `json:"missing"`
	VectorBytes uint64 `json:"vector_bytes"`
	ValueBytes  uint64 `json:"value_bytes"`
}

func newTableSummary(path string, r *tablebuild.Report) tableSummary {
	s := tableSummary{Path: path, Rows: r.Rows, Word: r.Word, InputBytes: r.InputBytes, Bytes: r.FileBytes, Seconds: (r.Read + r.Write).Seconds()}
	for _, c := range r.Columns {
		s.Columns = append(s.Columns, tableColumnSummary{c.Name, c.Type.String(), c.Binning.String(), c.Encoding.String(), c.Bins, c.Vectors, c.Missing, c.VectorBytes, c.ValueBytes})
	}
	return s
}
