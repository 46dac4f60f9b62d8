package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/read/parquet"
	"heddle/engine/table/read/raw"
)

// open opens the inputs of the table. memory bounds the batches of CSV in progress, in bytes.
func (o *bitmapBuildOptions) open(ctx context.Context, a *App, log *zerolog.Logger, memory uint64) (read.Source, error) {
	if err := o.expand(log); err != nil {
		return nil, err
	}
	var columns []raw.Column
	paths := slices.Clone(o.inputs)
	for _, text := range o.raw {
		c, err := raw.Parse(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--raw: %w", err)}
		}
		columns, paths = append(columns, c), append(paths, c.Path)
	}
	format := "csv"
	switch {
	case len(o.raw) > 0:
		format = "raw"
	case o.isParquet():
		format = "parquet"
	}
	invalid := input.Invalid(o.invalid)
	for _, flag := range append(o.csv.flags(), "invalid", "columns") {
		if o.given(flag) && format != "csv" && (flag != "columns" && flag != "invalid" || format == "raw") {
			return nil, usageError{fmt.Errorf("--%s does not apply to %s inputs", flag, format)}
		}
	}
	if o.csv.encoding != "" && format != "csv" {
		return nil, usageError{fmt.Errorf("--encoding %s does not apply to %s inputs", o.csv.encoding, format)}
	}
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return nil, usageError{errors.New("standard input (-) is given twice")}
	}
	if err := checkOutput(o.out, paths); err != nil {
		return nil, err
	}
	if err := container.CheckTarget(o.out); err != nil && !(o.force && errors.Is(err, container.ErrForeign)) {
		return nil, forcible(err)
	}
	switch format {
	case "raw":
		return raw.Open(ctx, columns, raw.Options{Stdin: a.Stdin})
	case "parquet":
		return parquet.Open(ctx, o.inputs, parquet.Options{Columns: o.columns, Invalid: invalid, Warn: func(text string) { log.Warn().Msg(text) }})
	}
	return o.openCSV(ctx, a, log, memory)
}

// expand replaces folders among the inputs by their tables: by --format, else the files
// whose names end like names of CSV or Parquet files.
func (o *bitmapBuildOptions) expand(log *zerolog.Logger) error {
	var left []string
	formats := map[string]string{} // the first file of each format
	paths, err := input.Expand(o.inputs, func(path string) bool {
		format := tableFormat(path)
		if format == "" || o.format != "auto" && format != o.format {
			left = append(left, path)
			return false
		}
		formats[format] = cmp.Or(formats[format], path)
		return true
	})
	switch {
	case errors.Is(err, input.ErrNoInputs):
		return fmt.Errorf("%w whose names end in .csv, .tsv or .parquet", err)
	case err != nil:
		return err
	case len(formats) > 1:
		return usageError{fmt.Errorf("%s is CSV and %s is Parquet: choose one with --format", formats["csv"], formats["parquet"])}
	case len(left) > 0:
		log.Warn().Msgf("files of folders, left out by their names: %d; the first: %s", len(left), left[0])
	}
	o.inputs = paths
	return nil
}

// tableFormat is csv or parquet by the name of a file, or the empty string.
func tableFormat(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return "parquet"
	}
	switch strings.ToLower(filepath.Ext(input.TrimSuffix(path))) {
	case ".csv", ".tsv":
		return "csv"
	}
	return ""
}

// isParquet reports whether the inputs are Parquet files: by --format, by the name of
// the first input, or by its first bytes.
func (o *bitmapBuildOptions) isParquet() bool {
	if o.format != "auto" || o.inputs[0] == "-" {
		return o.format == "parquet"
	}
	if strings.EqualFold(filepath.Ext(o.inputs[0]), ".parquet") {
		return true
	}
	if info, err := os.Stat(o.inputs[0]); err != nil || !info.Mode().IsRegular() {
		return false // the first bytes of a pipe can be read only once
	}
	f, err := os.Open(o.inputs[0])
	if err != nil {
		return false // the next attempt to open it returns the error
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "PAR1"
}
