package rowset

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/wah"
)

// sparse is how many words of a plain bitset there are at least for one of a vector that
// goes to Roaring run by run.
const sparse = 64

// VectorToRoaring is the Roaring bitmap of a compressed vector, its containers the
// smallest ones. Words that are no vector of so many rows are a wah.ErrCorrupt. Beside
// its result it takes the plain bitset, but not where the vector is far shorter.
func VectorToRoaring[W wah.Word](words []W, rows uint32) (*roaring.Bitmap, error) {
	n := wah.Bitset(uint64(rows))
	if len(words) > n/sparse {
		set := make([]uint64, n)
		if err := wah.Decompress(set, words, uint64(rows)); err != nil {
			return nil, err
		}
		return ToRoaring(set), nil
	}
	if err := wah.Validate(words, uint64(rows)); err != nil {
		return nil, err
	}
	b := roaring.New()
	for from, to := range wah.Runs(words, uint64(rows)) {
		b.AddRange(from, to)
	}
	b.RunOptimize()
	return b, nil
}

// VectorFromRoaring appends the code of the vector of so many rows to dst.
func VectorFromRoaring[W wah.Word](dst []W, b *roaring.Bitmap, rows uint32) ([]W, error) {
	if err := below(b, rows); err != nil {
		return dst, err
	}
	var v wah.Builder[W]
	for from, to := range b.Ranges() {
		v.AddRun(uint64(from), to)
	}
	return v.AppendTo(dst, uint64(rows)), nil
}

// AppendVectorIDs appends the rows of a compressed vector to dst, ascending. Words that
// are no vector of so many rows are a wah.ErrCorrupt.
func AppendVectorIDs[W wah.Word](dst []uint32, words []W, rows uint32) ([]uint32, error) {
	if err := wah.Validate(words, uint64(rows)); err != nil {
		return dst, err
	}
	for row := range wah.Rows(words, uint64(rows)) {
		dst = append(dst, uint32(row))
	}
	return dst, nil
}

// VectorFromIDs appends the code of the vector of so many rows to dst. Ids ascend.
func VectorFromIDs[W wah.Word](dst []W, ids []uint32, rows uint32) ([]W, error) {
	var v wah.Builder[W]
	for i, id := range ids {
		if id >= rows || i > 0 && id <= ids[i-1] {
			return dst, fmt.Errorf("id %d of the list is row %d, they do not ascend or there are only %d rows", i, id, rows)
		}
		v.Add(uint64(id))
	}
	return v.AppendTo(dst, uint64(rows)), nil
}
