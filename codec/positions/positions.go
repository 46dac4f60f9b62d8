// Package positions packs the positions of terms in documents, with random access.
//
// The occurrences of an index are the positions of all its postings: list after list, posting after posting,
// so a posting is found by the number of occurrences before it. The value of an occurrence is its position if it is
// the first one of its posting, else its distance to the occurrence before, less one.
//
// Blocks of BlockLen values are packed one behind the other in words:
//
//	+------------------------------+----------------------------------------+
//	| low bits: 4 x width words    | exceptions: ceil(count (7 + high) / 32) |
//	+------------------------------+----------------------------------------+
//
// The low bits of value i begin at bit i x width. An exception is a value of more than width bits. Its
// entry has 7 bits with the index of the value and the high bits of the value. Indexes ascend. Zeros fill the last block and the last
// word of each part.
//
// The directory has 24 bytes for each GroupLen blocks: where the first of them begins, and a shape of 16 bits each.
//
//	+--------------------------+---------+---------+-- ... --+---------+
//	| u64: word of first block | shape 0 | shape 1 |         | shape 7 |
//	+--------------------------+---------+---------+-- ... --+---------+
//
//	bit    15        8 7     5 4     0
//	      +-----------+-------+-------+
//	shape | exceptions| high  | width |     high bits of an exception = 4 (high + 1)
//	      +-----------+-------+-------+
//
// Package hdl stores both. An index of 2^32-1 documents fits.
package positions

import (
	"fmt"
	"math/bits"
	"slices"
)

const (
	// BlockLen is the number of values of a block.
	BlockLen = 128
	// GroupLen is the number of blocks of an entry of the directory.
	GroupLen = 8
	// GroupWords is the size of an entry of the directory, in words.
	GroupWords = 2 + GroupLen/2

	indexBits = 7 // bits of the index of an exception
	maxWidth  = 31
)

// shape describes a packed block.
type shape uint16

func (s shape) width() uint      { return uint(s & 31) }
func (s shape) high() uint       { return 4 * (uint(s>>5&7) + 1) }
func (s shape) exceptions() uint { return uint(s >> 8) }

// lowWords and words are the sizes of the first part of a block, and of the block, in words.
func (s shape) lowWords() int { return BlockLen / 32 * int(s.width()) }
func (s shape) words() int {
	return s.lowWords() + int((s.exceptions()*(indexBits+s.high())+31)/32)
}

// choose returns the shape of the least size.
func choose(values *[BlockLen]uint32) (best shape) {
	var counts [33]uint // by number of bits
	for _, v := range values {
		counts[bits.Len32(v)]++
	}
	most := uint(32)
	for most > 0 && counts[most] == 0 {
		most--
	}
	size, above := 1<<30, uint(0)
	for width := most; ; width-- { // above is the number of longer values
		if width <= maxWidth {
			s := shape(width | above<<8)
			if above > 0 {
				s |= shape((most-width-1)/4) << 5
			}
			if n := s.words(); n < size {
				best, size = s, n
			}
		}
		if width == 0 {
			return best
		}
		above += counts[width]
	}
}

// Writer packs values. The zero value is empty.
type Writer struct {
	pending [BlockLen]uint32
	count   uint64 // values so far
	words   uint64 // words of all blocks so far
	group   [GroupWords]uint32
	blocks  int // blocks of the group
}

// Count is the number of values so far.
func (w *Writer) Count() uint64 { return w.count }

// Append packs further values. It appends complete blocks to words, and complete entries of the directory to
// directory.
func (w *Writer) Append(words, directory, values []uint32) ([]uint32, []uint32) {
	for len(values) > 0 {
		at := int(w.count % BlockLen)
		n := copy(w.pending[at:], values)
		values = values[n:]
		if w.count += uint64(n); w.count%BlockLen == 0 {
			words, directory = w.block(words, directory)
		}
	}
	return words, directory
}

// Finish appends the last block and the last entry of the directory.
func (w *Writer) Finish(words, directory []uint32) ([]uint32, []uint32) {
	if at := w.count % BlockLen; at > 0 {
		clear(w.pending[at:])
		words, directory = w.block(words, directory)
	}
	if w.blocks > 0 {
		directory = w.endGroup(directory)
	}
	return words, directory
}

