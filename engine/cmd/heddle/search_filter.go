package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/table/rowset"
)

// filterOptions restrict queries to some documents.
type filterOptions struct {
	table  string
	where  string
	bitmap string
}

func (o *filterOptions) add(fs *pflag.FlagSet) {
	fs.StringVar(&o.table, "table", "", "attribute table `X.hdb` of the index, for --where")
	fs.StringVar(&o.where, "where", "", "search the documents whose attributes make this `PREDICATE` true")
	fs.StringVar(&o.bitmap, "filter", "", "search the documents of the Roaring bitmap in `FILE`")
}

func (o *filterOptions) validate() error {
	if (o.table == "") != (o.where == "") {
		return errors.New("--where and --table belong together: the predicate, and the table of the documents' attributes")
	}
	return nil
}

// open returns the filter for queries on x; nil if there is none. The engine closes the table.
func (o *filterOptions) open(ctx context.Context, e *engine.Engine, x *engine.Index) (*engine.Filter, error) {
	if o.table == "" && o.bitmap == "" {
		return nil, nil
	}
	f := &engine.Filter{Where: o.where}
	if o.table != "" {
		var err error
		if f.Table, err = e.OpenTable(ctx, o.table, engine.TableOptions{}); err != nil {
			return nil, err
		}
	}
	if o.bitmap == "" {
		return f, nil
	}
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	in, err := os.Open(o.bitmap)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if f.Bitmap, err = rowset.ReadRoaring(in, info.Docs); err != nil {
		return nil, fmt.Errorf("%s: %w", o.bitmap, err)
	}
	return f, nil
}
