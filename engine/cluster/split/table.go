package split

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/internal/layout"
	"heddle/engine/table/build"
	"heddle/engine/table/hdb"
	"heddle/engine/table/merge"
)

// table cuts a table file: every shard is a build of its rows with the settings of the columns.
func table(ctx context.Context, path, dir string, opt *Options) (m *layout.Map, err error) {
	f, err := hdb.OpenValues(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	cuts, err := opt.cuts(uint64(f.Rows()), equal(uint64(f.Rows())))
	if err != nil {
		return nil, err
	}
	to, err := openFolder(dir, opt.Force)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := cutTable(ctx, f, cuts, to.path, opt); err != nil {
		return nil, err
	}
	m = newMap(name(path), layout.Table, cuts)
	return m, to.publish(m, ".hdb")
}

// cutTable writes the shards of a table.
func cutTable(ctx context.Context, f *hdb.File, cuts []uint64, path func(int) string, opt *Options) error {
	settings := settingsOf(f)
	for i := range len(cuts) - 1 {
		part := merge.Part{File: f, First: cuts[i], End: cuts[i+1]}
		if _, err := merge.File(ctx, []merge.Part{part}, path(i), settings); err != nil {
			return err
		}
		opt.Progress(cuts[i+1], uint64(f.Rows()))
	}
	return nil
}

// attributes writes the attribute tables of the shards of an index.
func attributes(ctx context.Context, docs uint32, cuts []uint64, to *folder, opt *Options) (err error) {
	f, err := hdb.OpenValues(opt.Attributes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Rows() != docs {
		return fmt.Errorf("%s has %d rows, the index has %d documents: row i must be document i", opt.Attributes, f.Rows(), docs)
	}
	to.attributes = true
	return cutTable(ctx, f, cuts, to.attributesPath, opt)
}

// settingsOf gives the options that a table was built with.
func settingsOf(f *hdb.File) build.Options {
	o := build.Options{Word: f.Word(), Creator: f.Meta().Creator, Source: f.Meta().Source, Columns: map[string]build.Settings{}}
	o.Memory = build.DefaultMemory
	for _, c := range f.Columns() {
		o.Columns[c.Name] = build.Settings{Bins: len(c.Bins), Binning: c.Binning, Encoding: c.Encoding}
		for _, s := range c.Dictionary {
			o.Memory += 2 * uint64(len(s)+64) // so that the dictionaries of a shard have room
		}
	}
	return o
}