func (w *Writer) block(words, directory []uint32) ([]uint32, []uint32) {
	if w.blocks == 0 {
		w.group = [GroupWords]uint32{uint32(w.words), uint32(w.words >> 32)}
	}
	s := choose(&w.pending)
	w.group[2+w.blocks/2] |= uint32(s) << (w.blocks % 2 * 16)
	w.words += uint64(s.words())
	words = pack(words, &w.pending, s)
	if w.blocks++; w.blocks == GroupLen {
		directory = w.endGroup(directory)
	}
	return words, directory
}

func (w *Writer) endGroup(directory []uint32) []uint32 {
	w.blocks = 0
	return append(directory, w.group[:]...)
}

// pack appends a block of a shape.
func pack(words []uint32, values *[BlockLen]uint32, s shape) []uint32 {
	start, width := len(words), s.width()
	words = slices.Grow(words, s.words())[:start+s.words()]
	block := words[start:]
	clear(block)
	put := func(to []uint32, at uint, v uint64) { // v has at most 39 bits
		to[at/32] |= uint32(v << (at % 32))
		for i, rest := at/32+1, v>>(32-at%32); rest != 0; i, rest = i+1, rest>>32 {
			to[i] |= uint32(rest)
		}
	}
	rest, at := block[s.lowWords():], uint(0)
	mask := uint32(1)<<width - 1
	acc, have, out := uint64(0), uint(0), 0
	for i, v := range values {
		acc |= uint64(v&mask) << have
		if have += width; have >= 32 {
			block[out] = uint32(acc)
			out++
			acc, have = acc>>32, have-32
		}
		if v > mask {
			put(rest, at, uint64(i)|uint64(v>>width)<<indexBits)
			at += indexBits + s.high()
		}
	}
	return words
}

// Blocks is the number of blocks of a number of values, and Groups the number of entries of their directory.
func Blocks(count uint64) uint64 { return (count + BlockLen - 1) / BlockLen }

// Groups is the number of entries of the directory of a number of values.
func Groups(count uint64) uint64 { return (Blocks(count) + GroupLen - 1) / GroupLen }

// Reader reads values. It is safe for concurrent use while the words do not change.
type Reader struct {
	Words     []uint32
	Directory []uint32
	Count     uint64 // number of values
	// Check, unless it is nil, is called before the first use of words from to to-1, or of words of the directory.
	Check func(directory bool, from, to uint64) error
}

// CorruptError is damage.
type CorruptError struct {
	Block  uint64
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("positions: block %d: %s", e.Block, e.Reason)
}

// block returns the words and the shape of block k, which must be below Blocks(Count).
func (r *Reader) block(k uint64) ([]uint32, shape, error) {
	from := k / GroupLen * GroupWords
	if from+GroupWords > uint64(len(r.Directory)) {
		return nil, 0, &CorruptError{k, "behind the end of the directory"}
	}
	if r.Check != nil {
		if err := r.Check(true, from, from+GroupWords); err != nil {
			return nil, 0, err
		}
	}
	g := r.Directory[from : from+GroupWords]
	at := uint64(g[0]) | uint64(g[1])<<32
	s := shape(g[2])
	for i := range k % GroupLen {
		at += uint64(s.words())
		s = shape(g[2+(i+1)/2] >> ((i + 1) % 2 * 16))
	}
	end := at + uint64(s.words())
	if at > end || end > uint64(len(r.Words)) {
		return nil, 0, &CorruptError{k, fmt.Sprintf("words %d to %d of %d", at, end, len(r.Words))}
	}
	if s.exceptions() > BlockLen {
		return nil, 0, &CorruptError{k, fmt.Sprintf("%d exceptions", s.exceptions())}
	}
	if r.Check != nil {
		if err := r.Check(false, at, end); err != nil {
			return nil, 0, err
		}
	}
	return r.Words[at:end], s, nil
}

// Append appends n values from a number on, and decodes no neighbours. Any words give values or an error.
func (r *Reader) Append(dst []uint32, first, n uint64) ([]uint32, error) {
	c := Cursor{Reader: r}
	return c.Append(dst, first, n)
}

// Cursor reads values and remembers the last block. One goroutine at a time.
type Cursor struct {
	*Reader
	number uint64 // of the block, plus one
	block  []uint32
	shape  shape
}

