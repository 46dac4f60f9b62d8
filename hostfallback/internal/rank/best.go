package rank

import (
	"math/bits"
	"slices"
)

// key orders the documents of a query by ascending score, equal scores by descending
// docID: the best document has the greatest key. Keys of one query are distinct, and the
// key of a match is not 0.
type key uint64

func makeKey(score, doc uint32) key { return key(score)<<32 | key(^doc) }

func (k key) split() (doc, score uint32) { return ^uint32(k), uint32(k >> 32) }

func (k key) score() uint32 { return uint32(k >> 32) }

// best keeps the k greatest of its keys in a buffer of about 1.5 k keys. In a full buffer
// the k greatest move to the front in linear time, which is constant time for each key.
type best struct {
	k    int
	keys []key
	// threshold is the greatest key that is known not to be among the best k; 0 at first.
	threshold key
}

// open empties b for the best k keys.
func (b *best) open(k int) { b.k, b.keys, b.threshold = k, b.keys[:0], 0 }

// raise raises the threshold: k documents have at least this score.
func (b *best) raise(score uint32) {
	if score > 0 {
		b.threshold = max(b.threshold, key(score)<<32-1)
	}
}

// add adds a key.
func (b *best) add(key key) {
	if key <= b.threshold {
		return
	}
	if b.keys = append(b.keys, key); len(b.keys) >= b.k+b.k/2+16 {
		b.cut()
	}
}

// cut drops all except the k greatest keys.
func (b *best) cut() {
	if len(b.keys) >= b.k {
		selectGreatest(b.keys, b.k)
		b.keys = b.keys[:b.k]
		b.threshold = max(b.threshold, b.keys[b.k-1])
	}
}

// selectGreatest moves the k greatest keys to the front, the least of them to
// keys[k-1] (quickselect, 1 <= k <= len(keys)).
func selectGreatest(keys []key, k int) {
	for len(keys) > 1 {
		// The pivot is the median of three. Keys from the ends would be bad pivots for keys in order.
		a, b, c := len(keys)/4, len(keys)/2, len(keys)*3/4
		pivot := max(min(keys[a], keys[b]), min(max(keys[a], keys[b]), keys[c]))
		switch pivot {
		case keys[a]:
			b = a
		case keys[c]:
			b = c
		}
		keys[0], keys[b] = pivot, keys[0]
		n, rest := 0, keys[1:]
		for i, k := range rest { // a branch would be mispredicted
			rest[i], rest[n] = rest[n], k
			_, above := bits.Sub64(uint64(pivot), uint64(k), 0)
			n += int(above)
		}
		keys[0], keys[n] = keys[n], pivot // behind the greater keys
		switch {
		case k <= n:
			keys = keys[:n]
		case k == n+1:
			return
		default:
			keys, k = keys[n+1:], k-n-1
		}
	}
}

const (
	bucketBits = 11
	fewKeys    = 96 // fewer keys take less time to sort by comparisons than by buckets
)

// appendSorted appends the keys to dst in ascending order.
func appendSorted(dst, keys []key) []key {
	if len(keys) >= fewKeys {
		return appendBuckets(dst, keys)
	}
	dst = append(dst, keys...)
	slices.Sort(dst[len(dst)-len(keys):])
	return dst
}

// appendBuckets is appendSorted for many keys. It distributes them over buckets of equal width, which hold few keys
// each: comparisons of keys in no order are mispredicted. Its array of buckets would double the stack of each short
// call, if it were part of appendSorted.
//
//go:noinline
func appendBuckets(dst, keys []key) []key {
	least, greatest := keys[0], keys[0]
	for _, k := range keys {
		least, greatest = min(least, k), max(greatest, k)
	}
	shift := max(bits.Len64(uint64(greatest-least))-bucketBits, 0) & 63
	var ends [1 << bucketBits]uint32
	for _, k := range keys {
		ends[(k-least)>>shift%(1<<bucketBits)]++
	}
	at := uint32(0)
	for i := range ends {
		ends[i], at = at, at+ends[i]
	}
	dst = slices.Grow(dst, len(keys))[:len(dst)+len(keys)]
	sorted := dst[len(dst)-len(keys):]
	for _, k := range keys {
		end := &ends[(k-least)>>shift%(1<<bucketBits)]
		sorted[*end] = k
		*end++
	}
	start := uint32(0)
	for _, end := range &ends {
		if end > start+1 {
			slices.Sort(sorted[start:end])
		}
		start = end
	}
	return dst
}
