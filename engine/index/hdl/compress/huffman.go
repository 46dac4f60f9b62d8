package compress

import (
	"container/heap"
	"slices"
)

// Huffman is a canonical Huffman code of bytes: shorter codes come first, codes of equal length
// in the order of their bytes. A code has at most MaxCode bits.
type Huffman struct {
	lengths [256]uint8              // by byte: length of its code in bits; 0: the byte does not occur
	codes   [256]uint16             // by byte: its code, for writers
	table   [1 << MaxCode]codeEntry // to read, by the next MaxCode bits
}

// MaxCode is the greatest length of a code, in bits.
const MaxCode = 12

// codeEntry is the first byte of a string of bits, and the length of its code; 0: no code.
type codeEntry struct{ symbol, length uint8 }

// CodeLengths gives the lengths of the best code for bytes with these counts. Counts are
// flattened until no code is longer than MaxCode.
func CodeLengths(counts [256]uint64) (lengths [256]uint8) {
	for {
		var q nodes
		for s, n := range counts {
			if n > 0 {
				q = append(q, &node{count: n, symbols: []uint8{uint8(s)}})
			}
		}
		if len(q) == 1 {
			lengths[q[0].symbols[0]] = 1
			return lengths
		}
		heap.Init(&q)
		lengths = [256]uint8{}
		for len(q) > 1 {
			a, b := heap.Pop(&q).(*node), heap.Pop(&q).(*node)
			for _, s := range append(a.symbols, b.symbols...) {
				lengths[s]++
			}
			heap.Push(&q, &node{a.count + b.count, slices.Concat(a.symbols, b.symbols)})
		}
		if slices.Max(lengths[:]) <= MaxCode {
			return lengths
		}
		for s, n := range counts {
			counts[s] = n - n/2
		}
	}
}

// NewHuffman makes the code of lengths. It returns false if no code has them.
func NewHuffman(lengths [256]uint8) (*Huffman, bool) {
	h := &Huffman{lengths: lengths}
	at := 0 // next entry of the table
	for length := uint8(1); length <= MaxCode; length++ {
		for s, n := range lengths {
			if n != length {
				continue
			}
			span := 1 << (MaxCode - length)
			if at+span > len(h.table) {
				return nil, false
			}
			h.codes[s] = uint16(at / span)
			for i := range span {
				h.table[at+i] = codeEntry{uint8(s), length}
			}
			at += span
		}
	}
	return h, slices.Max(lengths[:]) <= MaxCode
}

// Append appends the codes of src, filled to a byte by zeros.
func (h *Huffman) Append(dst, src []byte) []byte {
	bits, n := uint64(0), 0
	for _, s := range src {
		bits, n = bits<<h.lengths[s]|uint64(h.codes[s]), n+int(h.lengths[s])
		for n >= 8 {
			n -= 8
			dst = append(dst, byte(bits>>n))
		}
	}
	if n > 0 {
		dst = append(dst, byte(bits<<(8-n)))
	}
	return dst
}

// Decode appends the bytes whose codes are src; zeros behind the last may give more. It returns
// false where no code begins.
func (h *Huffman) Decode(dst, src []byte) ([]byte, bool) {
	bits, n := uint64(0), 0 // the next n bits are the upper ones of bits
	for {
		for n <= 56 && len(src) > 0 {
			bits |= uint64(src[0]) << (56 - n)
			src, n = src[1:], n+8
		}
		e := h.table[bits>>(64-MaxCode)]
		if int(e.length) > n || n == 0 {
			return dst, n < 8 // the filling
		}
		if e.length == 0 {
			return dst, false
		}
		dst = append(dst, e.symbol)
		bits <<= e.length
		n -= int(e.length)
	}
}

// node is a tree of the Huffman algorithm.
type node struct {
	count   uint64
	symbols []uint8
}

// nodes is a heap by count.
type nodes []*node

func (q nodes) Len() int { return len(q) }
func (q nodes) Less(i, j int) bool {
	return q[i].count < q[j].count || q[i].count == q[j].count && q[i].symbols[0] < q[j].symbols[0]
}
func (q nodes) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *nodes) Push(x any)   { *q = append(*q, x.(*node)) }
func (q *nodes) Pop() any {
	n := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return n
}
