package hdb

import (
	"encoding/json"
	"errors"
	"os"
	"sync/atomic"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// File is an open table. All methods but Close are safe for concurrent use. Table is a
// view that ends with Close; Columns and Meta are copies. Using a File, or its Table,
// after Close is a bug of the caller, and panics or faults.
//
// Replace a table file by a rename, and never change it in place. If the file is truncated
// while it is open, or a block that is used for the first time is damaged, methods with an
// error return a *CorruptError. Readers of Table defer mapped.Catch, which turns the fault
// into the same error.
type File struct {
	file    *container.File
	header  header
	meta    Meta
	table   plan.Table      // vectors and codes of all stored columns, with the rows of the table
	columns []column.Column // all stored columns
	parts   []Part          // by stored column: the part of a column of the table that it holds
	rows    []uint32        // number of rows of each stored column
	entries []uint64        // entries of the dictionaries of all columns before each column; the last element counts all entries

	views []*plan.Table // by stored column: table, or table with the number of rows of the column
	main  plan.Table    // the columns of the table alone
	shown []column.Column
	lists map[int]*List // by number in shown

	sums   bool        // blocks are compared with their checksums
	intact atomic.Bool // CheckWords has found no damage
}

// Open maps the table file at path and checks it: header, columns, bins, dictionaries, and the
// bounds of vectors and stored values. Words of vectors and values are verified at their first
// use (plan.Table.Check); CheckWords verifies all of them, and Verify compares the values of
// single rows as well. Damage is a *CorruptError; an intact file of another format version is
// an ErrVersion. The time grows with bins, dictionaries and tiles; the memory is the size of
// bins and dictionaries, 24 bytes per vector and 32 bytes per tile of 4,096 rows.
func Open(path string) (*File, error) { return OpenIn(nil, path, false) }

// OpenValues is Open for readers of stored values: Columns have no dictionaries, whose entries Entry
// reads from the mapped file. The memory does not depend on the size of dictionaries.
func OpenValues(path string) (*File, error) { return open(nil, path, true, false) }

// OpenTrusted is Open without the checksums of the sections, so it does not read vectors
// and values at all. It still checks that everything stays in bounds: a damaged file gives
// wrong answers, not panics. It is for files that were verified since they were last moved.
func OpenTrusted(path string) (*File, error) { return OpenIn(nil, path, true) }

// OpenIn is Open, or OpenTrusted, for a file below root: see container.OpenIn.
func OpenIn(root *os.Root, path string, trusted bool) (*File, error) {
	return open(root, path, !trusted, true)
}

// OpenFormer is OpenValues for a file of version 4, for a conversion.
func OpenFormer(path string) (*File, error) { return openAs(&former, nil, path, true, false) }

func open(root *os.Root, path string, sums, dictionaries bool) (*File, error) {
	return openAs(&format, root, path, sums, dictionaries)
}

func openAs(as *container.Format, root *os.Root, path string, sums, dictionaries bool) (*File, error) {
	file, err := container.OpenIn(root, path, as)
	if err != nil {
		return nil, err
	}
	f, err := newFile(file, sums, dictionaries)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func newFile(file *container.File, sums, dictionaries bool) (f *File, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	f = &File{file: file, sums: sums}
	if f.header, err = decodeHeader(file); err != nil {
		return nil, err
	}
	if sums {
		for s := secVectorTable; int(s) < len(file.Header.Table)-1; s++ {
			if s == secSlices {
				continue
			}
			if err := file.CheckSection(int(s)); err != nil {
				return nil, err
			}
		}
	}
	if err := json.Unmarshal(f.bytes(secMeta), &f.meta); err != nil {
		return nil, f.corrupt(secMeta, 0, "%v", syntax.JSON(f.bytes(secMeta), err))
	}
	if err := f.readColumns(dictionaries); err != nil {
		return nil, err
	}
	f.table = plan.Table{Rows: f.header.rows, Slices: container.View[uint32](f.bytes(secSlices))}
	if f.header.word == 64 {
		if f.table.Words64 = container.View[uint64](f.bytes(secVectors)); f.table.Words64 == nil {
			f.table.Words64 = []uint64{} // nil would say that words have 32 bits
		}
	} else {
		f.table.Words32 = container.View[uint32](f.bytes(secVectors))
	}
	if err := f.readVectors(); err != nil {
		return nil, err
	}
	if err := f.readTiles(); err != nil {
		return nil, err
	}
	f.table.Check = newChecker(f)
	f.divide()
	if sums {
		return f, f.checkDictionaries()
	}
	return f, nil
}

func (f *File) bytes(s section) []byte { return f.file.Bytes(int(s)) }

func (f *File) corrupt(s section, at uint64, format string, args ...any) error {
	return f.file.Corrupt(int(s), at, format, args...)
}

// Close unmaps the file. No other method may run at the same time, and every TableStore
// loaded from Table must be closed before. A second Close does nothing.
func (f *File) Close() error {
	file := f.file
	*f = File{file: file}
	return file.Close()
}

// Path is the path that the file was opened by.
func (f *File) Path() string { return f.file.Path }

// Meta describes the build of the table.
func (f *File) Meta() Meta { return f.meta }

// Table is the vectors and stored values, for a backend: column i of Columns has
// Table.Columns[i], and its vectors from Column.Vector on. It is a view, valid until
// Close. Of a multi-valued column it has the rows with values alone: List has the values.
func (f *File) Table() *plan.Table { return &f.main }

// Columns describes the columns, in the order of the table. The caller must not write to
// it.
func (f *File) Columns() []column.Column { return f.shown }

// List is the values of a multi-valued column c; nil for another column.
func (f *File) List(c int) *List { return f.lists[c] }

// Entry is entry k of the dictionary of column c, of its values if it is multi-valued. It is valid
// until Close. Its reader defers mapped.Catch.
func (f *File) Entry(c int, k uint64) ([]byte, error) {
	if l := f.lists[c]; l != nil {
		c = l.stored
	}
	return f.entry(c, k)
}

// entry is entry k of the dictionary of stored column c.
func (f *File) entry(c int, k uint64) ([]byte, error) {
	first := f.entries[c]
	if n := f.entries[c+1] - first; k >= n {
		return nil, f.corrupt(secStrings, 0, "column %.60q: entry %d of a dictionary of %d", f.columns[c].Name, k, n)
	}
	offsets := container.View[uint64](f.bytes(secStringOffsets))[first+k:]
	return f.bytes(secStrings)[offsets[0]:offsets[1]], nil
}

// Rows is the number of rows.
func (f *File) Rows() uint32 { return f.header.rows }

// Word is the size of a word of the vectors, in bits: 32 or 64.
func (f *File) Word() int { return int(f.header.word) }

// Section is an entry of the section table.
type Section = container.Section

// Sections returns the section table, in the order of the file.
func (f *File) Sections() []Section { return f.file.Sections() }

// ColumnSize gives the bytes of the vectors and of the stored values of column c, without
// the padding.
func (f *File) ColumnSize(c int) (vectors, values int64) {
	stored := []int{c}
	if l := f.lists[c]; l != nil {
		stored = append(stored, l.stored, l.stored+1)
	}
	for _, c := range stored {
		col := &f.columns[c]
		for _, v := range f.table.Vectors[col.Vector:][:col.Vectors()] {
			vectors += int64(v.Words) * int64(f.header.word/8)
		}
		for _, t := range f.table.Columns[c].Tiles {
			values += 4 * int64(t.Words)
		}
	}
	return vectors, values
}

// Size is the size of the file in bytes.
func (f *File) Size() int64 { return int64(f.file.Header.Size) }

// Checksum identifies the content of the file: it is the xxHash64 of the header,
// which holds the checksums of all sections.
func (f *File) Checksum() uint64 {
	defer mapped.Unwatch(mapped.Watch())
	return f.file.Checksum()
}
