// Package packets holds posting lists in device memory as packets of 16 bytes, with
// components of 8 bits under one plan.Norm. The head of kernels/packets.cl describes them.
// Lists get packets on first use, as long as there is memory.
package packets

import (
	"sync"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// Range is the number of documents of a range, PACKET_RANGE of the kernels.
const Range = 1 << 13

// Bytes is the size of a packet.
const Bytes = 16

// blockHeads is BLOCK_HEADS of the kernels.
const blockHeads = 3 * Range / 64 / 16

// Place tells where the packets of a list lie.
type Place struct {
	Buffer, Off uint32 // Off in packets: first the starts of ranges
	Packets     uint32 // packets of all ranges; 0 for a list that got none
	Dense       bool
}

// Ranges is the number of ranges of so many documents.
func Ranges(docs uint32) int { return int((uint64(docs) + Range - 1) / Range) }

// Heads is the number of packets that the starts of ranges take, PACKET_HEADS of the kernels:
// two words a range and two more.
func Heads(ranges int) int { return (2*ranges + 5) / 4 }

// Dense tells whether eight postings share a packet, whose gaps have 7 bits, or, in the serial shape, lie in blocks.
func Dense(length, docs uint32) bool { return length > docs/40 }

// Fits tells whether lists of a codec can have packets: exact scores need random access.
func Fits(id codec.ID) bool {
	return id == codec.Raw || id == codec.ParaPFor || id == codec.Bitset
}

// Store holds the packets of lists under one Norm. It is safe for concurrent use, but one
// caller at a time may place lists.
type Store struct {
	Norm     plan.Norm
	Building chan struct{} // holds a token; its receiver may place lists

	memory device.ScratchMemory
	room   int // words of a buffer
	chunks [lists.MaxArenas]device.Scratch
	filled [lists.MaxArenas]int // packets

	mu     sync.RWMutex
	places map[plan.Handle]Place
}

// New makes a store without device memory. It never takes more than the given number of
// bytes, nor buffers larger than largest. In the serial shape, dense lists have blocks: see
// kernels/blocks.cl.
func New(norm plan.Norm, src *plan.Source, memory device.ScratchMemory, bytes, largest uint64, serial bool) *Store {
	need := uint64(0)
	for _, l := range src.Lists {
		if Fits(l.Codec) && l.Len > 0 {
			need += most(l.Len, src.Docs, serial)
		}
	}
	room := min(bytes/lists.MaxArenas, largest, need, 4<<32) / Bytes * 4
	s := &Store{Norm: norm, Building: make(chan struct{}, 1), memory: memory, room: int(room), places: map[plan.Handle]Place{}}
	s.Building <- struct{}{}
	return s
}

// most is the size of the packets of a list at most, in bytes.
func most(length, docs uint32, serial bool) uint64 {
	n, ranges := uint64(length), uint64(Ranges(docs))
	packets := n/4 + min(n, ranges)
	switch {
	case !Dense(length, docs):
	case serial:
		packets = n/16 + n/8 + (blockHeads+2)*ranges
	default:
		packets = n/8 + ranges + uint64(docs)/128
	}
	return Bytes * (uint64(Heads(int(ranges))) + packets)
}

// Place returns the place of a list. It is false if the list was never placed.
func (s *Store) Place(h plan.Handle) (Place, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.places[h]
	return p, ok
}

// Take takes room for so many packets. It is false without room. Undo gives it back; Put publishes the list
// that fills it.
func (s *Store) Take(packets int) (p Place, ok bool) {
	for i := range s.chunks {
		if 4*(s.filled[i]+packets) > s.room {
			continue
		}
		if s.chunks[i].Words == 0 && s.memory.Room(&s.chunks[i], s.room, 0, "packets of postings") != nil {
			return p, false
		}
		p = Place{Buffer: uint32(i), Off: uint32(s.filled[i])}
		s.filled[i] += packets
		return p, true
	}
	return p, false
}

// Filled is the state of the room, for Undo.
func (s *Store) Filled() [lists.MaxArenas]int { return s.filled }

// Undo gives room back that no list was put into.
func (s *Store) Undo(filled [lists.MaxArenas]int) { s.filled = filled }

// Put publishes the place of a list, whose packets are complete.
func (s *Store) Put(h plan.Handle, p Place) {
	s.mu.Lock()
	s.places[h] = p
	s.mu.Unlock()
}

// Buffers returns the buffers for a kernel. Unused ones repeat the first.
func (s *Store) Buffers() (all [lists.MaxArenas]*ocl.MemObject) {
	for i := range all {
		if all[i] = s.chunks[i].Buffer; all[i] == nil {
			all[i] = all[0]
		}
	}
	return all
}

// Release frees the memory. No command may use it.
func (s *Store) Release() {
	for i := range s.chunks {
		s.memory.Drop(&s.chunks[i])
	}
}
