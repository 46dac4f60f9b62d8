package listcache

import "math/bits"

// none stands for a missing block, item or position.
const none = -1

// block is a range of a buffer, free or with one item. Blocks are numbered in space.blocks.
type block struct {
	buffer     uint32
	off, units uint32
	item       int32 // none for a free block
	// Neighbours in the buffer.
	before, behind int32
	// Neighbours in the list of free blocks of a class.
	last, next int32
}

// space divides buffers into blocks. No two free blocks are neighbours.
type space struct {
	buffers []uint32 // units
	blocks  []block
	unused  []int32 // numbers without a block
	first   []int32 // block of each buffer
	classes [classes]int32
	filled  [classes/64 + 1]uint64 // bits of the classes with free blocks
	free    uint64                 // units
}

// steps is the number of classes for each doubling of the size. Sizes below steps have one
// class each.
const (
	steps   = 16
	classes = (32-4)*steps + steps
)

// classOf returns the class of free blocks of n units. Blocks of a higher class are longer.
func classOf(n uint32) int {
	if n < steps {
		return int(n)
	}
	log := bits.Len32(n) - 1
	return (log-3)*steps + int(n>>(log-4))&(steps-1)
}

// newSpace returns free buffers of the given sizes in units.
func newSpace(buffers []uint32) *space {
	s := &space{buffers: buffers, first: make([]int32, len(buffers))}
	s.clear()
	return s
}

// clear makes each buffer one free block.
func (s *space) clear() {
	s.blocks, s.unused, s.free = s.blocks[:0], s.unused[:0], 0
	clear(s.filled[:])
	for i := range s.classes {
		s.classes[i] = none
	}
	for i, n := range s.buffers {
		s.first[i] = s.add(block{buffer: uint32(i), units: n, item: none, before: none, behind: none})
		s.link(s.first[i])
	}
}

// add stores a block and returns its number.
func (s *space) add(b block) int32 {
	if n := len(s.unused); n > 0 {
		at := s.unused[n-1]
		s.unused = s.unused[:n-1]
		s.blocks[at] = b
		return at
	}
	s.blocks = append(s.blocks, b)
	return int32(len(s.blocks) - 1)
}

// link adds a free block to its class.
func (s *space) link(at int32) {
	b := &s.blocks[at]
	if b.units == 0 {
		return // an empty buffer has no free block
	}
	c := classOf(b.units)
	b.last, b.next = none, s.classes[c]
	if b.next != none {
		s.blocks[b.next].last = at
	}
	s.classes[c] = at
	s.filled[c/64] |= 1 << (c % 64)
	s.free += uint64(b.units)
}

// unlink removes a free block from its class.
func (s *space) unlink(at int32) {
	b := &s.blocks[at]
	c := classOf(b.units)
	if b.last != none {
		s.blocks[b.last].next = b.next
	} else if s.classes[c] = b.next; b.next == none {
		s.filled[c/64] &^= 1 << (c % 64)
	}
	if b.next != none {
		s.blocks[b.next].last = b.last
	}
	s.free -= uint64(b.units)
}

// find returns a free block of at least n units, or none: the shortest block of the class of
// n, else a block of the next class with free blocks.
func (s *space) find(n uint32) int32 {
	c := classOf(n)
	best := int32(none)
	for at := s.classes[c]; at != none; at = s.blocks[at].next {
		if u := s.blocks[at].units; u >= n && (best == none || u < s.blocks[best].units) {
			best = at
		}
	}
	if best != none {
		return best
	}
	c++
	for w := c / 64; w < len(s.filled); w++ {
		set := s.filled[w]
		if w == c/64 {
			set &= ^uint64(0) << (c % 64)
		}
		if set != 0 {
			return s.classes[w*64+bits.TrailingZeros64(set)]
		}
	}
	return none
}

// take places an item at the front of a free block.
func (s *space) take(at int32, n uint32, item int32) {
	s.unlink(at)
	b := s.blocks[at]
	if rest := b.units - n; rest > 0 {
		tail := s.add(block{buffer: b.buffer, off: b.off + n, units: rest, item: none, before: at, behind: b.behind})
		if b.behind != none {
			s.blocks[b.behind].before = tail
		}
		b.behind = tail
		s.link(tail)
	}
	b.units, b.item = n, item
	s.blocks[at] = b
}

// give frees the block of an item, joins it with free neighbours, and returns the joined
// block.
func (s *space) give(at int32) int32 {
	s.blocks[at].item = none
	if behind := s.blocks[at].behind; behind != none && s.blocks[behind].item == none {
		s.unlink(behind)
		s.join(at, behind)
	}
	if before := s.blocks[at].before; before != none && s.blocks[before].item == none {
		s.unlink(before)
		s.join(before, at)
		at = before
	}
	s.link(at)
	return at
}

// join adds y, the block behind x, to x.
func (s *space) join(x, y int32) {
	b := s.blocks[y]
	s.blocks[x].units += b.units
	s.blocks[x].behind = b.behind
	if b.behind != none {
		s.blocks[b.behind].before = x
	}
	s.unused = append(s.unused, y)
}
