package hostfallback

// rankKey orders the documents of a query: by score, equal ones by descending
// docID, so that the best document has the greatest key. Keys of one query are
// distinct, and none of a document that matches is 0.
type rankKey uint64

func makeKey(score, doc uint32) rankKey { return rankKey(score)<<32 | rankKey(^doc) }

func (k rankKey) split() (doc, score uint32) { return ^uint32(k), uint32(k >> 32) }

func (k rankKey) score() uint32 { return uint32(k >> 32) }

// best keeps the k greatest of the keys that it is given, in a buffer that is
// half as large again: when it is full the k greatest move to the front, which
// takes linear time and so constant time a key.
type best struct {
	k    int
	keys []rankKey
	// least is a key up to which none can be among the best.
	least rankKey
}

// open empties b for the best k keys.
func (b *best) open(k int) { b.k, b.keys, b.least = k, b.keys[:0], 0 }

// expect says that k documents have a score of at least that.
func (b *best) expect(score uint32) {
	if score > 0 {
		b.least = max(b.least, rankKey(score)<<32-1)
	}
}

// add takes one more key.
func (b *best) add(key rankKey) {
	if key <= b.least {
		return
	}
	if b.keys = append(b.keys, key); len(b.keys) >= b.k+b.k/2+16 {
		b.cut()
	}
}

// cut drops all but the k greatest keys.
func (b *best) cut() {
	if len(b.keys) >= b.k {
		selectGreatest(b.keys, b.k)
		b.keys = b.keys[:b.k]
		b.least = max(b.least, b.keys[b.k-1])
	}
}

// selectGreatest moves the k greatest keys to the front, the least of them to
// keys[k-1] (Hoare's quickselect, 1 <= k <= len(keys)).
func selectGreatest(keys []rankKey, k int) {
	lo, hi := 0, len(keys)
	for hi-lo > 1 {
		// The median of three as the pivot.
		a, b, c := keys[lo], keys[lo+(hi-lo)/2], keys[hi-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi-1
		for i <= j {
			for keys[i] > pivot {
				i++
			}
			for keys[j] < pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch { // keys[lo:j+1] >= pivot >= keys[i:hi], and what lies between is the pivot
		case k <= j+1:
			hi = j + 1
		case k > i:
			lo = i
		default:
			return
		}
	}
}
