package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/table/rowset"
)

// filterOptions restrict queries to some documents.
type filterOptions struct {
	table  string
	where  string
	bitmap string
	facets flags.Columns
	values int
}

func (o *filterOptions) add(fs *pflag.FlagSet) {
	fs.StringVar(&o.table, "table", "", "attribute table `X.hdb` of the index")
	fs.StringVar(&o.where, "where", "", "search documents whose attributes make `PREDICATE` true")
	fs.Var(&o.facets, "facets", "count the matches per value of `COLUMNS` of --table, or bin")
	fs.IntVar(&o.values, "facet-values", engine.DefaultFacets, "`NUMBER` of values of a facet; 0 is none, -1 is all")
	fs.StringVar(&o.bitmap, "filter", "", "search the documents of the Roaring bitmap in `FILE`")
}

// validate checks the flags. A collection has a table of its own. Columns: other flags read the table.
func (o *filterOptions) validate(collection, columns bool) error {
	switch {
	case !collection && o.table == "" && (o.where != "" || len(o.facets) > 0):
		return errors.New("--where and --facets need the table of the documents' attributes: --table X.hdb")
	case o.table != "" && o.where == "" && len(o.facets) == 0 && !columns:
		return errors.New("--table is for --where, --facets, --sort, --collapse, --boost and --attributes")
	case o.values < -1:
		return fmt.Errorf("--facet-values is %d, want -1 (all), 0 (none) or more", o.values)
	}
	return nil
}

// open returns the filter, the facets and the attribute table of queries on x; nil if there are none. The engine closes
// the table.
func (o *filterOptions) open(ctx context.Context, e *engine.Engine, x *engine.Index) (f *engine.Filter, facets *engine.Facets, table *engine.Table, err error) {
	if o.table != "" {
		if table, err = e.OpenTable(ctx, o.table, engine.TableOptions{}); err != nil {
			return nil, nil, nil, err
		}
	}
	info, err := x.Info()
	if err != nil {
		return nil, nil, nil, err
	}
	f, facets, err = o.parts(table, uint64(info.Docs))
	return f, facets, table, err
}

// parts returns the filter and the facets on a table for some documents; nil if there are none.
func (o *filterOptions) parts(table *engine.Table, docs uint64) (f *engine.Filter, facets *engine.Facets, err error) {
	if len(o.facets) > 0 {
		facets = &engine.Facets{Table: table, Columns: o.facets, Limit: o.values, CountOnly: o.values == 0}
	}
	if o.where == "" && o.bitmap == "" {
		return nil, facets, nil
	}
	if f = (&engine.Filter{}); o.where != "" {
		f.Where, f.Table = o.where, table
	}
	if o.bitmap != "" {
		f.Bitmap, err = o.readBitmap(uint32(min(docs, math.MaxUint32)))
	}
	return f, facets, err
}

// readBitmap reads the documents of --filter.
func (o *filterOptions) readBitmap(docs uint32) (*roaring.Bitmap, error) {
	in, err := os.Open(o.bitmap)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := rowset.ReadRoaring(in, docs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.bitmap, err)
	}
	return b, nil
}
