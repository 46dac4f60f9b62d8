package collection

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection/keys"
	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
)

// segment is a segment of the present state of a Writer. Its files are opened at their first use.
type segment struct {
	Segment
	dir     string
	index   *hdl.File
	keys    *keys.Keys
	deleted *roaring.Bitmap // nil before the first use
	merging bool            // a merge replaces it; guarded by Writer.mu
}

// file opens the index.
func (s *segment) file() (*hdl.File, error) {
	if s.index != nil {
		return s.index, nil
	}
	f, err := hdl.Open(filepath.Join(s.dir, s.File))
	if err != nil {
		return nil, err
	}
	if uint64(f.Docs()) != s.Docs {
		err := fmt.Errorf("%w: %s has %d documents, the manifest says %d", container.ErrCorrupt, f.Path(), f.Docs(), s.Docs)
		return nil, errors.Join(err, f.Close())
	}
	s.index = f
	return f, nil
}

// bitmap returns the deleted documents. The caller must not change it.
func (s *segment) bitmap() (_ *roaring.Bitmap, err error) {
	if s.deleted == nil {
		s.deleted, err = s.ReadDeleted(s.dir)
	}
	return s.deleted, err
}

// find returns the document with a name, if it is not deleted.
func (s *segment) find(name string) (doc uint32, found bool, err error) {
	if s.Docs == 0 {
		return 0, false, nil
	}
	if s.keys == nil {
		if s.keys, err = keys.Open(filepath.Join(s.dir, s.Keys.File), s.Docs, s.name); err != nil {
			s.keys = nil
			return 0, false, err
		}
	}
	if doc, found, err = s.keys.Find(name); err != nil || !found {
		return 0, false, err
	}
	deleted, err := s.bitmap()
	return doc, err == nil && !deleted.Contains(doc), err
}

// name returns the name of a document.
func (s *segment) name(doc uint32) (string, error) {
	f, err := s.file()
	if err != nil {
		return "", err
	}
	return f.DocName(doc)
}

// close closes the files.
func (s *segment) close() (err error) {
	if s.keys != nil {
		err = s.keys.Close()
	}
	if s.index != nil {
		err = errors.Join(err, s.index.Close())
	}
	s.keys, s.index = nil, nil
	return err
}

// ReadDeleted reads and checks the deleted documents of a segment in a folder; an empty bitmap if there
// are none.
func (s *Segment) ReadDeleted(dir string) (*roaring.Bitmap, error) {
	b, d := roaring.New(), s.Deleted
	if d == nil {
		return b, nil
	}
	path := filepath.Join(dir, d.File.File)
	data, err := auxiliary.Read(path, int64(d.Bytes))
	if err != nil && !errors.Is(err, auxiliary.ErrTooLarge) {
		return nil, err
	}
	sum := sha256.Sum256(data)
	switch {
	case err != nil || uint64(len(data)) != d.Bytes || hex.EncodeToString(sum[:]) != d.SHA256:
		return nil, fmt.Errorf("%s: %w: its size or checksum is not that of the manifest", path, container.ErrCorrupt)
	case b.UnmarshalBinary(data) != nil || b.Validate() != nil || b.GetCardinality() != d.Docs:
		return nil, fmt.Errorf("%s: %w: it is no bitmap of %d documents", path, container.ErrCorrupt, d.Docs)
	case !b.IsEmpty() && uint64(b.Maximum()) >= s.Docs:
		return nil, fmt.Errorf("%s: %w: it has document %d of a segment with %d documents", path, container.ErrCorrupt, b.Maximum(), s.Docs)
	}
	return b, nil
}

// writeDeleted writes a bitmap to a file of a folder.
func writeDeleted(disk container.Disk, dir, name string, b *roaring.Bitmap) (*Deleted, error) {
	b.RunOptimize()
	var data bytes.Buffer
	if _, err := b.WriteTo(&data); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data.Bytes())
	d := &Deleted{layout.File{File: name, Bytes: uint64(data.Len()), SHA256: hex.EncodeToString(sum[:])}, b.GetCardinality()}
	return d, auxiliary.ReplaceOn(disk, filepath.Join(dir, name), data.Bytes())
}
