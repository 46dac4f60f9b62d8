package hdb

import (
	"errors"

	"heddle/codec"
	"heddle/engine/file/container"
)

// checkWords is the part of Verify that reads vectors, values and dictionaries one by one.
func (f *File) checkWords() error {
	if err := f.checkDictionaries(); err != nil {
		return err
	}
	if err := f.checkVectors(); err != nil {
		return err
	}
	return f.checkValues()
}

func (f *File) checkDictionaries() error {
	for i := range f.columns {
		c := &f.columns[i]
		err := container.ParallelRanges(f.entries[i+1]-f.entries[i], checkRange, func(lo, hi uint64) error {
			before, err := f.entry(i, max(lo, 1)-1)
			for k := lo; k < hi && err == nil; k++ {
				var entry []byte
				if entry, err = f.entry(i, k); err != nil {
					return err
				}
				if wrong := checkEntry(c.Type, k, entry, before); wrong != nil {
					err = f.corrupt(secStrings, 0, "column %.60q: %v", c.Name, wrong)
				}
				before = entry
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRange is the number of entries, and of packed segments, that one goroutine checks
// at a time.
const checkRange = 1 << 12

// checkVectors checks that words are vectors and have as many ones as their bins have
// rows.
func (f *File) checkVectors() error {
	ones := make([]uint64, 0, len(f.table.Vectors))
	of := make([]int32, 0, len(f.table.Vectors)) // columns
	for i := range f.columns {
		ones = append(ones, f.columns[i].VectorRows()...)
		for len(of) < len(ones) {
			of = append(of, int32(i))
		}
	}
	return container.Parallel(len(ones), func(i int) (err error) {
		t := f.views[of[i]]
		if v := uint32(i); t.Words64 != nil {
			err = checkVector(t.Vector64(v), t.Rows, ones[i])
		} else {
			err = checkVector(t.Vector32(v), t.Rows, ones[i])
		}
		if err != nil {
			return f.corrupt(secVectors, t.Vectors[i].Off*uint64(f.header.word/8), "vector %d: %v", i, err)
		}
		return nil
	})
}

// half is 32 bits of the codes of a column.
type half struct {
	codec.Packed
	off uint64 // where its first word lies, in words from the start of the section
}

// halves gives the lower 32 bits of the codes of column c and, where they have them, the
// upper.
func (f *File) halves(c int) ([]half, error) {
	d := f.table.Columns[c]
	low, high, err := f.views[c].Codes(uint32(c))
	if err != nil {
		return nil, f.corruptValues(c, d.Low.Off, err)
	}
	if !wide(&f.columns[c]) {
		return []half{{low, d.Low.Off}}, nil
	}
	return []half{{low, d.Low.Off}, {high, d.High.Off}}, nil
}

// checkValues decodes the stored values of all columns.
func (f *File) checkValues() error {
	type part struct {
		half
		column, lo, hi int // segments
	}
	var parts []part
	for c := range f.columns {
		halves, err := f.halves(c)
		if err != nil {
			return err
		}
		for _, h := range halves {
			for lo := 0; lo < h.Segments(); lo += checkRange {
				parts = append(parts, part{h, c, lo, min(lo+checkRange, h.Segments())})
			}
		}
	}
	return container.Parallel(len(parts), func(i int) error {
		var buf [codec.SegmentLen]uint32
		p := &parts[i]
		for s := p.lo; s < p.hi; s++ {
			if _, err := p.Decode(s, &buf); err != nil {
				return f.corruptValues(p.column, p.off, err)
			}
		}
		return nil
	})
}

// corruptValues turns an error of package codec about the words of a packed list, which
// starts at word off, into a CorruptError.
func (f *File) corruptValues(c int, off uint64, err error) error {
	reason := err.Error()
	if e := (*codec.CorruptError)(nil); errors.As(err, &e) {
		off, reason = off+uint64(e.Word), e.Reason
	}
	return f.corrupt(secPacked, 4*off, "values of column %.60q: %s", f.columns[c].Name, reason)
}
