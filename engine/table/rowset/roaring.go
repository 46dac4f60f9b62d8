package rowset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

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
// contains nothing else. It checks all of it: the result is well-formed, and all its rows
// are below rows. An error names the byte. It reads no more bytes than a bitmap of rows
// can have.
func ReadRoaring(r io.Reader, rows uint32) (*roaring.Bitmap, error) {
	// A container takes most as runs of one row each; 24 bytes more do for its headers.
	limit := 16 + ((int64(rows)+1<<16-1)>>16)*(4<<15+24)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d bytes, which is what %d rows can take: %w", limit, rows, ErrRoaring)
	}
	p := parser{data: data}
	if p.bitmap(rows); p.err != nil {
		return nil, p.err
	}
	b := roaring.New()
	if _, err := b.ReadFrom(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRoaring, err)
	}
	return b, nil
}

// The parts of the portable format (github.com/RoaringBitmap/RoaringFormatSpec).
const (
	cookie       = 12347 // and the number of containers less 1 in the upper half
	cookieNoRuns = 12346 // the number of containers follows
	arrayMax     = 4096  // rows of an array; more are a bitset
	offsetsFrom  = 4     // containers from which on files with runs have offsets too
)

// parser checks bytes from the start to the end, and keeps the first error.
type parser struct {
	data []byte
	at   int
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: %s: %w", p.at, fmt.Sprintf(format, args...), ErrRoaring)
	}
}

// take gives the next n bytes, or zeros after an error.
func (p *parser) take(n int) []byte {
	if p.err == nil && n > len(p.data)-p.at {
		p.fail("%d bytes are missing", n-(len(p.data)-p.at))
	}
	if p.err != nil {
		return make([]byte, n)
	}
	p.at += n
	return p.data[p.at-n : p.at]
}

func (p *parser) bitmap(rows uint32) {
	var runs []byte // a bit a container: it is of runs
	n := int(binary.LittleEndian.Uint32(p.take(4)))
	switch {
	case n&0xffff == cookie:
		n = n>>16 + 1
		runs = p.take((n + 7) / 8)
	case n == cookieNoRuns:
		n = int(binary.LittleEndian.Uint32(p.take(4)))
	default:
		p.at = 0
		p.fail("begins with %d", n)
		return
	}
	if most := int((uint64(rows) + 1<<16 - 1) >> 16); n > most {
		p.fail("%d containers, %d rows have at most %d", n, rows, most)
		return
	}
	heads := p.take(4 * n)
	var offsets []byte
	if runs == nil || n >= offsetsFrom {
		offsets = p.take(4 * n)
	}
	before := -1 // row before the container
	for i := range n {
		if p.err != nil {
			return
		}
		first, have := int(binary.LittleEndian.Uint16(heads[4*i:]))<<16, int(binary.LittleEndian.Uint16(heads[4*i+2:]))+1
		if first <= before {
			p.fail("container %d begins at row %d, the one before ends at %d", i, first, before)
		}
		if offsets != nil && binary.LittleEndian.Uint32(offsets[4*i:]) != uint32(p.at) {
			p.fail("container %d lies at byte %d by its offset", i, binary.LittleEndian.Uint32(offsets[4*i:]))
		}
		last, got := 0, 0
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 != 0:
			last, got = p.runs()
		case have > arrayMax:
			last, got = p.bitset()
		default:
			last, got = p.array(have)
		}
		if got != have {
			p.fail("container %d has %d rows and says %d", i, got, have)
		}
		if first+last >= int(rows) {
			p.fail("container %d has row %d, there are %d", i, first+last, rows)
		}
		before = first | 0xffff
	}
	if p.err == nil && p.at < len(p.data) {
		p.fail("%d bytes behind the end", len(p.data)-p.at)
	}
}

// runs, bitset and array give the last row of a container and how many it has.
func (p *parser) runs() (last, have int) {
	last = -2
	for n := int(binary.LittleEndian.Uint16(p.take(2))); n > 0 && p.err == nil; n-- {
		run := p.take(4)
		first, more := int(binary.LittleEndian.Uint16(run)), int(binary.LittleEndian.Uint16(run[2:]))
		if first <= last+1 {
			p.fail("a run from row %d behind one to row %d", first, last)
		}
		if last = first + more; last > 0xffff {
			p.fail("a run to row %d of a container", last)
		}
		have += more + 1
	}
	return last, have
}

func (p *parser) bitset() (last, have int) {
	set := p.take(8 << 10)
	for i := 0; i < len(set); i += 8 {
		if w := binary.LittleEndian.Uint64(set[i:]); w != 0 {
			last = 8*i + 63 - bits.LeadingZeros64(w)
			have += bits.OnesCount64(w)
		}
	}
	return last, have
}

func (p *parser) array(n int) (last, have int) {
	last = -1
	for rows := p.take(2 * n); len(rows) > 0 && p.err == nil; rows = rows[2:] {
		row := int(binary.LittleEndian.Uint16(rows))
		if row <= last {
			p.fail("row %d behind row %d of a container", row, last)
		}
		last = row
	}
	return last, n
}
