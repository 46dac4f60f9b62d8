package listcache

import "math/bits"

// The items around which evict grows windows: the tries items of least value in each class
// of sizes, from shorter classes below the requested size on.
const (
	tries   = 4
	shorter = 1
)

// window is a sequence of neighbouring blocks of one buffer, both ends included.
type window struct {
	from, to int32
	units    uint64
	loss     float64 // value of the items in it
}

// evict frees a range of n units. It evicts the window with the least total value around the
// items of least value. If all these windows contain pinned items, it considers every window.
// It returns none if every window contains a pinned item.
func (c *Cache) evict(n uint32) int32 {
	best := window{from: none}
	for class := max(sizeClass(n)-shorter, 0); class < len(c.heaps); class++ {
		h := &c.heaps[class]
		var least [tries]uint32
		some := least[:0]
		for len(some) < tries && len(*h) > 0 {
			item := (*h)[0]
			if c.remove(item); c.pins[item] == 0 { // a pinned item returns to the heap with its last Unpin
				some = append(some, item)
			}
		}
		for _, item := range some {
			c.push(item)
			if w := c.around(c.block[item], uint64(n)); w.from != none && (best.from == none || w.loss < best.loss) {
				best = w
			}
		}
	}
	if best.from == none {
		best = c.sweep(uint64(n))
	}
	if best.from == none {
		return none
	}
	at := best.from
	for {
		last := at == best.to
		if item := c.space.blocks[at].item; item != none {
			c.stats.Evicted++
			at = c.leave(uint32(item))
		}
		if last || c.space.blocks[at].units >= n {
			return at
		}
		at = c.space.blocks[at].behind
	}
}

// loss returns the value of the item in a block, and false for a pinned item.
func (c *Cache) loss(at int32) (value float64, ok bool) {
	b := &c.space.blocks[at]
	switch {
	case b.item == none:
		return 0, true
	case c.pins[b.item] > 0:
		return 0, false
	}
	return c.values[b.item] * float64(b.units), true
}

// around grows a window of n units around a block, on the side with the lower value per unit.
// It returns a window from none if pins are in the way.
func (c *Cache) around(at int32, n uint64) window {
	blocks := c.space.blocks
	w := window{from: at, to: at}
	add := func(at int32) {
		loss, _ := c.loss(at)
		w.units += uint64(blocks[at].units)
		w.loss += loss
	}
	// side returns the value per unit of a block, and false if the window cannot grow there.
	side := func(at int32) (float64, bool) {
		if at == none {
			return 0, false
		}
		loss, ok := c.loss(at)
		return loss / float64(blocks[at].units), ok
	}
	add(at)
	for w.units < n {
		before, behind := blocks[w.from].before, blocks[w.to].behind
		x, left := side(before)
		y, right := side(behind)
		switch {
		case left && (!right || x <= y):
			w.from = before
			add(before)
		case right:
			w.to = behind
			add(behind)
		default:
			return window{from: none}
		}
	}
	for _, end := range []*int32{&w.from, &w.to} { // remove blocks that are not needed
		for w.units-uint64(blocks[*end].units) >= n {
			loss, _ := c.loss(*end)
			w.units -= uint64(blocks[*end].units)
			w.loss -= loss
			if end == &w.from {
				*end = blocks[*end].behind
			} else {
				*end = blocks[*end].before
			}
		}
	}
	return w
}

// sweep returns the window of n units with the least total value, from none if there is none.
func (c *Cache) sweep(n uint64) window {
	blocks := c.space.blocks
	best := window{from: none}
	for _, first := range c.space.first {
		w := window{from: first}
		for at := first; at != none; at = blocks[at].behind {
			loss, ok := c.loss(at)
			if !ok {
				w = window{from: blocks[at].behind}
				continue
			}
			w.to = at
			w.units += uint64(blocks[at].units)
			w.loss += loss
			for w.units-uint64(blocks[w.from].units) >= n {
				loss, _ := c.loss(w.from)
				w.units -= uint64(blocks[w.from].units)
				w.loss -= loss
				w.from = blocks[w.from].behind
			}
			if w.units >= n && (best.from == none || w.loss < best.loss) {
				best = w
			}
		}
	}
	return best
}

// heap holds the resident items of one class of sizes, the least value on top. A pinned item
// may be missing.
type heap []uint32

// sizeClass returns the class of an item of the given number of units. Items of the next
// class are four times as long.
func sizeClass(units uint32) int { return bits.Len32(units) / 2 }

func (c *Cache) push(item uint32) {
	h := &c.heaps[sizeClass(c.units[item])]
	*h = append(*h, item)
	c.up(*h, len(*h)-1)
}

func (c *Cache) remove(item uint32) {
	h := &c.heaps[sizeClass(c.units[item])]
	i, last := int(c.at[item]), len(*h)-1
	moved := (*h)[last]
	*h = (*h)[:last]
	c.at[item] = none
	if i < last {
		(*h)[i], c.at[moved] = moved, int32(i)
		c.down(*h, i)
		c.up(*h, int(c.at[moved]))
	}
}

// below reports whether x is evicted before y.
func (c *Cache) below(x, y uint32) bool {
	if c.values[x] != c.values[y] {
		return c.values[x] < c.values[y]
	}
	return x < y
}

func (c *Cache) up(h heap, i int) {
	item := h[i]
	for i > 0 {
		above := h[(i-1)/2]
		if !c.below(item, above) {
			break
		}
		h[i], c.at[above] = above, int32(i)
		i = (i - 1) / 2
	}
	h[i], c.at[item] = item, int32(i)
}

func (c *Cache) down(h heap, i int) {
	item := h[i]
	for {
		k := 2*i + 1
		if k >= len(h) {
			break
		}
		if k+1 < len(h) && c.below(h[k+1], h[k]) {
			k++
		}
		if !c.below(h[k], item) {
			break
		}
		h[i], c.at[h[k]] = h[k], int32(i)
		i = k
	}
	h[i], c.at[item] = item, int32(i)
}
