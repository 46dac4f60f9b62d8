package hdb

import (
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// checker is plan.Table.Check of a file with checksums of blocks.
type checker struct {
	*File
	intact []atomic.Uint32 // bits: the words of a vector are verified
}

func newChecker(f *File) *checker {
	return &checker{f, make([]atomic.Uint32, len(f.table.Vectors)/32+1)}
}

// Vector implements plan.Checker.
func (c *checker) Vector(v uint32) {
	bits := &c.intact[v/32]
	if bits.Load()>>(v%32)&1 != 0 {
		return
	}
	d, size := c.table.Vectors[v], uint64(c.header.word/8)
	if err := c.file.Check(int(secVectors), d.Off*size, (d.Off+uint64(d.Words))*size); err != nil {
		panic(&mapped.Fault{Err: err})
	}
	bits.Or(1 << (v % 32))
}

// Segments implements plan.Checker.
func (c *checker) Segments(column uint32, from, end int) error {
	d := c.table.Columns[column]
	for _, s := range []plan.Span{d.Low, d.High} {
		if s.Words == 0 {
			continue
		}
		if err := c.segments(s, uint64(c.rows[column]), uint64(from), uint64(end)); err != nil {
			return err
		}
	}
	return nil
}

// segments verifies the directory of segments from to end-1 of a list of the given number of rows, and their payload.
func (c *checker) segments(s plan.Span, rows, from, end uint64) error {
	check := func(from, to uint64) error { return c.file.Check(int(secPacked), 4*(s.Off+from), 4*(s.Off+to)) }
	all := (rows + codec.SegmentLen - 1) / codec.SegmentLen
	entries := 2 * min(end+1, all)
	if err := check(2*from, entries); err != nil {
		return err
	}
	words := c.table.Packed[s.Off : s.Off+s.Words]
	first, last := 2*all+uint64(words[2*from]), s.Words
	if end < all {
		last = 2*all + uint64(words[2*end])
	}
	if first > last || last > s.Words {
		return c.corrupt(secPacked, 4*(s.Off+2*from), "segments %d to %d lie in words %d to %d of %d", from, end-1, first, last, s.Words)
	}
	return check(first, last)
}

// CheckWords verifies the bytes of all vectors and stored values, on all cores: it must
// precede a copy of the words of Table, or of a List, to a device. It reads them once. Damage is a
// *CorruptError.
func (f *File) CheckWords() error {
	if f.table.Check == nil || f.intact.Load() {
		return nil
	}
	if err := f.file.CheckSection(int(secVectors)); err != nil {
		return err
	}
	if err := f.file.CheckSection(int(secPacked)); err != nil {
		return err
	}
	f.intact.Store(true)
	return nil
}
