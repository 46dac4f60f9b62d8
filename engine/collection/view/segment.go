package view

import (
	"errors"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/cluster/shard"
	"heddle/engine/collection"
	"heddle/engine/file/mapped"
)

// segment is a segment of one state.
type segment struct {
	file    *file
	deleted collection.Deleted // zero: none
	live    *shard.Live        // nil: all documents
}

// file is an open index with its attribute table, which several states share.
type file struct {
	index *engine.Index
	table *engine.Table // nil: none
	users atomic.Int64  // states
}

func (f *file) use() { f.users.Add(1) }

// release ends the use by a state. The last one closes the index, unless its engine has closed it.
func (f *file) release() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	return f.close()
}

func (f *file) close() error {
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

// describe reads the deleted documents of a segment, unless x has them.
func (x *segment) describe(dir string, s *collection.Segment) error {
	var now collection.Deleted
	if s.Deleted != nil {
		now = *s.Deleted
	}
	if now == x.deleted {
		return nil
	}
	deleted, err := s.ReadDeleted(dir)
	if err != nil {
		return err
	}
	live := &shard.Live{Docs: s.Live(), Length: s.Length, Filter: &engine.Filter{Bitmap: roaring.Flip(deleted, 0, s.Docs)}}
	if err := x.count(live, deleted); err != nil {
		return err
	}
	x.deleted, x.live = now, live
	return nil
}

// count sets the statistics of the documents that are not deleted. A document of a collection has terms
// if its length is not 0.
func (x *segment) count(live *shard.Live, deleted *roaring.Bitmap) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	now, err := x.file.index.Snapshot()
	if err != nil {
		return err
	}
	defer now.Close()
	live.WithTerms = uint64(now.File().Meta().WithTerms)
	for d := range roaring.Values(deleted) {
		length := uint64(now.File().DocLen(d))
		live.Length -= min(length, live.Length)
		live.WithTerms -= min(length, 1)
	}
	return nil
}
