package hdb

import (
	"fmt"

	"heddle/codec/bitslice"
	"heddle/engine/file/container"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// The functions below read the descriptions of columns, vectors and values. They check
// everything that keeps readers in bounds, in time and memory of the descriptions.

// readColumns reads the columns with their bins and, unless they stay in the file, their dictionaries.
func (f *File) readColumns(dictionaries bool) error {
	stored, err := decodeColumns(f.bytes(secColumns), f.header.columns)
	if err != nil {
		return f.corrupt(secColumns, 0, "%v", syntax.JSON(f.bytes(secColumns), err))
	}
	offsets := container.View[uint64](f.bytes(secStringOffsets))
	if err := f.file.CheckOffsets(int(secStringOffsets), offsets, uint64(len(f.bytes(secStrings))), MaxStringLen); err != nil {
		return err
	}
	strings := ""
	if dictionaries {
		strings = string(f.bytes(secStrings))
	}
	f.columns, f.entries = make([]column.Column, len(stored)), make([]uint64, 1, len(stored)+1)
	var known parts
	names := make(map[string]bool, len(stored))
	bin, rank, entry, vector := uint64(0), uint64(0), uint64(0), uint64(0) // before the column
	ranks := container.View[uint64](ranksOf(f.file))
	for i, s := range stored {
		bad := func(err error) error { return f.corrupt(secColumns, 0, "column %d (%.60q): %v", i, s.Name, err) }
		c := &f.columns[i]
		var part Part
		if part, *c, err = s.column(); err != nil {
			return bad(err)
		}
		if s.Bins > f.header.bins-bin || s.Strings > f.header.strings-entry {
			return bad(fmt.Errorf("%d bins and %d strings, %d and %d are left", s.Bins, s.Strings, f.header.bins-bin, f.header.strings-entry))
		}
		if left := uint64(len(ranks)) - rank; s.Ranks > left {
			return bad(fmt.Errorf("%d ranks, %d are left", s.Ranks, left))
		}
		f.readBins(c, bin, s.Bins)
		c.Ranks = append(c.Ranks, ranks[rank:][:s.Ranks]...)
		rank += s.Ranks
		rows, err := known.add(part, c, f.header.rows)
		if err != nil {
			return bad(err)
		}
		if err := f.checkBins(c, bin, rows); err != nil {
			return err
		}
		f.parts, f.rows = append(f.parts, part), append(f.rows, rows)
		if dictionaries && s.Strings > 0 {
			c.Dictionary = make([]string, s.Strings)
			for k, from := range offsets[entry:][:s.Strings] {
				c.Dictionary[k] = strings[from:offsets[entry+uint64(k)+1]]
			}
		}
		entry += s.Strings
		f.entries = append(f.entries, entry)
		if err := checkColumn(c, s.Strings); err != nil {
			return bad(err)
		}
		if names[c.Name] && !part.Behind() {
			return bad(fmt.Errorf("the name comes twice"))
		}
		names[c.Name] = true
		c.Vector = uint32(vector)
		bin += s.Bins
		if vector += uint64(c.Vectors()); vector > uint64(f.header.vectors) {
			return bad(fmt.Errorf("its vectors end at %d, the table has %d", vector, f.header.vectors))
		}
	}
	if err := known.end(); err != nil {
		return f.corrupt(secColumns, 0, "%v", err)
	}
	if rank != uint64(len(ranks)) {
		return f.corrupt(secRanks, 0, "%d ranks, the columns have %d", len(ranks), rank)
	}
	if bin != f.header.bins || entry != f.header.strings || vector != uint64(f.header.vectors) {
		return f.corrupt(secColumns, 0, "%d bins, %d strings and %d vectors, the header says %d, %d and %d",
			bin, entry, vector, f.header.bins, f.header.strings, f.header.vectors)
	}
	return nil
}

// readBins reads n bins of a column, from bin first of the section on.
func (f *File) readBins(c *column.Column, first, n uint64) {
	c.Bins = make([]column.Bin, n)
	for k := range c.Bins {
		c.Bins[k], _ = binAt(f.bytes(secBins), first+uint64(k))
	}
}

// checkBins checks the bins of a column of the given number of rows, from bin first of the section on.
func (f *File) checkBins(c *column.Column, first uint64, rows uint32) error {
	for k := range c.Bins {
		at := first + uint64(k)
		if _, upper := binAt(f.bytes(secBins), at); upper != 0 {
			return f.corrupt(secBins, at*binSize, "column %.60q: bin %d has reserved bytes that are not zero", c.Name, k)
		}
	}
	if k, err := checkBins(c, rows); err != nil {
		return f.corrupt(secBins, (first+uint64(k))*binSize, "column %.60q: %v", c.Name, err)
	}
	return nil
}

// readVectors reads the descriptors of vectors, which must lie side by side and fill
// their section.
func (f *File) readVectors() error {
	t, size := &f.table, uint64(f.header.word/8)
	end, at := uint64(len(f.bytes(secVectors))), uint64(0) // bytes
	t.Vectors = make([]plan.Vector, f.header.vectors)
	groups, next := uint32(0), 0 // groups of the column of the vector; number of the column behind it
	for i := range t.Vectors {
		for next < len(f.columns) && f.columns[next].Vector <= uint32(i) {
			groups = (&plan.Table{Rows: f.rows[next], Words64: t.Words64}).Groups()
			next++
		}
		bad := func(format string, args ...any) error {
			return f.corrupt(secVectorTable, uint64(i)*vectorSize, "vector %d "+format, append([]any{i}, args...)...)
		}
		d, upper := vectorAt(f.bytes(secVectorTable), i)
		switch {
		case upper != 0:
			return bad("has reserved bytes that are not zero")
		case d.Off != at/size:
			return bad("starts at word %d, the one before ends at %d", d.Off, at/size)
		case uint64(d.Words)*size > end-at:
			return bad("of %d words at word %d ends behind its section of %d bytes", d.Words, d.Off, end)
		case d.Words > groups || d.Words == 0 && groups > 0:
			return bad("has %d words for %d groups", d.Words, groups)
		}
		t.Vectors[i] = d
		at = container.AlignUp(at+uint64(d.Words)*size, plan.VectorAlign) // end is a multiple
	}
	if at != end {
		return f.corrupt(secVectorTable, 0, "vectors end at byte %d, their section at %d", at, end)
	}
	return nil
}

// readTiles reads the descriptors of tiles, which must lie side by side and fill their section.
func (f *File) readTiles() error {
	t, at, next := &f.table, uint64(0), 0 // words, tiles
	all := len(f.bytes(secTiles)) / tileSize
	t.Columns = make([]plan.Values, f.header.columns)
	for i := range t.Columns {
		n := bitslice.Tiles(f.rows[i])
		if n > all-next {
			return f.corrupt(secTiles, 0, "%d tiles, the columns up to %d have %d", all, i, next+n)
		}
		tiles := make([]bitslice.Tile, n)
		for k := range tiles {
			bad := func(format string, args ...any) error {
				return f.corrupt(secTiles, uint64(next)*tileSize, "column %d, tile %d: "+format, append([]any{i, k}, args...)...)
			}
			var upper uint32
			if tiles[k], upper = tileAt(f.bytes(secTiles), next); upper != 0 {
				return bad("reserved bytes that are not zero")
			}
			if tiles[k].Off != at {
				return bad("starts at word %d, the one before ends at %d", tiles[k].Off, at)
			}
			at += uint64(tiles[k].Words)
			next++
		}
		c := bitslice.Column{Rows: f.rows[i], Tiles: tiles, Words: t.Slices}
		if err := c.ValidateTiles(); err != nil {
			return f.corrupt(secTiles, uint64(next-n)*tileSize, "column %d: %v", i, err)
		}
		t.Columns[i].Tiles = tiles
	}
	if n := uint64(len(t.Slices)); at != n || next != all {
		return f.corrupt(secTiles, 0, "%d tiles end at word %d, their sections at %d and %d", next, at, all, n)
	}
	return nil
}
