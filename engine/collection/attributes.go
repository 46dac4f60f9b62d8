package collection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/build"
	indexmerge "heddle/engine/index/merge"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/merge"
)

// addAttributes writes the attribute table with a number from the inputs of an index, and sets the
// options of the index accordingly: its documents must be the rows of the table. Done must be called
// after the build of the index.
func (w *Writer) addAttributes(ctx context.Context, number uint64, inputs []string, opt *build.Options, warn func(text string)) (done func(), err error) {
	done = func() {}
	switch {
	case opt.Format != build.Auto && opt.Format != build.JSONL && opt.Format != "":
		return done, fmt.Errorf("format %s has no attributes: the collection takes JSON lines", opt.Format)
	case opt.Invalid == input.Skip:
		return done, errors.New("invalid documents cannot be skipped: row i of the attribute table is document i")
	}
	for _, path := range inputs {
		if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
			return done, fmt.Errorf("%s is no regular file: attributes are read a second time; copy it to a file, or give it as -, standard input", path)
		}
	}
	opt.Format = build.JSONL
	table := w.tableOptions(opt)
	table.Warn = warn
	if text, ok := opt.Stdin.(*bytes.Reader); ok {
		table.Stdin, opt.Stdin = text, io.NewSectionReader(text, 0, text.Size())
	} else if slices.Contains(inputs, "-") { // the inputs are read twice
		spool, err := os.CreateTemp(w.dir, ".heddle-build-*")
		if err != nil {
			return done, err
		}
		done = func() { _ = errors.Join(spool.Close(), os.Remove(spool.Name())) } // or the next writer removes it
		if _, err := io.Copy(spool, opt.Stdin); err != nil {
			return done, err
		}
		table.Stdin, opt.Stdin = spool, io.NewSectionReader(spool, 0, 1<<62)
	}
	r, err := attributes.Build(ctx, w.attributesPath(number), inputs, table)
	opt.Documents = uint64(r.Rows)
	return done, err
}

// tableOptions are the options of the attribute table of an index. Half of the memory is left to the
// batches of its source and to the structures of each core.
func (w *Writer) tableOptions(opt *build.Options) attributes.Options {
	return attributes.Options{Declared: w.Manifest().Settings.Attributes, Invalid: w.opt.InvalidValues,
		Options: tablebuild.Options{Creator: w.opt.Creator, TempDir: w.dir, Memory: opt.MemoryLimit / 2, Disk: w.disk}}
}

// CheckAttributes returns an error unless the table at path has a row for each document of s, and the
// declared columns.
func (s *Segment) CheckAttributes(path string, rows uint32, columns []column.Column, declared []attributes.Column) error {
	if uint64(rows) != s.Docs {
		return fmt.Errorf("%s: %w: %d rows, the manifest says %d documents", path, container.ErrCorrupt, rows, s.Docs)
	}
	if err := attributes.Agree(declared, columns); err != nil {
		return fmt.Errorf("%s: %w: the manifest differs: %w", path, container.ErrCorrupt, err)
	}
	return nil
}

// attributesPath is the path of the attribute table with a number.
func (w *Writer) attributesPath(number uint64) string {
	return filepath.Join(w.dir, fmt.Sprintf("%08d.hdb", number))
}

// mergeAttributes writes the attribute table of a merged segment with a number, from the segments and
// their documents when the merge began.
func (w *Writer) mergeAttributes(ctx context.Context, number uint64, old []*segment, parts []indexmerge.Part) error {
	w.mu.Lock() // a deletion changes segments
	described := make([]Segment, len(old))
	for i, s := range old {
		described[i] = s.Segment
	}
	w.mu.Unlock()
	var all []merge.Part
	for i, s := range described {
		f, err := hdb.OpenValues(filepath.Join(w.dir, s.Attributes.File))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := s.CheckAttributes(f.Path(), f.Rows(), f.Columns(), w.Manifest().Settings.Attributes); err != nil {
			return err
		}
		all = append(all, merge.Whole(f, parts[i].Deleted))
	}
	_, err := merge.File(ctx, all, w.attributesPath(number), tablebuild.Options{Creator: w.opt.Creator, Memory: w.opt.Memory, Disk: w.disk})
	return err
}
