package rank

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
	// least is a lower bound: keys up to it are not among the best.
	least key
}

// open empties b for the best k keys.
func (b *best) open(k int) { b.k, b.keys, b.least = k, b.keys[:0], 0 }

// expect records that k documents have at least this score.
func (b *best) expect(score uint32) {
	if score > 0 {
		b.least = max(b.least, key(score)<<32-1)
	}
}

// add adds a key.
func (b *best) add(key key) {
	if key <= b.least {
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
		b.least = max(b.least, b.keys[b.k-1])
	}
}

// selectGreatest moves the k greatest keys to the front, the least of them to
// keys[k-1] (Hoare's quickselect, 1 <= k <= len(keys)).
func selectGreatest(keys []key, k int) {
	lo, hi := 0, len(keys)
	for hi-lo > 1 {
		// The pivot is the median of three.
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
		switch { // keys[lo:j+1] >= pivot >= keys[i:hi], and keys between the two equal the pivot
		case k <= j+1:
			hi = j + 1
		case k > i:
			lo = i
		default:
			return
		}
	}
}
