package docset

// RunDocs is the least mean number of docIDs in a run for which a list has Runs.
const RunDocs = 2

// Run is the docIDs from First to Last.
type Run struct{ First, Last uint32 }

// Runs is a list as runs of consecutive docIDs. Runs ascend, and there is a gap between two of
// them.
type Runs []Run

// CountRuns returns the number of runs of docs.
func CountRuns(docs []uint32) int {
	n := min(len(docs), 1)
	for i := 1; i < len(docs); i++ {
		n += 1 - Equal(docs[i-1]+1, docs[i])
	}
	return n
}

// NewRuns returns the n runs of ascending docs.
func NewRuns(docs []uint32, n int) Runs {
	r := make(Runs, 0, n)
	for i, x := range docs {
		if i == 0 || x != docs[i-1]+1 {
			r = append(r, Run{x, x})
		}
		r[len(r)-1].Last = x
	}
	return r
}

// nearRuns is the number of runs that Find passes one by one before it takes greater steps.
const nearRuns = 4

// Find returns the index of the first run that does not end below x. It is likely to lie near the
// front of r.
func (r Runs) Find(x uint32) int {
	for i := range min(nearRuns, len(r)) {
		if r[i].Last >= x {
			return i
		}
	}
	from, step := min(nearRuns, len(r)), nearRuns
	for from+step < len(r) && r[from+step-1].Last < x {
		from += step
		step *= 2
	}
	for width := min(step, len(r)-from); width > 0; {
		half := (width + 1) >> 1
		from += half & Below(r[from+half-1].Last, int64(x))
		width -= half
	}
	return from
}

// Count returns the number of docIDs.
func (r Runs) Count() (n int) {
	for _, x := range r {
		n += int(x.Last-x.First) + 1
	}
	return n
}

// AppendAnd appends the runs of a AND b to r and returns the number of their docIDs. A run of the
// result may begin right behind the one before.
func (r *Runs) AppendAnd(a, b Runs) (docs int) {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		switch first, last := max(x.First, y.First), min(x.Last, y.Last); {
		case first <= last:
			*r = append(*r, Run{first, last})
			docs += int(last-first) + 1
			if last == x.Last {
				a = a[1:]
			} else {
				b = b[1:]
			}
		case x.Last < y.First:
			a = a[a.Find(y.First):]
		default:
			b = b[b.Find(x.First):]
		}
	}
	return docs
}

// CountAnd returns the number of docIDs of r AND s.
func (r Runs) CountAnd(s Runs) (docs int) {
	for len(r) > 0 && len(s) > 0 {
		x, y := r[0], s[0]
		switch first, last := max(x.First, y.First), min(x.Last, y.Last); {
		case first <= last:
			docs += int(last-first) + 1
			if last == x.Last {
				r = r[1:]
			} else {
				s = s[1:]
			}
		case x.Last < y.First:
			r = r[r.Find(y.First):]
		default:
			s = s[s.Find(x.First):]
		}
	}
	return docs
}

// Expand writes the docIDs of r to dst and returns their number. It writes eight docIDs at a time: dst
// has room for Slack more.
func (r Runs) Expand(dst []uint32) (n int) {
	for _, x := range r {
		length := int(x.Last-x.First) + 1
		expandRun(dst[n:n+inEights(length)], x.First)
		n += length
	}
	return n
}

// Or adds the docIDs from at on, up to docID last, to acc, whose first document is base, and returns
// the position of the next run. No run from at on ends below base. Only the first run may begin below base and
// only one run may end behind last, so the loop cuts no run. Most runs have few words, and a branch for a single
// word would be mispredicted.
func (r Runs) Or(acc []uint64, at int, base, last uint32) int {
	if at < len(r) && r[at].First < base && r[at].Last <= last {
		Runs{{base, r[at].Last}}.Or(acc, 0, base, last)
		at++
	}
	for ; at < len(r) && r[at].Last <= last; at++ {
		from, to := r[at].First-base, r[at].Last-base
		i, k := from/64, to/64
		head, tail := ^uint64(0)<<(from%64), ^uint64(0)>>(63-to%64)
		several := uint64((int64(i) - int64(k)) >> 63) // all bits set if there are two words or more
		acc[k] |= tail & (head | several)
		acc[i] |= head & (tail | several)
		if k > i+1 {
			setAll(acc[i+1 : k])
		}
	}
	if at < len(r) && r[at].First <= last {
		Runs{{max(r[at].First, base), last}}.Or(acc, 0, base, last)
	}
	return at
}

// ones is the bits of a chunk with all docIDs.
var ones = func() (c Chunk) {
	for i := range c {
		c[i] = ^uint64(0)
	}
	return c
}()

// longFill is the number of words from which on copying words is faster than setting them.
const longFill = 16

// setAll sets all bits.
func setAll(words []uint64) {
	for len(words) >= longFill {
		words = words[copy(words, ones[:]):]
	}
	for i := range words {
		words[i] = ^uint64(0)
	}
}

// CountFew returns the number of docIDs of r AND s. It compares each run of r with each run of s: no comparison waits
// for the result of an earlier comparison.
func (r Runs) CountFew(s Runs) (n int) {
	for _, x := range r {
		for _, y := range s {
			n += max(int(min(x.Last, y.Last))-int(max(x.First, y.First))+1, 0)
		}
	}
	return n
}
