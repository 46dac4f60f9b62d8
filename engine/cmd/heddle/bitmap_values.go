package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// valueOptions are the flags of bitmap query that print values of the selected rows.
type valueOptions struct {
	clauses       statement.Clauses
	limit, offset uint64
	format        string
	given         func(flag string) bool
}

func (o *valueOptions) add(fs *pflag.FlagSet) {
	fs.StringVar(&o.clauses.Select, "select", "", "print values of the selected rows: `LIST` of columns and aggregates")
	fs.StringVar(&o.clauses.GroupBy, "group-by", "", "form groups by the values of one to four `COLUMNS`")
	fs.StringVar(&o.clauses.OrderBy, "order-by", "", "sort the answer of --select by `KEYS`")
	fs.Uint64Var(&o.limit, "limit", 0, "print so many rows of the answer of --select at most; 0: the names of its columns alone (default all)")
	fs.Uint64Var(&o.offset, "offset", 0, "leave out so many first rows of the answer of --select")
	flags.AddChoice(fs, &o.format, "format", "csv", "format of the answer of --select: ", slices.Sorted(maps.Keys(valueFormats)))
	o.given = fs.Changed
}

// wanted reports whether --select is given.
func (o *valueOptions) wanted() bool { return o.given("select") }

// validate checks the flags without the table.
func (o *valueOptions) validate() error {
	if !o.wanted() {
		for _, flag := range []string{"group-by", "order-by", "limit", "offset", "format"} {
			if o.given(flag) {
				return fmt.Errorf("--%s is for --select", flag)
			}
		}
		return nil
	}
	_, err := statement.Parse(o.clauses)
	return err
}

// print prints the values of the rows of a selection.
func (o *valueOptions) print(ctx context.Context, a *App, t *engine.Table, rows engine.Selection) error {
	out := a.Stdout
	if terminal.Is(out) {
		if o.format == "arrow" || o.format == "parquet" {
			return usageError{fmt.Errorf("--format %s writes bytes that are no text: redirect the output to a file", o.format)}
		}
		out = terminal.Writer(out)
	}
	w := valueFormats[o.format](out)
	asked := engine.Aggregation{Select: o.clauses.Select, GroupBy: o.clauses.GroupBy, OrderBy: o.clauses.OrderBy, Limit: o.limit, Offset: o.offset, Rows: rows}
	write := w.Write
	if o.given("limit") && o.limit == 0 {
		asked.Limit, write = 1, func(b values.Batch) error { return w.Write(b.Cut(0, 0)) }
	}
	err := t.Aggregate(ctx, asked, write)
	if err == nil {
		err = w.Close()
	}
	if rows.Explain != nil && err == nil {
		_, err = fmt.Fprintln(a.Stderr, rows.Explain)
	}
	return err
}
