package build

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"heddle/engine/file/scratch"
)

// temp is a temporary file to which bytes are appended, and from which they are read. It
// is safe for concurrent use.
type temp struct {
	*scratch.File
	mu   sync.Mutex // held to append
	size int64
}

func newTemp(dir string) (*temp, error) {
	f, err := scratch.New(dir, ".heddle-*.tmp")
	return &temp{File: f}, err
}

// append writes b and returns its place.
func (t *temp) append(b []byte) (at int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = t.size
	n, err := t.Write(b)
	t.size += int64(n)
	return at, err
}

// block writes the keys of rows as a block of the first row 0. buf is scratch.
func (t *temp) block(buf *[]byte, keys []uint64, missing []bool) (b block, err error) {
	least, greatest := uint64(math.MaxUint64), uint64(0)
	for i, k := range keys {
		if len(missing) == 0 || !missing[i] {
			least, greatest = min(least, k), max(greatest, k)
		}
	}
	*buf, b = appendBlock((*buf)[:0], keys, missing, min(least, greatest), greatest)
	b.at, err = t.append(*buf)
	return b, err
}

// block is a number of consecutive rows of a column in a temporary file: for each row
// its key minus base in width bytes; then, if some have no value, one bit per row.
type block struct {
	first   uint64 // row
	at      int64
	base    uint64 // least key
	rows    uint32
	width   uint8 // 0, 1, 2, 4 or 8
	missing bool
}

// end is the row behind the last.
func (b *block) end() uint64 { return b.first + uint64(b.rows) }

// size is the number of its bytes.
func (b *block) size() int {
	n := int(b.rows) * int(b.width)
	if b.missing {
		n += (int(b.rows) + 7) / 8
	}
	return n
}

// appendBlock appends the bytes of a block. Keys of rows with a value lie between least
// and greatest. missing may be empty.
func appendBlock(dst []byte, keys []uint64, missing []bool, least, greatest uint64) ([]byte, block) {
	b := block{base: least, rows: uint32(len(keys)), missing: len(missing) > 0}
	switch n := bits.Len64(greatest - least); {
	case n == 0:
	case n <= 8:
		b.width = 1
		for _, k := range keys {
			dst = append(dst, byte(k-least))
		}
	case n <= 16:
		b.width = 2
		for _, k := range keys {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(k-least))
		}
	case n <= 32:
		b.width = 4
		for _, k := range keys {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(k-least))
		}
	default:
		b.width = 8
		for _, k := range keys {
			dst = binary.LittleEndian.AppendUint64(dst, k-least)
		}
	}
	if b.missing {
		n := len(dst)
		dst = append(dst, make([]byte, (len(keys)+7)/8)...)
		for i, m := range missing {
			if m {
				dst[n+i/8] |= 1 << (i % 8)
			}
		}
	}
	return dst, b
}

// blockReader reads blocks of a column. It belongs to one goroutine.
type blockReader struct {
	bytes   []byte
	keys    []uint64
	missing []bool
}

// read returns the keys of a block and a flag for each row without a value, whose key is
// arbitrary; missing is nil if all rows have a value. Both are valid until the next read.
func (r *blockReader) read(file *temp, b *block) (keys []uint64, missing []bool, err error) {
	n := b.size()
	if cap(r.bytes) < n {
		r.bytes = make([]byte, n)
	}
	data := r.bytes[:n]
	if _, err := file.ReadAt(data, b.at); err != nil {
		return nil, nil, err
	}
	rows := int(b.rows)
	if cap(r.keys) < rows {
		r.keys = make([]uint64, rows)
	}
	keys = r.keys[:rows]
	switch b.width {
	case 0:
		for i := range keys {
			keys[i] = b.base
		}
	case 1:
		for i := range keys {
			keys[i] = b.base + uint64(data[i])
		}
	case 2:
		for i := range keys {
			keys[i] = b.base + uint64(binary.LittleEndian.Uint16(data[2*i:]))
		}
	case 4:
		for i := range keys {
			keys[i] = b.base + uint64(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case 8:
		for i := range keys {
			keys[i] = b.base + binary.LittleEndian.Uint64(data[8*i:])
		}
	}
	if !b.missing {
		return keys, nil, nil
	}
	r.missing = r.missing[:0]
	set := data[rows*int(b.width):]
	for i := range rows {
		r.missing = append(r.missing, set[i/8]>>(i%8)&1 != 0)
	}
	return keys, r.missing, nil
}
