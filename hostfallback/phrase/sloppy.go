package phrase

import (
	"cmp"
	"math"
	"slices"

	"heddle/engine/plan"
)

// sloppy is the state of sloppy matches. It follows SloppyPhraseMatcher of Lucene 8, also where that misses
// matches: always the slot with the least shifted position moves on.
type sloppy struct {
	moving []moving
	queue  []*moving   // ascending
	groups [][]*moving // slots with common lists, by offset
	multi  bool        // one of these has several lists
	end    int64       // greatest shifted position
}

// moving is a slot at one of its positions.
type moving struct {
	*slot
	ord      int
	position int64 // less the offset of the slot
	group    int   // -1: no other slot has its lists
	index    int   // in the group
}

// findRepeats finds the groups.
func (m *matcher) findRepeats() {
	m.moving = make([]moving, len(m.slots))
	parent := make([]int, len(m.slots)) // by slot: itself, or an earlier slot of its group
	first := map[plan.Handle]int{}      // by list: the first slot with it
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i := range m.slots {
		m.moving[i] = moving{slot: &m.slots[i], ord: i, group: -1}
		parent[i] = i
		for _, h := range m.Slots[i].Lists {
			j, ok := first[h]
			if !ok {
				first[h] = i
				continue
			}
			a, b := root(i), root(j)
			parent[max(a, b)] = min(a, b)
		}
	}
	members := make([][]int, len(m.slots)) // by root
	for i := range m.slots {
		r := root(i)
		members[r] = append(members[r], i)
	}
	for _, slots := range members {
		if len(slots) < 2 {
			continue
		}
		var group []*moving
		for _, j := range slots {
			one := &m.moving[j]
			one.group, one.index = len(m.groups), len(group)
			group = append(group, one)
			m.multi = m.multi || len(m.Slots[j].Lists) > 1
		}
		m.groups = append(m.groups, group)
	}
}

// sloppyFrequency is the sum of the weights of all matches.
func (m *matcher) sloppyFrequency() (sum uint64) {
	m.end = math.MinInt64
	for i := range m.moving {
		one := &m.moving[i]
		one.at = 0
		one.position = one.positions[0] - one.offset
	}
	if !m.advanceGroups() {
		return 0
	}
	m.queue = m.queue[:0]
	for i := range m.moving {
		m.end = max(m.end, m.moving[i].position)
		m.push(&m.moving[i])
	}
	for more := true; more; {
		length := int64(0)
		if length, more = m.match(); length <= int64(m.Distance) {
			sum += (1<<(plan.FreqBits+1)/uint64(1+length) + 1) / 2 // rounded
		}
	}
	return sum
}

// match moves to the next match, and returns its length. It returns false at the end, where the last length is the shortest one since the
// match before, or too long.
func (m *matcher) match() (length int64, more bool) {
	one := m.pop()
	length, next := m.end-one.position, m.queue[0].position
	for m.advance(one) {
		if one.group >= 0 && !m.resolve(one) {
			break
		}
		if one.position > next {
			m.push(one)
			if length <= int64(m.Distance) {
				return length, true
			}
			one = m.pop()
			length, next = m.end-one.position, m.queue[0].position
		} else {
			length = min(length, m.end-one.position)
		}
	}
	return length, false
}

func (one *moving) next() bool {
	if one.at++; one.at == len(one.positions) {
		return false
	}
	one.position = one.positions[one.at] - one.offset
	return true
}

// advance moves a slot on. It returns false at the end of the positions, and of the context.
func (m *matcher) advance(one *moving) bool {
	if m.ended(len(m.slots)) || !one.next() {
		return false
	}
	m.end = max(m.end, one.position)
	return true
}

// collide returns a slot of the group at the same position, or nil.
func (m *matcher) collide(one *moving) *moving {
	for _, other := range m.groups[one.group] {
		if other != one && other.position+other.offset == one.position+one.offset {
			return other
		}
	}
	return nil
}

// lesser is the slot that moves on after a collision.
func lesser(a, b *moving) *moving {
	if a.position < b.position || a.position == b.position && a.offset < b.offset {
		return a
	}
	return b
}

// resolve moves slots of the group of one, which has moved, until none are at the same position.
func (m *matcher) resolve(one *moving) bool {
	first, moved := one.index, map[int]bool{}
	for {
		other := m.collide(one)
		if other == nil {
			break
		}
		k := other.index
		if one = lesser(one, other); !m.advance(one) {
			return false
		}
		if k != first {
			moved[k] = true
		}
	}
	if len(moved) > 0 { // slots of the queue may have moved
		slices.SortFunc(m.queue, order)
	}
	return true
}

// advanceGroups gives the slots of each group different positions.
func (m *matcher) advanceGroups() bool {
	for _, group := range m.groups {
		if !m.multi {
			for j, one := range group {
				if one.at = j - 1; !one.next() {
					return false
				}
			}
			continue
		}
		for i := 0; i < len(group); i++ {
			one := group[i]
			for other := m.collide(one); other != nil; other = m.collide(one) {
				least := lesser(one, other)
				if !m.advance(least) {
					return false
				}
				if least.index < i {
					i--
					break
				}
			}
		}
	}
	return true
}

func order(a, b *moving) int {
	return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.offset, b.offset), cmp.Compare(a.ord, b.ord))
}

func (m *matcher) push(one *moving) {
	i, _ := slices.BinarySearchFunc(m.queue, one, order)
	m.queue = slices.Insert(m.queue, i, one)
}

func (m *matcher) pop() *moving {
	one := m.queue[0]
	m.queue = slices.Delete(m.queue, 0, 1)
	return one
}
