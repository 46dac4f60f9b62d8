package hdl

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"heddle/engine/plan"
)

// Commit puts the file together, syncs it, renames it to its path and syncs the
// folder. Missing documents are an ErrInput. After an error nothing is left
// behind, unless it was the sync of the folder that failed: then the file stands
// complete under its name, but may not outlive a loss of power.
func (w *Writer) Commit() error {
	if err := w.state(); err != nil {
		return errors.Join(err, w.Abort())
	}
	err := w.fail(w.commit())
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
	for _, s := range append(w.sections[:], w.hashes) {
		if s != nil && s.file != nil {
			errs = append(errs, s.file.Close())
		}
	}
	return errors.Join(append(errs, w.disk.removeAll(w.dir))...)
}

func (w *Writer) commit() error {
	if w.names != w.header.docs {
		return inputError("%d of %d documents are missing", w.header.docs-w.names, w.header.docs)
	}
	if w.texts != nil {
		if w.texts.docs != w.header.docs {
			return inputError("%d of %d texts are missing", w.header.docs-w.texts.docs, w.header.docs)
		}
		if err := w.writeTexts(); err != nil {
			return err
		}
	}
	meta, err := w.meta.encode()
	if err != nil {
		return err
	}
	if err := w.sections[secMeta].write(meta); err != nil {
		return err
	}
	if err := w.writeHash(); err != nil {
		return err
	}
	if err := w.join(); err != nil {
		return err
	}
	out := w.sections[secDocIDs].file
	if err := out.Sync(); err != nil {
		return err
	}
	w.sections[secDocIDs].file = nil // Abort must not close it again
	if err := out.Close(); err != nil {
		return err
	}
	if err := w.disk.rename(filepath.Join(w.dir, secDocIDs.String()), w.path); err != nil {
		return err
	}
	if err := w.disk.syncDir(filepath.Dir(w.path)); err != nil {
		return fmt.Errorf("the file is complete, but its folder cannot be synced: %w", err)
	}
	return nil
}

// writeHash builds the term hash table.
func (w *Writer) writeHash() error {
	if err := w.hashes.flush(); err != nil {
		return err
	}
	if _, err := w.hashes.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(w.hashes.file, spoolBuffer)
	slots := make([]uint64, slotCount(uint64(w.header.terms)))
	var b [8]byte
	for h := range w.header.terms {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return err
		}
		insert(slots, binary.LittleEndian.Uint64(b[:]), plan.Handle(h))
	}
	return w.sections[secTermHash].write(littleBytes(slots))
}

// join copies the sections behind the docIDs and writes the header.
func (w *Writer) join() error {
	out := w.sections[secDocIDs].file
	at := uint64(PageSize)
	for i, s := range w.sections[:w.header.sections()] {
		e := &w.header.table[i]
		e.offset, e.length = at, s.length
		if err := s.pad(PageSize); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
		e.crc = s.crc
		at += s.length
		if s.file == out {
			continue
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if n, err := io.Copy(out, s.file); err != nil || uint64(n) != s.length {
			return errors.Join(err, fmt.Errorf("section %s: %d of %d bytes copied", section(i), n, s.length))
		}
	}
	w.header.size = at
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := out.Write(w.header.encode())
	return err
}
