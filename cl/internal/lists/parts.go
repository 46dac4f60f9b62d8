package lists

import (
	"cmp"
	"context"
	"fmt"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// maxParts is the number of parts of normal size that fit a cache. While one part is
// answered, the lists of the next one are under way.
const maxParts = 4

// Request describes the queries of a batch to the cache.
type Request struct {
	Noun    string // name of a query in errors: "query", "boolean expression"
	Queries int
	Ranked  bool // queries read frequencies too
	// Lists appends the lists of query i to dst.
	Lists func(dst []plan.Handle, i int) []plan.Handle
	Aux   *Tables // whose records get the places of the lists; may be nil
}

// partCutter cuts a batch into parts.
type partCutter struct {
	cache *Cache
	seen  []uint32 // per item: its index in the uses of the part plus one
	uses  []listcache.Use
	room  []plan.Handle
}

// part is a range of queries with the items that they use.
type part struct {
	first, end int
	uses       []listcache.Use
}

// cut cuts a batch into parts whose lists take at most a quarter of the cache, or are the
// lists of one query. The error tells that the lists of a query never fit.
func (k *partCutter) cut(r *Request) (parts []part, err error) {
	c, n := k.cache, r.Queries
	quarter := c.Items.Capacity() / maxParts
	k.uses = nil // parts keep it
	for first := 0; first < n; {
		from, bytes, end := len(k.uses), uint64(0), first
		for ; end < n; end++ {
			before := len(k.uses)
			k.room = r.Lists(k.room[:0], end)
			more := uint64(0)
			for _, h := range k.room {
				if more += k.add(h); r.Ranked && len(c.Freqs) > 0 {
					more += k.add(c.lists + h)
				}
			}
			if bytes += more; bytes <= quarter {
				continue
			}
			if end > first {
				k.undo(before, r.Ranked)
			} else if end++; !c.Items.Fits(k.uses[from:]) {
				err = c.set.Device.OutOfMemory("bringing lists in", fmt.Errorf("the lists of %s %d take %d bytes, the cache has %d in buffers of %d: %w",
					r.Noun, first, bytes, c.Items.Capacity(), c.Items.Least(), plan.ErrTooLarge))
			}
			break
		}
		for _, u := range k.uses[from:] {
			k.seen[u.Item] = 0
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{first, end, k.uses[from:len(k.uses):len(k.uses)]})
		first = end
	}
	return parts, nil
}

// add notes that a query uses an item. It returns the bytes of an item that is new to the
// part, else 0.
func (k *partCutter) add(item uint32) uint64 {
	if at := k.seen[item]; at > 0 {
		k.uses[at-1].Queries++
		return 0
	}
	k.uses = append(k.uses, listcache.Use{Item: item, Queries: 1})
	k.seen[item] = uint32(len(k.uses))
	return k.cache.Items.Bytes(item)
}

// undo removes the uses of the query in room, which were added behind the first before.
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
		if remove(h); ranked && len(k.cache.Freqs) > 0 {
			remove(k.cache.lists + h)
		}
	}
	k.uses = k.uses[:before]
}

// Each cuts a batch into parts, pins the lists of each and calls answer with its queries
// from first to end-1. It brings in the lists of the next part meanwhile, and adds the
// cost of uploads to st.
func (c *Cache) Each(ctx context.Context, r Request, st *plan.Stats, answer func(ctx context.Context, first, end int, p *Pins) error) error {
	k := c.cutters.Get().(*partCutter)
	parts, err := k.cut(&r)
	c.cutters.Put(k)
	if err != nil || len(parts) == 0 {
		return err
	}
	p, err := c.pin(ctx, r.Aux, parts[0].uses)
	if err != nil {
		return err
	}
	if len(parts) == 1 { // the caller's context, which may never end, needs no goroutine
		return finish(p, st, answer(ctx, 0, r.Queries, p))
	}
	type pinned struct {
		*Pins
		err error
	}
	ahead, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan pinned, 1)
	for i, x := range parts {
		if i+1 < len(parts) {
			go func() {
				p, err := c.pin(ahead, r.Aux, parts[i+1].uses)
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
			coming.Release()
		}
		if err = cmp.Or(err, coming.err); err != nil {
			return err
		}
		p = coming.Pins
	}
	return nil
}

// finish ends a part with the error of its answer. It returns the error of a failed upload.
func finish(p *Pins, st *plan.Stats, err error) error {
	defer p.Release()
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
