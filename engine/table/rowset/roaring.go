package rowset

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/wah"
)

// ToRoaring is the Roaring bitmap of a bitset, its containers the smallest ones. Its
// WriteTo writes the portable format.
func ToRoaring(set []uint64) *roaring.Bitmap {
	b := roaring.FromDense(set, true)
	b.RunOptimize()
	return b
}

// FromRoaring is the bitset of some of so many rows.
func FromRoaring(b *roaring.Bitmap, rows uint32) ([]uint64, error) {
	if err := below(b, rows); err != nil {
		return nil, err
	}
	set := make([]uint64, (uint64(rows)+1<<16-1)>>16<<10) // whole containers
	b.WriteDenseTo(set)
	return set[:wah.Bitset(uint64(rows))], nil
}

// below checks that all rows of b are below rows.
func below(b *roaring.Bitmap, rows uint32) error {
	if !b.IsEmpty() && b.Maximum() >= rows {
		return fmt.Errorf("the bitmap has row %d, there are %d", b.Maximum(), rows)
	}
	return nil
}

// ErrRoaring is the cause of errors for bytes that are no Roaring bitmap.
var ErrRoaring = errors.New("not a Roaring bitmap in the portable format")

// ReadRoaring reads a Roaring bitmap in the portable format up to the end of r, which
// contains nothing else. The result is well-formed, and all its rows are below rows. Any
// fault of the bytes is an ErrRoaring. It reads no more bytes than a bitmap of rows can
// have.
func ReadRoaring(r io.Reader, rows uint32) (*roaring.Bitmap, error) {
	// A container takes most as runs of one row each; 24 bytes more suffice for its headers.
	limit := 16 + ((int64(rows)+1<<16-1)>>16)*(4<<15+24)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes, the most for %d rows", ErrRoaring, limit, rows)
	}
	b := roaring.New()
	n, err := b.ReadFrom(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w, after byte %d of %d", ErrRoaring, err, n, len(data))
	}
	if n < int64(len(data)) {
		return nil, fmt.Errorf("%w: %d bytes behind the end at byte %d", ErrRoaring, int64(len(data))-n, n)
	}
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRoaring, err)
	}
	if err := below(b, rows); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRoaring, err)
	}
	return b, nil
}
