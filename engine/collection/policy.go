package collection

// fanIn is the number of segments of a level that become one.
const fanIn = 5

// level is the logarithm of a number of documents to base fanIn, rounded down; 0 for none.
func level(docs uint64) (l int) {
	for ; docs >= fanIn; docs /= fanIn {
		l++
	}
	return l
}

// size is a segment as the policy sees it.
type size struct {
	docs, live uint64
}

// choose returns the segments from to to-1 that the next merge joins; from is to if there is
// nothing to merge. The package comment has the rules. Added says that the last segment has just
// been added.
func choose(all []size, added bool) (from, to int) {
	for i, s := range all {
		if s.docs > 2*s.live && len(all) > 1 || s.docs > 2*s.live && s.live > 0 {
			return i, i + 1
		}
	}
	last := len(all) - 1
	from = last
	for added && from > 0 && level(all[from-1].docs) < level(all[last].docs) {
		from--
	}
	if from < last {
		return from, last + 1
	}
	top := 0
	for _, s := range all {
		top = max(top, level(s.docs))
	}
	for l := 0; l <= top; l++ {
		from, n := 0, 0
		for i, s := range all {
			switch x := level(s.docs); {
			case x > l:
				from, n = i+1, 0
				continue
			case x == l:
				n++
			}
			if n == fanIn {
				return from, i + 1
			}
		}
	}
	return 0, 0
}
