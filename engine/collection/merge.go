package collection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/index/hdl"
	"heddle/engine/index/merge"
)

// Merge joins all segments to one without deleted documents. Its index file is the file that a build
// of the documents writes, byte for byte. Documents can be added and deleted meanwhile; they stay
// apart. Merge waits for the merges that run.
func (w *Writer) Merge(ctx context.Context) error {
	w.mu.Lock()
	for slices.ContainsFunc(w.segments, isMerging) {
		w.merged.Wait()
	}
	var old []*segment
	if len(w.segments) > 1 || w.segments[0].Deleted != nil {
		old = w.begin(w.segments)
	}
	w.mu.Unlock()
	return w.combine(ctx, old)
}

// Maintain merges segments until the rules of the package comment hold. Beside another merge it takes the segments
// behind those of that merge, so that small segments do not wait for the merge of large ones.
func (w *Writer) Maintain(ctx context.Context) error {
	for added := true; ; {
		var all []size
		w.mu.Lock()
		free := w.segments
		for i, s := range w.segments {
			if s.merging {
				free = w.segments[i+1:]
			}
		}
		for _, s := range free {
			all = append(all, size{s.Docs, s.Live()})
		}
		from, to := choose(all, added)
		old := w.begin(free[from:to])
		w.mu.Unlock()
		if len(old) == 0 {
			return nil
		}
		added = to < len(all)
		if err := w.combine(ctx, old); err != nil {
			return err
		}
	}
}

func isMerging(s *segment) bool { return s.merging }

// begin takes segments for a merge, which combine ends. It is called with the lock.
func (w *Writer) begin(old []*segment) []*segment {
	for _, s := range old {
		s.merging = true
	}
	return slices.Clone(old)
}

// combine replaces neighbouring segments by one segment without deleted documents. Documents that
// are deleted meanwhile are deleted in the new segment, too.
func (w *Writer) combine(ctx context.Context, old []*segment) (err error) {
	if len(old) == 0 {
		return nil
	}
	number := w.number()
	defer func() {
		if err != nil {
			err = errors.Join(err, w.discard(number))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, s := range old {
			s.merging = false
		}
		w.merged.Broadcast()
	}()
	parts, err := w.parts(old)
	if err != nil {
		return err
	}
	return w.mergeParts(ctx, number, old, parts)
}

// mergeParts is combine from the state at its begin.
func (w *Writer) mergeParts(ctx context.Context, number uint64, old []*segment, parts []merge.Part) (err error) {
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
	from := slices.Index(w.segments, old[0]) // another merge may have moved it
	before, behind := w.segments[:from:from], w.segments[from+len(old):]
	next := append(append(before, s), behind...)
	if s.Docs == 0 && len(next) > 1 {
		next = append(before, behind...)
		w.before[s.Keys.File] = true // its empty files go with the change
		for _, f := range s.Shard.Files() {
			w.before[f.File] = true
		}
		s.close()
	}
	return w.change(next, map[*segment]*roaring.Bitmap{s: s.deleted})
}

// parts returns the documents of segments that are not deleted now.
func (w *Writer) parts(old []*segment) (parts []merge.Part, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range old {
		part, err := s.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
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
