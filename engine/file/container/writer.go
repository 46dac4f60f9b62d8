package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Writer writes a file: sections in any mixture, then Commit. Nothing appears under the
// file's name before Commit has succeeded. A Writer belongs to one goroutine.
//
// Pending data lie in files of a temporary directory beside the target, which Commit
// joins: for that moment it needs up to twice the room of all sections except the first.
// Sections below 256 KiB have no file.
// The directory has the name of the path with ".tmp" and a number; it remains only after
// the process was killed. Memory is at most 256 KiB per spool.
//
// After an error every call returns the same error, and only Abort is useful; Commit
// aborts by itself.
type Writer struct {
	Sections []*Spool // the sections of the format

	path   string
	dir    string // temporary
	disk   Disk
	format *Format
	header Header
	spools []*Spool // all, to be closed
	err    error
	done   bool
}

// Create starts a file at path. An existing file is replaced by Commit and not touched
// before.
func Create(d Disk, path string, format *Format) (*Writer, error) {
	w := &Writer{path: path, disk: d, format: format}
	w.header.Table = make([]Extent, len(format.Names))
	dir, err := d.MkdirTemp(path)
	if err != nil {
		return nil, err
	}
	w.dir = dir
	if err := w.start(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// start makes the sections. The first one is written directly into the future file, behind room for
// the header.
func (w *Writer) start() error {
	for _, name := range w.format.Names {
		w.Sections = append(w.Sections, w.Temp(name))
	}
	w.Sections[0].start = PageSize
	return w.Sections[0].create()
}

// Temp adds a spool that is no section. Its name must differ from theirs.
func (w *Writer) Temp(name string) *Spool {
	s := &Spool{disk: w.disk, path: filepath.Join(w.dir, name)}
	w.spools = append(w.spools, s)
	return s
}

// Do calls f unless an earlier call failed or the Writer was closed (os.ErrClosed),
// and remembers its error, with the path before it.
func (w *Writer) Do(f func() error) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return fmt.Errorf("%s: %w", w.path, os.ErrClosed)
	}
	if err := f(); err != nil {
		w.err = fmt.Errorf("%s: %w", w.path, err)
	}
	return w.err
}

// Commit calls finish for the last bytes of the sections and the fields of the header,
// puts the file together, syncs it, renames it to its path and syncs the folder. After
// an error nothing is left behind, unless it was the sync of the folder that failed:
// then the file stands complete under its name, but may not outlive a loss of power.
func (w *Writer) Commit(finish func() (Fields, error)) error {
	err := w.Do(func() (err error) {
		if w.header.Fields, err = finish(); err != nil {
			return err
		}
		return w.commit()
	})
	return errors.Join(err, w.Abort())
}

// Abort removes all that was written, unless Commit has been called. It may be
// called again.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	var errs []error
	for _, s := range w.spools {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, w.disk.RemoveAll(w.dir))...)
}

func (w *Writer) commit() error {
	if err := w.join(); err != nil {
		return err
	}
	out := w.Sections[0]
	if err := out.file.Sync(); err != nil {
		return err
	}
	if err := out.close(); err != nil {
		return err
	}
	if err := w.disk.Rename(filepath.Join(w.dir, w.format.Names[0]), w.path); err != nil {
		return err
	}
	if err := w.disk.SyncDir(filepath.Dir(w.path)); err != nil {
		return fmt.Errorf("the file is complete, but its folder cannot be synced: %w", err)
	}
	return nil
}

// join copies the sections behind the first one and writes the header.
func (w *Writer) join() error {
	out := w.Sections[0]
	total := uint64(0) // bytes at most: one buffer of the right size instead of many that grow
	for _, s := range w.Sections {
		total += s.length + PageSize
	}
	out.buf = slices.Grow(out.buf, int(min(total, spoolBuffer))-len(out.buf))
	if err := w.settle(); err != nil {
		return err
	}
	at := uint64(PageSize)
	for i, s := range w.Sections {
		e := &w.header.Table[i]
		e.Offset = at
		at = e.End()
		if s == out {
			continue
		}
		if err := out.AppendSpool(s); err != nil {
			return fmt.Errorf("section %s: %w", w.format.Names[i], err)
		}
	}
	w.header.Size = at
	if err := out.flush(); err != nil {
		return err
	}
	if _, err := out.file.Seek(0, 0); err != nil {
		return err
	}
	_, err := out.file.Write(w.format.Encode(&w.header))
	return err
}

// settle pads the sections, and computes their checksums and the section of checksums of blocks.
func (w *Writer) settle() error {
	var sums []uint32
	settle := func(i int) error {
		s := w.Sections[i]
		w.header.Table[i].Length = s.length
		if err := s.Pad(PageSize); err != nil {
			return err
		}
		if err := s.settle(); err != nil {
			return err
		}
		w.header.Table[i].Sum = s.crc
		sums = append(sums, s.blocks.all()...)
		return nil
	}
	for i := range w.Sections {
		if i == w.format.Sums {
			continue
		}
		if err := settle(i); err != nil {
			return err
		}
	}
	if err := w.Sections[w.format.Sums].Append(LittleBytes(sums)); err != nil {
		return err
	}
	return settle(w.format.Sums)
}
