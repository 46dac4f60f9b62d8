package schedule

import "time"

// heap is a binary heap by key, then by seq. Its items know where they are, so that any
// can be removed.
type heap[T interface{ moved(heap uint8, at int) }] struct {
	id    uint8 // told to items
	items []entry[T]
}

type entry[T any] struct {
	key  time.Duration
	seq  uint64
	item T
}

func (e *entry[T]) before(o *entry[T]) bool {
	return e.key < o.key || e.key == o.key && e.seq < o.seq
}

func (h *heap[T]) push(key time.Duration, seq uint64, item T) {
	h.items = append(h.items, entry[T]{key, seq, item})
	h.up(len(h.items) - 1)
}

// remove takes out the item at i.
func (h *heap[T]) remove(i int) {
	n := len(h.items) - 1
	gone, last := h.items[i].item, h.items[n]
	h.items[n] = entry[T]{}
	h.items = h.items[:n]
	if i < n {
		h.items[i] = last
		h.fix(i)
	}
	gone.moved(h.id, -1)
}

// fix restores the order when the key at i has changed.
func (h *heap[T]) fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h *heap[T]) up(i int) {
	e := h.items[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		h.items[i].item.moved(h.id, i)
		i = parent
	}
	h.items[i] = e
	e.item.moved(h.id, i)
}

// down returns whether the item moved.
func (h *heap[T]) down(i int) bool {
	e, from := h.items[i], i
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && h.items[child+1].before(&h.items[child]) {
			child++
		}
		if !h.items[child].before(&e) {
			break
		}
		h.items[i] = h.items[child]
		h.items[i].item.moved(h.id, i)
		i = child
	}
	h.items[i] = e
	e.item.moved(h.id, i)
	return i != from
}
