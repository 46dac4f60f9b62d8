package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
	"heddle/engine/table/hdb"
)

// Verify reads all files of a collection, and returns its manifest. It compares sizes, checksums and
// settings, makes the deep checks of indexes and attribute tables, and looks up the name of each
// document, which must have no other document. The error names each damaged file; damage is
// container.ErrCorrupt. If a writer changes the collection meanwhile, Verify begins again with the
// newest state.
func Verify(ctx context.Context, dir string) (*Manifest, error) {
	m, err := Read(dir)
	for err == nil {
		wrong := m.verify(ctx, dir)
		now, readErr := Read(dir)
		if wrong == nil || ctx.Err() != nil || readErr != nil || now.Epoch == m.Epoch {
			return m, wrong
		}
		m = now
	}
	return nil, err
}

func (m *Manifest) verify(ctx context.Context, dir string) error {
	var all []*segment
	var errs []error
	length := uint64(0)
	for _, one := range m.Segments {
		s := &segment{Segment: one, dir: dir}
		defer s.close()
		errs = append(errs, s.verify(ctx, &m.Settings))
		all, length = append(all, s), length+s.Length
	}
	if length != m.Length {
		errs = append(errs, fmt.Errorf("%s: %w: length is %d, the segments have %d", filepath.Join(dir, layout.ManifestName), container.ErrCorrupt, m.Length, length))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range all {
		if err := verifyNames(ctx, all[i:]); err != nil {
			return err
		}
	}
	return nil
}

// verify checks the files of a segment.
func (s *segment) verify(ctx context.Context, want *Settings) error {
	var errs []error
	for _, file := range append(s.Shard.Files(), s.Keys) {
		errs = append(errs, s.compare(file))
	}
	_, err := s.bitmap()
	return errors.Join(append(errs, err, s.verifyIndex(ctx, want), s.verifyAttributes(ctx, want))...)
}

// compare compares a file with its description.
func (s *segment) compare(want layout.File) error {
	path := filepath.Join(s.dir, want.File)
	got, err := layout.Describe(path, want.File)
	if err == nil && got != want {
		err = fmt.Errorf("%s: %w: %d bytes with checksum %s, the manifest says %d with %s", path, container.ErrCorrupt, got.Bytes, got.SHA256, want.Bytes, want.SHA256)
	}
	return err
}

// verifyIndex checks the index, its settings and totals.
func (s *segment) verifyIndex(ctx context.Context, want *Settings) error {
	f, err := s.file()
	if err != nil {
		return err
	}
	if err := f.Verify(ctx); err != nil {
		return err
	}
	meta := f.Meta()
	got := settingsOf(&meta)
	got.Attributes = want.Attributes
	if got, want := got.named(), want.named(); got != want {
		return fmt.Errorf("%s: %w: settings %s, the manifest says %s", f.Path(), container.ErrCorrupt, got, want)
	}
	if meta.Length != s.Length {
		return fmt.Errorf("%s: %w: length %d, the manifest says %d", f.Path(), container.ErrCorrupt, meta.Length, s.Length)
	}
	return nil
}

// named describes settings, with the names of defaults.
func (s Settings) named() string {
	s.Tokens, s.Lengths = cmp.Or(s.Tokens, analyze.TokensWords), cmp.Or(s.Lengths, hdl.LengthsExact)
	return fmt.Sprintf("%+v", s)
}

// verifyAttributes checks the attribute table, if there is one.
func (s *segment) verifyAttributes(ctx context.Context, want *Settings) error {
	if s.Attributes == nil {
		return nil
	}
	f, err := hdb.Open(filepath.Join(s.dir, s.Attributes.File))
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(f.Verify(ctx), s.CheckAttributes(f.Path(), f.Rows(), f.Columns(), want.Attributes))
}

// verifyNames checks that the keys find each document of the first segment by its name, and that no
// other segment has a document of this name.
func verifyNames(ctx context.Context, all []*segment) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	s := all[0]
	for d, name := range s.index.Names(0) {
		if d%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.deleted.Contains(d) {
			continue
		}
		if doc, found, err := s.find(name); err != nil {
			return err
		} else if !found || doc != d {
			return fmt.Errorf("%s: %w: it does not find document %d, %.60q", filepath.Join(s.dir, s.Keys.File), container.ErrCorrupt, d, name)
		}
		for _, other := range all[1:] {
			if doc, found, err := other.find(name); err != nil {
				return err
			} else if found {
				return fmt.Errorf("%s: %w: document %d, %.60q, is in %s too, as document %d", filepath.Join(s.dir, s.File), container.ErrCorrupt, d, name, other.File, doc)
			}
		}
	}
	return nil
}
