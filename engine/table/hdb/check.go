package hdb

import (
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
	return f.checkTiles()
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

// checkRange is the number of entries that one goroutine checks at a time.
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
