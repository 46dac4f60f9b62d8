package hdl

import "heddle/engine/file/container"

// Commit puts the file together, syncs it, renames it to its path and syncs the
// folder. Missing documents are an ErrInput. After an error nothing is left
// behind, unless it was the sync of the folder that failed: then the file stands
// complete under its name, but may not outlive a loss of power.
func (w *Writer) Commit() error { return w.file.Commit(w.finish) }

// Abort removes all that was written, unless Commit has been called. It may be
// called again.
func (w *Writer) Abort() error { return w.file.Abort() }

// finish writes the sections that are complete only at the end of the input.
func (w *Writer) finish() (f container.Fields, err error) {
	if w.names != w.header.docs {
		return f, inputError("%d of %d documents are missing", w.header.docs-w.names, w.header.docs)
	}
	if err := w.finishStored(); err != nil {
		return f, err
	}
	if err := w.finishPositions(); err != nil {
		return f, err
	}
	meta, err := w.meta.encode()
	if err != nil {
		return f, err
	}
	if err := w.file.Sections[secMeta].Append(meta); err != nil {
		return f, err
	}
	if err := w.finishFields(); err != nil {
		return f, err
	}
	return w.header.encode(), w.finishBlocks()
}

// finishBlocks writes the ends of the last blocks.
func (w *Writer) finishBlocks() error {
	if err := w.writeNames(); err != nil {
		return err
	}
	if err := w.file.Sections[secTermOffsets].AppendUint64(w.file.Sections[secTerms].Length()); err != nil {
		return err
	}
	return w.markLists()
}
