package cl

import (
	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// cachedBytes returns the bytes of all lists and frequencies in a cache.
func cachedBytes(src *plan.Source) (n uint64) {
	for _, words := range itemWords(src) {
		n += 4 * ((uint64(words) + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign)
	}
	return n
}

// itemWords returns the sizes of the items of a cache: lists, then frequencies.
func itemWords(src *plan.Source) []uint32 {
	var words, freqs []uint32
	for _, l := range src.Lists {
		words, freqs = append(words, l.Words), append(freqs, l.FreqWords)
	}
	if src.Freqs == nil {
		return words
	}
	return append(words, freqs...)
}

// cacheBuffers divides the given number of bytes into as few buffers of equal size as the
// device allows. Each has a pad at its end.
func cacheBuffers(rt *opened, lists uint64) (sizes []uint64) {
	const end = 4 * plan.ListAlign
	most := min(rt.info.MaxAlloc, 4*plan.ListAlign*(1<<32-1)) / end * end
	n := min((lists+most-end-1)/(most-end), maxArenas)
	for range max(n, 1) {
		sizes = append(sizes, min((lists/max(n, 1)+end-1)/end*end+end, most))
	}
	return sizes
}

// missing returns the bytes that a query over some lists would bring in now. It is false
// if the lists never fit the cache together. It waits for no other call.
func (c *listCache) missing(lists []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	all := uint64(0)
	add := func(item uint32) {
		n := c.items.Bytes(item)
		if all += n; !c.items.Resident(item) {
			bytes += n
		}
	}
	for _, h := range lists {
		if add(h); ranked && len(c.freqs) > 0 {
			add(c.lists + h)
		}
	}
	if all <= c.items.Least() {
		return bytes, true
	}
	var uses []listcache.Use
	for _, h := range lists {
		if uses = append(uses, listcache.Use{Item: h}); ranked && len(c.freqs) > 0 {
			uses = append(uses, listcache.Use{Item: c.lists + h})
		}
	}
	return bytes, c.items.Fits(uses)
}

// stats returns the counters of the cache.
func (c *listCache) stats() plan.CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items.Stats()
}

// still calls f while no term record changes.
func (c *listCache) still(f func() string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f()
}

// idle tells whether no item is pinned, under way or waited for. For tests.
func (c *listCache) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items.Pinned() == 0 && len(c.coming) == 0 && !c.waiting && len(c.turn) == 1
}
