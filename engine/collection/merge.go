package collection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/index/hdl"
	"heddle/engine/index/merge"
)

// Merge joins all segments to one without deleted documents. Its index file is the file that a build
// of the documents writes, byte for byte. Documents can be added and deleted meanwhile; they stay
// apart.
func (w *Writer) Merge(ctx context.Context) error {
	w.merging.Lock()
	defer w.merging.Unlock()
	w.mu.Lock()
	n, whole := len(w.segments), len(w.segments) == 1 && w.segments[0].Deleted == nil
	w.mu.Unlock()
	if whole {
		return nil
	}
	return w.combine(ctx, 0, n)
}

// Maintain merges segments until the rules of the package comment hold.
func (w *Writer) Maintain(ctx context.Context) error {
	w.merging.Lock()
	defer w.merging.Unlock()
	for added := true; ; {
		var all []size
		w.mu.Lock()
		for _, s := range w.segments {
			all = append(all, size{s.Docs, s.Live()})
		}
		w.mu.Unlock()
		from, to := choose(all, added)
		if from == to {
			return nil
		}
		added = to < len(all)
		if err := w.combine(ctx, from, to); err != nil {
			return err
		}
	}
}

// combine replaces the segments from to to-1 by one segment without deleted documents. Documents that
// are deleted meanwhile are deleted in the new segment, too.
func (w *Writer) combine(ctx context.Context, from, to int) (err error) {
	number := w.number()
	defer func() {
		if err != nil {
			err = errors.Join(err, w.discard(number))
		}
	}()
	old, parts, err := w.parts(from, to)
	if err != nil {
		return err
	}
	return w.mergeParts(ctx, number, old, parts, from)
}

// mergeParts is combine from the state at its begin. The first of the segments has the place from.
func (w *Writer) mergeParts(ctx context.Context, number uint64, old []*segment, parts []merge.Part, from int) (err error) {
	to := from + len(old)
	path := filepath.Join(w.dir, fmt.Sprintf("%08d.hdl", number))
	if err := merge.File(ctx, parts, func(m hdl.Meta) (*hdl.Writer, error) {
		m.Creator = w.opt.Creator
		return hdl.CreateOn(w.disk, path, m)
	}); err != nil {
		return err
	}
	if w.Manifest().Settings.Attributes != nil {
		if err := w.mergeAttributes(ctx, number, old, parts); err != nil {
			return err
		}
	}
	s, err := w.seal(number)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range old {
		late(s.deleted, parts, i, old[i].deleted)
	}
	w.written += s.Docs
	next := append(append(w.segments[:from:from], s), w.segments[to:]...)
	if s.Docs == 0 && len(next) > 1 {
		next = append(w.segments[:from:from], w.segments[to:]...)
		w.before[s.Keys.File] = true // its empty files go with the change
		for _, f := range s.Shard.Files() {
			w.before[f.File] = true
		}
		s.close()
	}
	return w.change(next, map[*segment]*roaring.Bitmap{s: s.deleted})
}

// parts returns segments, and their documents that are not deleted now.
func (w *Writer) parts(from, to int) (old []*segment, parts []merge.Part, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old = w.segments[from:to]
	for _, s := range old {
		part, err := s.part()
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
	}
	return old, parts, nil
}

// late adds the documents of part i that have been deleted since the merge began to the deleted
// documents of the merged segment.
func late(to *roaring.Bitmap, parts []merge.Part, i int, deleted *roaring.Bitmap) {
	base := uint32(0)
	for n := range i {
		base += parts[n].Docs()
	}
	before := parts[i].Deleted
	for d := range roaring.Values(roaring.AndNot(deleted, before)) {
		to.Add(base + d - uint32(before.Rank(d)))
	}
}

// WriteIndex writes the documents of the newest state as one index file without deleted documents: the file that
// a merge writes.
func WriteIndex(ctx context.Context, dir, path, creator string) (err error) {
	_, all, err := openAll(dir)
	if err != nil {
		return err
	}
	var parts []merge.Part
	for _, s := range all {
		defer func() { err = errors.Join(err, s.close()) }()
		parts = append(parts, merge.Whole(s.index, s.deleted))
	}
	return merge.File(ctx, parts, func(m hdl.Meta) (*hdl.Writer, error) {
		m.Creator = creator
		return hdl.Create(path, m)
	})
}

// part is the documents of a segment that are not deleted.
func (s *segment) part() (p merge.Part, err error) {
	f, err := s.file()
	if err != nil {
		return p, err
	}
	deleted, err := s.bitmap()
	return merge.Whole(f, deleted), err
}
