package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/container"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// open opens the inputs of the table.
func (o *bitmapBuildOptions) open(ctx context.Context, a *App) (read.Source, error) {
	var columns []read.RawColumn
	paths := slices.Clone(o.inputs)
	for _, text := range o.raw {
		c, err := read.ParseRaw(text)
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
	for _, flag := range []string{"names", "delimiter", "null", "type", "columns"} {
		if o.given(flag) && format != "csv" && (flag != "columns" || format == "raw") {
			return nil, usageError{fmt.Errorf("--%s does not apply to %s inputs", flag, format)}
		}
	}
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return nil, usageError{errors.New("standard input (-) is given twice")}
	}
	if err := checkOutput(o.out, paths); err != nil {
		return nil, err
	}
	if err := container.CheckTarget(o.out); err != nil && !o.force {
		return nil, err
	}
	switch format {
	case "raw":
		return read.OpenRaw(ctx, columns, read.RawOptions{Stdin: a.Stdin})
	case "parquet":
		return read.OpenParquet(ctx, o.inputs, read.ParquetOptions{Columns: o.columns})
	}
	return o.openCSV(ctx, a)
}

func (o *bitmapBuildOptions) openCSV(ctx context.Context, a *App) (read.Source, error) {
	opt := read.CSVOptions{Names: o.names, Comma: o.delimiter[0], Null: o.null, Columns: o.columns, Stdin: a.Stdin,
		Types: map[string]column.Type{}, Scales: map[string]uint8{}}
	if o.delimiter == "tab" {
		opt.Comma = '\t'
	}
	for _, text := range o.types {
		i := strings.LastIndexByte(text, '=')
		if i < 1 {
			return nil, usageError{fmt.Errorf("--type %q is not NAME=TYPE", text)}
		}
		t, scale, err := column.ParseDeclared(text[i+1:])
		if err != nil {
			return nil, usageError{fmt.Errorf("--type %q: %w", text, err)}
		}
		opt.Types[text[:i]], opt.Scales[text[:i]] = t, scale
	}
	return read.OpenCSV(ctx, o.inputs, opt)
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
