package bitmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/bench/harness"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/raw"
)

const (
	kddRows   = 4_898_431 // rows of the paper's KDD
	shortRows = 250_000   // rows of a real table if short
)

// drawSet makes a set with words of a number of bits.
type drawSet func(ctx context.Context, word int) (*set, error)

// realTables returns functions that make the sets of real tables in opt.Real.
func (s *bench) realTables() (all []drawSet, err error) {
	rows := s.Opt.Rows
	if s.Opt.Short {
		rows = min(rows, shortRows)
	}
	kdd, err := harness.RealFiles(s.Opt.Real, "kddcup.data*.gz")
	if err != nil {
		return nil, err
	}
	test, err := harness.RealFiles(s.Opt.Real, "corrected.gz")
	if err != nil {
		return nil, err
	}
	if kdd = append(kdd, test...); len(kdd) > 0 {
		r := rowSource{left: uint64(min(rows, kddRows)), again: true}
		opt := tablebuild.Options{Settings: tablebuild.Settings{Bins: 25, Binning: column.Lloyd}, Columns: make(map[string]tablebuild.Settings)}
		named := kddOptions()
		for name, t := range named.Types {
			if t.Type == column.String {
				opt.Columns[name] = tablebuild.Settings{Binning: column.Distinct}
			}
		}
		all = append(all, func(ctx context.Context, word int) (*set, error) {
			r, opt := r, opt
			r.open = func() (read.Source, error) { return csv.Open(ctx, kdd, named) }
			opt.Word = word
			return builtSet(ctx, "kdd", &r, opt, s.Opt.Seed)
		})
	}
	flights, err := harness.RealFiles(s.Opt.Real, "*le.gz")
	if err != nil {
		return nil, err
	}
	columns, err := rawColumns(flights)
	if err != nil {
		return nil, err
	}
	if len(columns) > 0 {
		all = append(all, func(ctx context.Context, word int) (*set, error) {
			r := &rowSource{left: uint64(rows), open: func() (read.Source, error) {
				return raw.Open(ctx, columns, raw.Options{})
			}}
			of := tablebuild.Settings{Bins: 64, Binning: column.Quantile}
			return builtSet(ctx, "flights", r, tablebuild.Options{Settings: of, Word: word}, s.Opt.Seed)
		})
	}
	if len(all) == 0 {
		s.Logf("real tables left out: no folder with kddcup.data*.gz or columns of flights was given")
	}
	return all, nil
}

// kddOptions names the columns of KDD Cup 1999, which have no header: 41 attributes and
// the kind of the connection.
func kddOptions() csv.Options {
	const attributes = 41
	o := csv.Options{Types: make(map[string]column.Declared)}
	for i := range attributes + 1 {
		name := fmt.Sprintf("a%d", i+1)
		switch {
		case i >= 1 && i <= 3 || i == attributes: // protocol, service, flag; the kind
			o.Types[name] = column.Declared{Type: column.String}
		case i >= 24 && i <= 30 || i >= 33: // rates
			o.Types[name] = column.Declared{Type: column.Float}
		default:
			o.Types[name] = column.Declared{Type: column.Int}
		}
		o.Names = append(o.Names, name)
	}
	return o
}

// rawColumns returns the columns NAME.KINDle.gz of one folder.
func rawColumns(paths []string) (all []raw.Column, err error) {
	slices.Sort(paths)
	for _, path := range paths {
		name, kind, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), "le.gz"), ".")
		c, err := raw.Parse(fmt.Sprintf("%s:%s:%s:", name, kind, path))
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && filepath.Dir(path) != filepath.Dir(all[0].Path) {
			return nil, fmt.Errorf("columns of flights in two folders: %s and %s", all[0].Path, path)
		}
		all = append(all, c)
	}
	return all, nil
}

// builtSet builds a table like heddle bitmap build, in a folder that the set removes.
// Queries may use every vector.
func builtSet(ctx context.Context, name string, src *rowSource, opt tablebuild.Options, seed uint64) (*set, error) {
	var err error
	if src.Source, err = src.open(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "heddle-bench-")
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	f, err := buildTable(ctx, filepath.Join(dir, "table.hdb"), src, opt)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	set := newSet(name, f.Table(), seed)
	set.columns = f.Columns()
	set.release = func() error { return errors.Join(f.Close(), os.RemoveAll(dir)) }
	return set, nil
}

// buildTable builds a table of all rows of src, closes src, and opens the table.
func buildTable(ctx context.Context, path string, src read.Source, opt tablebuild.Options) (*hdb.File, error) {
	_, err := tablebuild.Build(ctx, src, path, opt)
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, err
	}
	return hdb.Open(path)
}

// rowSource limits a source to a number of rows. With again it repeats the source until
// it has them.
type rowSource struct {
	read.Source
	open  func() (read.Source, error)
	left  uint64
	again bool
	read  bool // rows were read since the source was opened
}

// Next implements read.Source.
func (r *rowSource) Next(ctx context.Context, b *read.Batch) error {
	if r.left == 0 {
		return io.EOF
	}
	err := r.Source.Next(ctx, b)
	if err == io.EOF && r.again && r.read {
		next, err := r.open()
		if err != nil {
			return err
		}
		err = r.Source.Close()
		if r.Source, r.read = next, false; err != nil {
			return err
		}
		return r.Next(ctx, b)
	}
	if err != nil {
		return err
	}
	r.read = true
	if n := int(min(uint64(b.Rows), r.left)); n < b.Rows {
		b.Rows = n
		for i := range b.Columns {
			v := &b.Columns[i]
			v.Keys, v.Ends, v.Missing = v.Keys[:min(n, len(v.Keys))], v.Ends[:min(n, len(v.Ends))], v.Missing[:min(n, len(v.Missing))]
		}
	}
	r.left -= uint64(b.Rows)
	return nil
}
