package schedule

import "time"

// heap is a priority queue by key, then by seq. Items that are pushed in this order, the
// usual case, lie in a run: pushing and removing them takes constant time. All further
// items are in a binary heap. Items know their place, so that any can be removed.
type heap[T interface{ moved(heap uint8, at int) }] struct {
	id    uint8      // argument of moved
	items []entry[T] // a binary heap; item i is at i
	run   []entry[T] // ascending, with gaps behind first; entry i is at -2-i
	first int        // index of the first entry of run that is no gap
	gaps  int        // number of gaps behind first
}

// absent is where an item is that is not in the heap.
const absent = -1

type entry[T any] struct {
	key  time.Duration
	seq  uint64 // 0 is a gap
	item T
}

func (e *entry[T]) before(o *entry[T]) bool {
	return e.key < o.key || e.key == o.key && e.seq < o.seq
}

func (h *heap[T]) len() int { return len(h.items) + len(h.run) - h.first - h.gaps }

// top returns the entry that is first. There must be one.
func (h *heap[T]) top() *entry[T] {
	if h.first == len(h.run) || len(h.items) > 0 && h.items[0].before(&h.run[h.first]) {
		return &h.items[0]
	}
	return &h.run[h.first]
}

// at returns the entry of an item that is there.
func (h *heap[T]) at(at int) *entry[T] {
	if at < absent {
		return &h.run[-2-at]
	}
	return &h.items[at]
}

// push adds an item; seq is not 0.
func (h *heap[T]) push(key time.Duration, seq uint64, item T) {
	e := entry[T]{key, seq, item}
	if n := len(h.run); n > 0 && e.before(&h.run[n-1]) {
		h.items = append(h.items, e)
		h.up(len(h.items) - 1)
		return
	}
	if len(h.run) == cap(h.run) && h.first+h.gaps > len(h.run)/2 {
		h.squeeze()
	}
	h.run = append(h.run, e)
	item.moved(h.id, -2-(len(h.run)-1))
}

// squeeze closes the gaps of the run.
func (h *heap[T]) squeeze() {
	n := 0
	for _, e := range h.run[h.first:] {
		if e.seq != 0 {
			h.run[n] = e
			e.item.moved(h.id, -2-n)
			n++
		}
	}
	clear(h.run[n:])
	h.run, h.first, h.gaps = h.run[:n], 0, 0
}

// rekey moves the item at at to where its new key belongs.
func (h *heap[T]) rekey(at int, key time.Duration) {
	e := *h.at(at)
	h.remove(at)
	h.push(key, e.seq, e.item)
}

// remove takes out the item at at.
func (h *heap[T]) remove(at int) {
	h.at(at).item.moved(h.id, absent)
	if at < absent {
		h.drop(-2 - at)
		return
	}
	n := len(h.items) - 1
	last := h.items[n]
	h.items[n] = entry[T]{}
	h.items = h.items[:n]
	if at < n {
		h.items[at] = last
		if !h.down(at) {
			h.up(at)
		}
	}
}

// drop makes entry i of the run a gap. The first and the last are none.
func (h *heap[T]) drop(i int) {
	h.run[i] = entry[T]{}
	h.gaps++
	for h.first < len(h.run) && h.run[h.first].seq == 0 {
		h.first++
		h.gaps--
	}
	for n := len(h.run); n > h.first && h.run[n-1].seq == 0; n-- {
		h.run = h.run[:n-1]
		h.gaps--
	}
	if h.first == len(h.run) {
		h.run, h.first = h.run[:0], 0
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
