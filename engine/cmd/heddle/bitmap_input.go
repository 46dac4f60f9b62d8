package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"heddle/engine/cmd/heddle/internal/tableinput"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/raw"
)

// open opens the inputs of the table. memory bounds the batches of CSV in progress, in bytes.
func (o *bitmapBuildOptions) open(ctx context.Context, a *App, log *zerolog.Logger, memory uint64) (read.Source, error) {
	expanded, left, err := tableinput.Expand(o.inputs, o.format)
	switch {
	case errors.Is(err, tableinput.ErrMixed):
		return nil, usageError{err}
	case err != nil:
		return nil, err
	case len(left) > 0:
		log.Warn().Msgf("files of folders, left out by their names: %d; the first: %s", len(left), left[0])
	}
	o.inputs = expanded
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
	case tableinput.IsParquet(o.inputs[0], o.format):
		format = "parquet"
	}
	invalid := input.Invalid(o.invalid)
	for _, flag := range append(o.csv.Names(), "invalid", "columns") {
		if o.given(flag) && format != "csv" && (flag != "columns" && flag != "invalid" || format == "raw") {
			return nil, usageError{fmt.Errorf("--%s does not apply to %s inputs", flag, format)}
		}
	}
	if o.csv.Encoding != "" && format != "csv" {
		return nil, usageError{fmt.Errorf("--encoding %s does not apply to %s inputs", o.csv.Encoding, format)}
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
	warn := func(text string) { log.Warn().Msg(text) }
	switch format {
	case "raw":
		return raw.Open(ctx, columns, raw.Options{Stdin: a.Stdin})
	case "parquet":
		return openParquet(ctx, o.inputs, o.columns, invalid, warn)
	}
	opt, err := o.csv.Options(o.inputs)
	if err != nil {
		return nil, usageError{err}
	}
	opt.Memory, opt.Columns, opt.Invalid, opt.Stdin, opt.Advice, opt.Warn = memory, o.columns, invalid, a.Stdin, true, warn
	return csv.Open(ctx, o.inputs, opt)
}
