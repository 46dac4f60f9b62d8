package hdb

import (
	"encoding/json"
	"errors"
	"iter"
	"math"

	"heddle/engine/file/container"
	"heddle/engine/table/column"
)

// Writer writes a table file: columns in order, each with the codes of its rows and its
// vectors; then Commit. Nothing appears under the file's name before Commit has
// succeeded. A Writer belongs to one goroutine.
//
// Pending data lie in files of a temporary directory beside the target, which Commit
// joins: for that moment it needs up to twice the room of all sections except the
// vectors. The directory has the name of the path with ".tmp" and a number; it remains
// only after the process was killed. Memory does not grow with rows: it is 4 MiB of
// buffers, and the descriptions of the columns.
//
// After an error every call returns the same error, and only Abort is useful; Commit
// aborts by itself.
type Writer struct {
	file    *container.Writer
	meta    Meta
	header  header
	columns []storedColumn
	parts   parts
	sizes   []columnSize
	names   map[string]bool
	open    *ColumnWriter // the last column, until it is ended
	tile    tileWriter    // its codes
	bytes   []byte        // a descriptor
}

// Create starts a table file of the given number of rows at path, with vectors of words of 32 or 64
// bits. An existing file is replaced by Commit and not touched before.
//
//	w, err := hdb.Create(path, rows, 32, meta)
//	if err != nil { return err }
//	defer w.Abort() // does nothing after Commit
func Create(path string, rows uint32, word int, meta Meta) (*Writer, error) {
	return CreateOn(container.OSDisk{}, path, rows, word, meta)
}

