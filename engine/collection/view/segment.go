package view

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/part"
)

// files is an open index with its attribute table.
type files struct {
	index *engine.Index
	table *engine.Table // nil: none
}

// openFiles opens the files of a segment.
func openFiles(ctx context.Context, e *engine.Engine, dir string, m *collection.Manifest, number int) (f *files, err error) {
	s := &m.Segments[number]
	path := filepath.Join(dir, s.File)
	x, err := e.OpenIndex(ctx, path, engine.IndexOptions{})
	if err != nil {
		return nil, err
	}
	now, err := x.Info()
	if err == nil && uint64(now.Docs) != s.Docs {
		err = fmt.Errorf("%s: %w: %d documents, the manifest says %d", path, container.ErrCorrupt, now.Docs, s.Docs)
	}
	f = &files{index: x}
	if err == nil && s.Attributes != nil {
		f.table, err = openAttributes(ctx, e, filepath.Join(dir, s.Attributes.File), m, s)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openAttributes opens the attribute table of a segment.
func openAttributes(ctx context.Context, e *engine.Engine, path string, m *collection.Manifest, s *collection.Segment) (*engine.Table, error) {
	t, err := e.OpenTable(ctx, path, engine.TableOptions{})
	if err != nil {
		return nil, err
	}
	info, err := t.Info()
	if err == nil {
		err = s.CheckAttributes(path, info.Rows, info.Columns, m.Settings.Attributes)
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
	if engine.CodeOf(err) == engine.Closed {
		return nil
	}
	return err
}

// live describes the documents of a segment that are not deleted. A document of a collection has terms if its length
// is not 0.
func live(f *files, s *collection.Segment, deleted *roaring.Bitmap) (live *part.Live, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	live = &part.Live{Docs: s.Live(), Length: s.Length, Filter: &filter.Filter{Bitmap: roaring.Flip(deleted, 0, s.Docs)}}
	now, err := f.index.Snapshot()
	if err != nil {
		return nil, err
	}
	defer now.Close()
	live.WithTerms = uint64(now.File().Meta().WithTerms)
	for d := range roaring.Values(deleted) {
		length := uint64(now.File().DocLen(d))
		live.Length -= min(length, live.Length)
		live.WithTerms -= min(length, 1)
	}
	return live, nil
}
