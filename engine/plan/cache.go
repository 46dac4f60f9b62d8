package plan

import "context"

// CachingBackend is a Backend that can answer from lists that do not fit its memory all at
// once.
type CachingBackend interface {
	Backend
	// LoadCached makes a store that brings lists of src in when queries ask for them, and
	// takes at most so many bytes in all, scratch included; 0 is what is free. It returns
	// ErrOutOfMemory where there is no room for scratch and some lists.
	LoadCached(ctx context.Context, src *Source, bytes uint64) (CachedStore, error)
}

// CachedStore is a Store of which some lists are resident. A batch that asks for more than
// fits is answered in parts; a query that never fits gives ErrOutOfMemory, and the store
// stays usable.
type CachedStore interface {
	Store
	// Missing is how many bytes a query over lists would bring in now; with ranked what
	// ranking takes beside them too. It is false where they never fit all at once. It
	// changes nothing, and takes well below a microsecond.
	Missing(lists []Handle, ranked bool) (bytes uint64, ok bool)
	CacheStats() CacheStats
}

// CacheStats says what a cache of lists holds and did.
type CacheStats struct {
	Capacity, Used uint64 // bytes
	Lists          int    // resident
	// Since it was made, a list of a query each:
	Hits, Misses uint64
	Evicted      uint64
	BytesIn      uint64 // brought in
}