// CreateOn is Create on another disk.
func CreateOn(d container.Disk, path string, rows uint32, word int, meta Meta) (w *Writer, err error) {
	if word != 32 && word != 64 {
		return nil, inputError("vectors of %d-bit words; possible are 32 and 64", word)
	}
	if err := meta.check(); err != nil {
		return nil, err
	}
	w = &Writer{meta: meta, header: header{rows: rows, word: uint32(word)}, names: map[string]bool{}}
	if w.file, err = container.Create(d, path, &format); err != nil {
		return nil, err
	}
	if err := w.start(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

func (w *Writer) start() error {
	w.tile = tileWriter{slices: w.section(secSlices), tiles: w.section(secTiles)}
	return w.section(secStringOffsets).AppendUint64(0)
}

func (w *Writer) section(s section) *container.Spool { return w.file.Sections[s] }

// Column ends the previous column, which must be complete, and starts the next one. c
// describes it without Vector, which is ignored, and must not change until the column
// ends. It returns ErrInput for a description that no table can hold: an empty or
// repeated name; bins that are not ascending and disjoint or have no rows; rows of bins
// and Missing that do not add up to the rows of the table; keys beyond the type or the
// dictionary; ranks that do not ascend or end elsewhere than the codes; a dictionary that does not ascend.
func (w *Writer) Column(c column.Column) (*ColumnWriter, error) {
	return w.LongColumn(c, uint64(len(c.Dictionary)), func(yield func([]byte, error) bool) {
		var entry []byte
		for _, s := range c.Dictionary {
			if entry = append(entry[:0], s...); !yield(entry, nil) {
				return
			}
		}
	})
}

// LongColumn is Column with a dictionary that need not be in memory: n entries take the place of
// c.Dictionary. An entry is valid until the next; the first error of entries ends the call.
func (w *Writer) LongColumn(c column.Column, n uint64, entries iter.Seq2[[]byte, error]) (*ColumnWriter, error) {
	return w.PartColumn(Single, c, n, entries)
}

// PartColumn is LongColumn for a part of a multi-valued column. Behind all columns of the table come
// the Values and the First of each Present, in the order of the table and with its name.
func (w *Writer) PartColumn(p Part, c column.Column, n uint64, entries iter.Seq2[[]byte, error]) (*ColumnWriter, error) {
	var cw *ColumnWriter
	err := w.file.Do(func() (err error) {
		if err = w.endColumn(); err == nil {
			cw, err = w.startColumn(p, &c, n, entries)
		}
		return err
	})
	return cw, err
}

func (w *Writer) startColumn(p Part, c *column.Column, n uint64, entries iter.Seq2[[]byte, error]) (*ColumnWriter, error) {
	bad := func(err error) (*ColumnWriter, error) {
		return nil, inputError("column %d (%.60q): %v", len(w.columns), c.Name, err)
	}
	if err := checkColumn(c, n); err != nil {
		return bad(err)
	}
	rows, err := w.parts.add(p, c, w.header.rows)
	if err != nil {
		return bad(err)
	}
	if _, err := checkBins(c, rows); err != nil {
		return bad(err)
	}
	switch vectors := uint64(c.Vectors()); {
	case w.names[c.Name] && !p.Behind():
		return bad(errors.New("the name comes twice"))
	case w.header.columns == math.MaxUint32 || vectors > math.MaxUint32-uint64(w.header.vectors):
		return bad(errors.New("more than 2^32-1 columns or vectors"))
	}
	if err := w.writeDictionary(c.Type, n, entries); err != nil {
		return nil, err
	}
	for _, b := range c.Bins {
		w.bytes = appendBin(w.bytes[:0], b)
		if err := w.section(secBins).Append(w.bytes); err != nil {
			return nil, err
		}
	}
	if err := w.section(secRanks).Append(container.LittleBytes(c.Ranks)); err != nil {
		return nil, err
	}
	w.names[c.Name] = true
	w.columns = append(w.columns, storeColumn(p, c, n))
	w.header.columns++
	w.header.bins += uint64(len(c.Bins))
	w.open = &ColumnWriter{w: w, all: rows, name: c.Name, counts: c.VectorRows(), greatest: greatest(c), missing: uint64(c.Missing), first: w.section(secSlices).Length()}
	return w.open, nil
}

func (w *Writer) writeDictionary(t column.Type, n uint64, entries iter.Seq2[[]byte, error]) error {
	strings, i := w.section(secStrings), uint64(0)
	var before []byte
	for entry, err := range entries {
		if err != nil {
			return err
		}
		if err := checkEntry(t, i, entry, before); err != nil {
			return inputError("column %d: %v", len(w.columns), err)
		}
		if err := strings.Append(entry); err != nil {
			return err
		}
		if err := w.section(secStringOffsets).AppendUint64(strings.Length()); err != nil {
			return err
		}
		before = append(before[:0], entry...)
		i++
	}
	if i != n {
		return inputError("column %d: a dictionary of %d entries with %d", len(w.columns), n, i)
	}
	w.header.strings += n
	return nil
}

// columnSize is the bytes of the vectors and of the stored values of a column.
type columnSize struct{ vectors, values uint64 }

// ColumnSize gives the bytes of the vectors and of the stored values of column c, without the
// padding, behind the end of the column.
func (w *Writer) ColumnSize(c int) (vectors, values uint64) {
	return w.sizes[c].vectors, w.sizes[c].values
}

// Commit ends the last column, puts the file together, syncs it, renames it to its path
// and syncs the folder. After an error nothing is left behind, unless it was the sync of
// the folder that failed: then the file stands complete under its name, but may not
// outlive a loss of power.
func (w *Writer) Commit() error { return w.file.Commit(w.finish) }

// Abort removes all that was written, unless Commit has been called. It may be called
// again.
func (w *Writer) Abort() error { return w.file.Abort() }

func (w *Writer) finish() (f container.Fields, err error) {
	if err := w.endColumn(); err != nil {
		return f, err
	}
	if err := w.parts.end(); err != nil {
		return f, inputError("%v", err)
	}
	columns, err := json.Marshal(append([]storedColumn{}, w.columns...)) // [] where there are none
	if err != nil {
		return f, err
	}
	if err := w.section(secColumns).Append(columns); err != nil {
		return f, err
	}
	meta, err := json.Marshal(w.meta)
	if err != nil {
		return f, err
	}
	if err := w.section(secMeta).Append(meta); err != nil {
		return f, err
	}
	return w.header.fields(), nil
}
