package phrase

import (
	"fmt"
	"math"

	"heddle/codec"
)

// narrow returns the indexes of the documents that may match, of at most SegmentLen ones: all slots without alternatives have them, and they
// may be among the best by the frequencies of the first slot. If they are all documents of the first slot, it has them from a posting on, unless it
// has alternatives.
func (m *matcher) narrow(docs []uint32, posting int, all bool) (keep []uint8, err error) {
	if m.ended(len(docs)) {
		return nil, m.err
	}
	keep = m.keep[:len(docs)]
	for k := range keep {
		keep[k] = uint8(k)
	}
	for i, s := range m.order {
		if s.same != nil || len(s.cursors) > 1 {
			continue
		}
		c := s.cursors[0]
		if i > 0 || !all {
			keep, err = c.narrow(docs, keep)
		} else {
			c.from(posting)
			if m.best.full() {
				keep, err = m.narrowBest(c, posting/codec.SegmentLen, docs, keep)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("list %d: %w", c.list, err)
		}
		if len(keep) == 0 {
			break
		}
	}
	return keep, nil
}

// narrowBest keeps the documents of a segment of a list that may be among the best, by their frequencies.
func (m *matcher) narrowBest(c *cursor, segment int, docs []uint32, keep []uint8) ([]uint8, error) {
	if !m.best.admits(c.most(segment), 0) {
		return nil, nil
	}
	if err := c.load(segment); err != nil {
		return nil, err
	}
	n := 0
	for k, doc := range docs {
		if m.best.below(uint64(c.before[k+1]-c.before[k]), m.src.Lengths[doc]) {
			keep[n] = uint8(k)
			n++
		}
	}
	return keep[:n], nil
}

// frequency returns the frequency in document k of those of narrow, 0 if the phrase does not match there or cannot be among the best.
func (m *matcher) frequency(doc uint32, k uint8) (uint64, error) {
	if m.ended(len(m.slots)) {
		return 0, m.err
	}
	least := uint64(math.MaxUint64)
	for _, s := range m.order {
		if s.same != nil {
			continue // found already
		}
		if len(s.cursors) == 1 {
			c := s.cursors[0]
			c.hit(doc, k)
			if least == 1 || !m.best.full() {
				continue
			}
			if err := c.locate(); err != nil {
				return 0, fmt.Errorf("list %d: %w", c.list, err)
			}
			if c.count < least && !m.best.admits(c.count, m.src.Lengths[doc]) {
				return 0, nil
			}
			least = min(least, c.count)
			continue
		}
		found := false
		for _, c := range s.cursors {
			ok, err := c.find(doc)
			if err != nil {
				return 0, fmt.Errorf("list %d: %w", c.list, err)
			}
			found = found || ok
		}
		if !found {
			return 0, nil
		}
	}
	m.candidates++
	if m.count == nil {
		return m.exact()
	}
	for _, s := range m.order {
		if err := m.readSlot(s); err != nil {
			return 0, err
		}
	}
	return m.count(m), m.err
}
