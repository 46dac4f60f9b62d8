package lists

import (
	"heddle/cl/internal/device"
	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// CachedBytes returns the bytes of all lists and frequencies in a cache.
func CachedBytes(src *plan.Source) (n uint64) {
	for _, words := range ItemWords(src) {
		n += 4 * ((uint64(words) + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign)
	}
	return n
}

// ItemWords returns the sizes of the items of a cache: lists, then frequencies.
func ItemWords(src *plan.Source) []uint32 {
	var words, freqs []uint32
	for _, l := range src.Lists {
		words, freqs = append(words, l.Words), append(freqs, l.FreqWords)
	}
	if src.Freqs == nil {
		return words
	}
	return append(words, freqs...)
}

// CacheBuffers divides the given number of bytes into as few buffers of equal size as the
// device allows. Each has a pad at its end.
func CacheBuffers(rt *device.Runtime, postings uint64) (sizes []uint64) {
	const end = 4 * plan.ListAlign
	most := min(rt.Info.MaxAlloc, 4*plan.ListAlign*(1<<32-1)) / end * end
	n := min((postings+most-end-1)/(most-end), FilterArena)
	for range max(n, 1) {
		sizes = append(sizes, min((postings/max(n, 1)+end-1)/end*end+end, most))
	}
	return sizes
}

// Missing returns the bytes that a query over some lists would bring in now. It is false
// if the lists never fit the cache together. It waits for no other call.
func (c *Cache) Missing(postings []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	all := uint64(0)
	add := func(item uint32) {
		n := c.Items.Bytes(item)
		if all += n; !c.Items.Resident(item) {
			bytes += n
		}
	}
	for _, h := range postings {
		if add(h); ranked && len(c.Freqs) > 0 {
			add(c.lists + h)
		}
	}
	if all <= c.Items.Least() {
		return bytes, true
	}
	var uses []listcache.Use
	for _, h := range postings {
		if uses = append(uses, listcache.Use{Item: h}); ranked && len(c.Freqs) > 0 {
			uses = append(uses, listcache.Use{Item: c.lists + h})
		}
	}
	return bytes, c.Items.Fits(uses)
}

// Stats returns the counters of the cache.
func (c *Cache) Stats() plan.CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Items.Stats()
}

// Still calls f while no term record changes.
func (c *Cache) Still(f func() string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f()
}

// Idle tells whether no item is pinned, under way or waited for. For tests.
func (c *Cache) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Items.Pinned() == 0 && len(c.Coming) == 0 && !c.waiting && len(c.turn) == 1
}
