package hdb

import (
	"sync/atomic"

	"heddle/codec/bitslice"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
)

// checker is plan.Table.Check of a file.
type checker struct {
	*File
	vectors []atomic.Uint32 // bits: the words of a vector are verified
	tiles   []atomic.Uint32 // likewise, of a tile
	first   []int           // by column: the number of its first tile
}

func newChecker(f *File) *checker {
	c := &checker{File: f, vectors: make([]atomic.Uint32, len(f.table.Vectors)/32+1)}
	n := 0
	for _, d := range f.table.Columns {
		c.first = append(c.first, n)
		n += len(d.Tiles)
	}
	c.tiles = make([]atomic.Uint32, n/32+1)
	return c
}

// Vector implements plan.Checker.
func (c *checker) Vector(v uint32) {
	bits := &c.vectors[v/32]
	if !c.sums || bits.Load()>>(v%32)&1 != 0 {
		return
	}
	d, size := c.table.Vectors[v], uint64(c.header.word/8)
	if err := c.file.Check(int(secVectors), d.Off*size, (d.Off+uint64(d.Words))*size); err != nil {
		panic(&mapped.Fault{Err: err})
	}
	bits.Or(1 << (v % 32))
}

// Tiles implements plan.Checker.
func (c *checker) Tiles(column uint32, from, end int) error {
	for i := from; i < end; i++ {
		n := c.first[column] + i
		bits := &c.tiles[n/32]
		if bits.Load()>>(n%32)&1 != 0 {
			continue
		}
		if t := &c.table.Columns[column].Tiles[i]; c.sums {
			if err := c.file.Check(int(secSlices), 4*t.Off, 4*(t.Off+uint64(t.Words))); err != nil {
				return err
			}
		}
		if err := c.checkTile(int(column), i); err != nil {
			return err
		}
		bits.Or(1 << (n % 32))
	}
	return nil
}

// checkTile checks that readers of a tile of a stored column stay in bounds.
func (f *File) checkTile(column, tile int) error {
	c := bitslice.Column{Rows: f.rows[column], Tiles: f.table.Columns[column].Tiles, Words: f.table.Slices}
	if err := c.ValidateWords(tile); err != nil {
		return f.corrupt(secSlices, 4*c.Tiles[tile].Off, "values of column %.60q: %v", f.columns[column].Name, err)
	}
	return nil
}

// CheckWords verifies the bytes of all vectors and stored values, on all cores, unless the file was opened without
// checksums, and that readers of the values stay in bounds: it must precede a copy of the words of Table, or of a List,
// to a device. It reads them once. Damage is a *CorruptError.
func (f *File) CheckWords() error {
	if f.intact.Load() {
		return nil
	}
	if f.sums {
		for _, s := range []section{secVectors, secSlices} {
			if err := f.file.CheckSection(int(s)); err != nil {
				return err
			}
		}
	}
	if err := f.checkTiles(); err != nil {
		return err
	}
	f.intact.Store(true)
	return nil
}

// checkTiles checks that readers of stored values stay in bounds.
func (f *File) checkTiles() error {
	for c := range f.columns {
		if err := container.Parallel(len(f.table.Columns[c].Tiles), func(i int) error { return f.checkTile(c, i) }); err != nil {
			return err
		}
	}
	return nil
}
