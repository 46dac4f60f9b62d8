package states

import (
	"io"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection"
)

// segment is a segment of one state.
type segment[F io.Closer, L any] struct {
	file    *file[F]
	deleted collection.Deleted // zero: none
	live    L
}

// file is the open files of a segment, which several states share.
type file[F io.Closer] struct {
	files F
	users atomic.Int64 // states
}

// release ends the use by a state. The last one closes the files.
func (f *file[F]) release() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	return f.files.Close()
}

// describe reads the deleted documents of a segment, unless x has them.
func (x *segment[F, L]) describe(describe func(F, *collection.Segment, *roaring.Bitmap) (L, error), dir string, s *collection.Segment) error {
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
	live, err := describe(x.file.files, s, deleted)
	if err != nil {
		return err
	}
	x.deleted, x.live = now, live
	return nil
}