// Append is Reader.Append.
func (r *Cursor) Append(dst []uint32, first, n uint64) ([]uint32, error) {
	if first > r.Count || n > r.Count-first {
		return dst, &CorruptError{first / BlockLen, fmt.Sprintf("values %d to %d of %d", first, first+n, r.Count)}
	}
	for n > 0 {
		if k := first / BlockLen; r.number != k+1 {
			block, s, err := r.Reader.block(k)
			if err != nil {
				return dst, err
			}
			r.number, r.block, r.shape = k+1, block, s
		}
		i := uint(first % BlockLen)
		end := uint(min(uint64(i)+n, BlockLen))
		dst = unpack(dst, r.block, r.shape, i, end)
		n -= uint64(end - i)
		first += uint64(end - i)
	}
	return dst, nil
}

// unpack appends the values from i to end-1 of a block.
func unpack(dst, block []uint32, s shape, i, end uint) []uint32 {
	start, width := len(dst), s.width()
	dst = slices.Grow(dst, int(end-i))[:start+int(end-i)]
	out := dst[start:]
	if width == 0 {
		clear(out)
	} else {
		low, mask := block[:s.lowWords()], uint64(1)<<width-1
		at := i * width
		for j := range out {
			w := at / 32
			v := uint64(low[w])
			if at%32+width > 32 {
				v |= uint64(low[w+1]) << 32
			}
			out[j] = uint32(v >> (at % 32) & mask)
			at += width
		}
	}
	if s.exceptions() == 0 {
		return dst
	}
	rest, size := block[s.lowWords():], indexBits+s.high()
	e, n := uint(0), s.exceptions() // e: the first exception from value i on
	for behind := n; e < behind; {
		if middle := (e + behind) / 2; uint(take(rest, middle*size, indexBits)) < i {
			e = middle + 1
		} else {
			behind = middle
		}
	}
	for ; e < n; e++ {
		v := take(rest, e*size, size)
		at := uint(v&(BlockLen-1)) - i // far behind the end for an index before i, which damage puts here
		if at >= end-i {
			break
		}
		out[at] |= uint32(v >> indexBits << width)
	}
	return dst
}

// take returns size bits, at most 39, at a bit of words.
func take(words []uint32, at, size uint) uint64 {
	w, shift := at/32, at%32
	v := uint64(words[w]) >> shift
	for have := 32 - shift; have < size; have += 32 {
		w++
		v |= uint64(words[w]) << have
	}
	return v & (1<<size - 1)
}

// Validate checks that the blocks follow one another and end with the words, that exceptions ascend within their block, and that zeros
// follow the last value.
func (r *Reader) Validate() error {
	if n := Groups(r.Count) * GroupWords; n != uint64(len(r.Directory)) {
		return &CorruptError{0, fmt.Sprintf("a directory of %d words for %d values", len(r.Directory), r.Count)}
	}
	at := uint64(0)
	for k := range Groups(r.Count) * GroupLen {
		g := r.Directory[k/GroupLen*GroupWords:]
		if k%GroupLen == 0 && uint64(g[0])|uint64(g[1])<<32 != at {
			return &CorruptError{k, fmt.Sprintf("begins at word %d, the blocks before end at %d", uint64(g[0])|uint64(g[1])<<32, at)}
		}
		if k >= Blocks(r.Count) {
			if s := shape(g[2+k%GroupLen/2] >> (k % 2 * 16)); s != 0 {
				return &CorruptError{k, "a shape behind the last block"}
			}
			continue
		}
		block, s, err := r.block(k)
		if err != nil {
			return err
		}
		if err := validate(block, s, k); err != nil {
			return err
		}
		at += uint64(len(block))
		if used := r.Count - k*BlockLen; used < BlockLen {
			for _, v := range unpack(nil, block, s, uint(used), BlockLen) {
				if v != 0 {
					return &CorruptError{k, "a value behind the last one"}
				}
			}
		}
	}
	if at != uint64(len(r.Words)) {
		return &CorruptError{Blocks(r.Count), fmt.Sprintf("the blocks end at word %d of %d", at, len(r.Words))}
	}
	return nil
}

func validate(block []uint32, s shape, k uint64) error {
	rest, size, next := block[s.lowWords():], indexBits+s.high(), uint64(0)
	for e := range s.exceptions() {
		v := take(rest, e*size, size)
		if v%BlockLen < next {
			return &CorruptError{k, "exceptions do not ascend"}
		}
		if v >= 1<<(indexBits+32-s.width()) {
			return &CorruptError{k, "an exception of more than 32 bits"}
		}
		next = v%BlockLen + 1
	}
	return nil
}
