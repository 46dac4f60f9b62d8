package plan

import "context"

// CachingBackend is a Backend that can answer from lists that do not fit its memory all at
// once.
type CachingBackend interface {
	Backend
	// LoadCached makes a store that uploads lists of src when queries first need them.
	// bytes limits its memory with scratch; 0 takes the free memory of the device.
	// It returns ErrOutOfMemory without room for scratch and some lists.
	LoadCached(ctx context.Context, src *Source, bytes uint64) (CachedStore, error)
}

// CachedStore is a Store of which some lists are resident. A batch that asks for more than
// fits is answered in parts; a query that never fits gives ErrOutOfMemory, and the store
// stays usable.
type CachedStore interface {
	Store
	// Missing is the number of bytes that a query over lists would upload now. ranked
	// includes frequencies. ok is false for lists that never fit at the same time. The
	// call changes nothing and takes well below a microsecond.
	Missing(lists []Handle, ranked bool) (bytes uint64, ok bool)
	CacheStats() CacheStats
}

// CacheStats is a snapshot of the content and the history of a list cache.
type CacheStats struct {
	Capacity, Used uint64 // bytes
	Lists          int    // number of resident lists
	// Since the cache was made; each counts one list of one query.
	Hits, Misses uint64
	Evicted      uint64
	BytesIn      uint64 // brought in
}
