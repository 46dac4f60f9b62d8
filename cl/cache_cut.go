package cl

import (
	"cmp"
	"context"
	"fmt"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// partCutter cuts a batch into parts.
type partCutter struct {
	cache *listCache
	seen  []uint32 // of each item: one more than its place in the uses of the part
	uses  []listcache.Use
	room  []plan.Handle
}

// cutPart is queries from one to another, and what they use.
type cutPart struct {
	first, end int
	uses       []listcache.Use
}

// cut cuts n queries into parts. what names a query, lists says what one of them asks for,
// behind what `room` holds. An error is that the lists of a query never fit.
func (k *partCutter) cut(what string, n int, ranked bool, lists func(dst []plan.Handle, i int) []plan.Handle) (parts []cutPart, err error) {
	c := k.cache
	share := c.items.Capacity() / partShare
	k.uses = nil // parts keep it
	for first := 0; first < n; {
		from, bytes, end := len(k.uses), uint64(0), first
		for ; end < n; end++ {
			before := len(k.uses)
			k.room = lists(k.room[:0], end)
			more := uint64(0)
			for _, h := range k.room {
				if more += k.add(h); ranked && len(c.freqs) > 0 {
					more += k.add(c.lists + h)
				}
			}
			if bytes += more; bytes <= share {
				continue
			}
			if end > first {
				k.undo(before, ranked)
			} else if end++; !c.items.Fits(k.uses[from:]) {
				err = c.store.backend.outOfMemory("bringing lists in", fmt.Errorf("those of %s %d take %d bytes, the cache has %d in buffers of %d: %w",
					what, first, bytes, c.items.Capacity(), c.items.Least(), plan.ErrTooLarge))
			}
			break
		}
		for _, u := range k.uses[from:] {
			k.seen[u.Item] = 0
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, cutPart{first, end, k.uses[from:len(k.uses):len(k.uses)]})
		first = end
	}
	return parts, nil
}

// add notes that a query uses an item, and gives its bytes if it is new to the part.
func (k *partCutter) add(item uint32) uint64 {
	if at := k.seen[item]; at > 0 {
		k.uses[at-1].Queries++
		return 0
	}
	k.uses = append(k.uses, listcache.Use{Item: item, Queries: 1})
	k.seen[item] = uint32(len(k.uses))
	return k.cache.items.Bytes(item)
}

// undo takes back what the query of room has added behind so many uses.
func (k *partCutter) undo(before int, ranked bool) {
	remove := func(item uint32) {
		switch at := int(k.seen[item]); {
		case at > before:
			k.seen[item] = 0
		case at > 0:
			k.uses[at-1].Queries--
		}
	}
	for _, h := range k.room {
		if remove(h); ranked && len(k.cache.freqs) > 0 {
			remove(k.cache.lists + h)
		}
	}
	k.uses = k.uses[:before]
}

// each cuts n queries into parts, pins the lists of each, and calls answer. The lists of
// the next part are pinned and brought in meanwhile.
func (s *CachedStore) each(ctx context.Context, what string, n int, ranked bool, lists func(dst []plan.Handle, i int) []plan.Handle,
	t *tables, st *plan.Stats, answer func(ctx context.Context, first, end int, p *pins) error) error {
	k := s.cache.cutters.Get().(*partCutter)
	parts, err := k.cut(what, n, ranked, lists)
	s.cache.cutters.Put(k)
	if err != nil || len(parts) == 0 {
		return err
	}
	p, err := s.cache.pin(ctx, t, parts[0].uses)
	if err != nil {
		return err
	}
	if len(parts) == 1 { // under a context that may never end: nobody need watch it
		return finish(p, st, answer(ctx, 0, n, p))
	}
	type pinned struct {
		*pins
		err error
	}
	ahead, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan pinned, 1)
	for i, x := range parts {
		if i+1 < len(parts) {
			go func() {
				p, err := s.cache.pin(ahead, t, parts[i+1].uses)
				next <- pinned{p, err}
			}()
		}
		err := finish(p, st, answer(ctx, x.first, x.end, p))
		if i+1 == len(parts) {
			return err
		}
		if err != nil {
			stop()
		}
		coming := <-next
		if err != nil && coming.err == nil {
			coming.release()
		}
		if err = cmp.Or(err, coming.err); err != nil {
			return err
		}
		p = coming.pins
	}
	return nil
}

// finish ends a part that was answered, or not, and says if one of its lists has not come.
func finish(p *pins, st *plan.Stats, err error) error {
	defer p.release()
	if err != nil {
		return err
	}
	if err := p.arrived(); err != nil {
		return err
	}
	if u := p.own; u != nil {
		st.BytesUp += u.bytes
		st.Upload += u.took
	}
	return nil
}
