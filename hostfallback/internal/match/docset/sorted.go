package docset

// LowerBound returns the index of the first of ascending docs that is not below x.
func LowerBound(docs []uint32, x uint32) int {
	at, width := 0, len(docs)
	for width > 0 {
		half := (width + 1) >> 1
		at += half & Below(docs[at+half-1], int64(x))
		width -= half
	}
	return at
}

// Gallop is LowerBound for an x that is likely to lie near the front of docs.
func Gallop(docs []uint32, x uint32) int {
	step := 1
	for step <= len(docs) && docs[step-1] < x {
		step *= 2
	}
	from := step / 2
	return from + LowerBound(docs[from:min(step, len(docs))], x)
}

// nearDocs is the number of docIDs that Near passes one by one.
const nearDocs = 4

// Near is Gallop for an x that is likely to be among the first docs.
func Near(docs []uint32, x uint32) int {
	for i := range min(nearDocs, len(docs)) {
		if docs[i] >= x {
			return i
		}
	}
	at := min(nearDocs, len(docs))
	return at + Gallop(docs[at:], x)
}

// The compiler turns an if whose result is an index into a branch. Arithmetic avoids it.

// Below is -1 if doc < x, else 0: a mask for the bitwise AND.
func Below(doc uint32, x int64) int { return int((int64(doc) - x) >> 63) }

// Equal is 1 if a == b, else 0.
func Equal(a, b uint32) int {
	if a == b {
		return 1
	}
	return 0
}
