package gather

import "encoding/binary"

// arena is memory in blocks, addressed by 32 bits, that is filled, read and
// dropped as a whole. Blocks never move and never grow, so filling it copies
// nothing and wastes little. Reset keeps the blocks.
type arena struct {
	blocks [][]byte
	used   int // blocks in use; the last of them is being filled
	free   int // offset of the free bytes in it
}

// address is a place in an arena: block number and offset.
type address uint32

const (
	blockBits = 17
	blockSize = 1 << blockBits // at least the longest term
	maxBlocks = 1 << (32 - blockBits)
)

func (a *arena) reset() { a.used, a.free = 0, 0 }

// full reports that the addresses run out; room remains for one more chunk of documents.
func (a *arena) full() bool { return a.used > maxBlocks/4*3 }

// alloc gives n contiguous bytes, at most blockSize, of any content.
func (a *arena) alloc(n int) address {
	if a.used == 0 || a.free+n > blockSize {
		if a.used == len(a.blocks) {
			a.blocks = append(a.blocks, make([]byte, blockSize))
		}
		a.used++
		a.free = 0
	}
	at := address((a.used-1)<<blockBits | a.free)
	a.free += n
	return at
}

// bytes is the memory from at to the end of its block.
func (a *arena) bytes(at address) []byte {
	return a.blocks[at>>blockBits][at&(blockSize-1):]
}

// stream is a growing sequence of bytes in an arena: pieces that double in size
// up to maxPiece, each followed by the address of the next. The zero value is
// empty.
type stream struct {
	head, tail address // first byte; next byte
	left       uint16  // room in the last piece
	pieces     uint16  // number of pieces up to the first piece of maxPiece bytes
	length     uint32  // bytes so far
}

const (
	linkSize   = 4 // bytes
	firstPiece = 4 // bytes
	maxPiece   = 4<<10 - linkSize
)

// pieceSize is the size of piece i without its link: 4, 12, 28, 60, ...
func pieceSize(i uint16) int { return min(8<<min(i, 10)-linkSize, maxPiece) }

// append adds b to s.
func (a *arena) append(s *stream, b []byte) {
	s.length += uint32(len(b))
	for len(b) > 0 {
		if s.left == 0 {
			n := pieceSize(s.pieces)
			next := a.alloc(n + linkSize)
			if s.pieces == 0 {
				s.head = next
			} else {
				binary.LittleEndian.PutUint32(a.bytes(s.tail), uint32(next))
			}
			s.tail, s.left = next, uint16(n)
			s.pieces = min(s.pieces+1, 1<<15)
		}
		n := copy(a.bytes(s.tail)[:s.left], b)
		s.tail += address(n)
		s.left -= uint16(n)
		b = b[n:]
	}
}

// read appends the content of s to dst.
func (a *arena) read(dst []byte, s *stream) []byte {
	at, left := s.head, int(s.length)
	for i := uint16(0); left > 0; i = min(i+1, 1<<15) {
		size := pieceSize(i)
		b := a.bytes(at)
		dst = append(dst, b[:min(size, left)]...)
		left -= size
		if left > 0 {
			at = address(binary.LittleEndian.Uint32(b[size:]))
		}
	}
	return dst
}
