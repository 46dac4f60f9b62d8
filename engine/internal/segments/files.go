package segments

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection"
	"heddle/engine/failure"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/part"
	"heddle/engine/internal/tables"
)

// Open opens the files of segments on the processors of an engine.
type Open struct {
	Index func(ctx context.Context, path string) (*lists.Index, error)
	Table func(ctx context.Context, path string) (*tables.Table, error)
}

// files is an open index with its attribute table.
type files struct {
	index *lists.Index
	table *tables.Table // nil: none
}

// files opens the files of a segment.
func (o Open) files(ctx context.Context, dir string, m *collection.Manifest, number int) (f *files, err error) {
	s := &m.Segments[number]
	path := filepath.Join(dir, s.File)
	x, err := o.Index(ctx, path)
	if err != nil {
		return nil, err
	}
	f = &files{index: x}
	now, err := x.Acquire()
	if err == nil {
		if docs := now.Source.Docs; uint64(docs) != s.Docs {
			err = fmt.Errorf("%s: %w: %d documents, the manifest says %d", path, container.ErrCorrupt, docs, s.Docs)
		}
		now.Release()
	}
	if err == nil && s.Attributes != nil {
		f.table, err = o.attributes(ctx, filepath.Join(dir, s.Attributes.File), m, s)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// attributes opens the attribute table of a segment.
func (o Open) attributes(ctx context.Context, path string, m *collection.Manifest, s *collection.Segment) (*tables.Table, error) {
	t, err := o.Table(ctx, path)
	if err != nil {
		return nil, err
	}
	g, err := t.Acquire()
	if err == nil {
		err = s.CheckAttributes(path, g.Table.Rows, g.Columns, m.Settings.Attributes)
		g.Release()
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close closes the files, unless their engine has closed them.
func (f *files) Close() error {
	err := unlessClosed(f.index.Close())
	if f.table != nil {
		err = errors.Join(err, unlessClosed(f.table.Close()))
	}
	return err
}

// unlessClosed leaves out the error of a second Close.
func unlessClosed(err error) error {
	if failure.CodeOf(err) == failure.Closed {
		return nil
	}
	return err
}

// live describes the documents of a segment that are not deleted. A document of a collection has terms if its length
// is not 0.
func live(f *files, s *collection.Segment, deleted *roaring.Bitmap) (live *part.Live, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	live = &part.Live{Docs: s.Live(), Length: s.Length, Filter: &filter.Filter{Bitmap: roaring.Flip(deleted, 0, s.Docs)}}
	now, err := f.index.Acquire()
	if err != nil {
		return nil, err
	}
	defer now.Release()
	live.WithTerms = uint64(now.File.Meta().WithTerms)
	live.Fields = now.FieldStatistics()
	for d := range roaring.Values(deleted) {
		length := uint64(now.File.DocLen(d))
		live.Length -= min(length, live.Length)
		live.WithTerms -= min(length, 1)
		for i := range live.Fields {
			length, one := uint64(now.Source.Fields[i].Lengths[d]), &live.Fields[i]
			one.Docs, one.Length = one.Docs-min(length, 1), one.Length-min(length, one.Length)
		}
	}
	return live, nil
}
