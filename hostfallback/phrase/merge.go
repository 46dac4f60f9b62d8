package phrase

import (
	"cmp"
	"container/heap"
)

// merge yields the positions of all slots, ascending, equal ones by slot. It is a heap of the next positions.
type merge []upcoming

// upcoming is the next position of a slot.
type upcoming struct {
	position int64
	slot     int
	at       int // among the positions of the slot
	of       *slot
}

func newMerge(slots []slot) *merge {
	h := make(merge, 0, len(slots))
	for i := range slots {
		h = append(h, upcoming{slots[i].positions[0], i, 0, &slots[i]})
	}
	heap.Init(&h)
	return &h
}

// next removes the least position, and returns it with its slot.
func (h *merge) next() (int64, *slot) {
	top := &(*h)[0]
	position, s := top.position, top.of
	if top.at++; top.at < len(s.positions) {
		top.position = s.positions[top.at]
		heap.Fix(h, 0)
	} else {
		heap.Pop(h)
	}
	return position, s
}

// Len implements heap.Interface, as the following methods do.
func (h merge) Len() int { return len(h) }

func (h merge) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].position, h[j].position), cmp.Compare(h[i].slot, h[j].slot)) < 0
}

func (h merge) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *merge) Push(x any) { *h = append(*h, x.(upcoming)) }

func (h *merge) Pop() any {
	all := *h
	*h = all[:len(all)-1]
	return all[len(all)-1]
}
