package lookup

// runDocs is the least mean number of docIDs in each run at which Runs pays.
const runDocs = 4

// Runs is a list as runs of consecutive docIDs: run i has the docIDs from First[i] to Last[i].
// Runs ascend, and there is a gap between two of them.
type Runs struct {
	First, Last []uint32
}

// countRuns returns the number of runs of docs.
func countRuns(docs []uint32) int {
	n := min(len(docs), 1)
	for i := 1; i < len(docs); i++ {
		n += 1 - Equal(docs[i-1]+1, docs[i])
	}
	return n
}

// newRuns returns the n runs of ascending docs.
func newRuns(docs []uint32, n int) Runs {
	r := Runs{make([]uint32, 0, n), make([]uint32, 0, n)}
	for i, x := range docs {
		if i == 0 || x != docs[i-1]+1 {
			r.First, r.Last = append(r.First, x), append(r.Last, x)
		}
		r.Last[len(r.Last)-1] = x
	}
	return r
}

// Len returns the number of runs.
func (r Runs) Len() int { return len(r.First) }

// Reset removes all runs.
func (r *Runs) Reset() { r.First, r.Last = r.First[:0], r.Last[:0] }

// Part returns the runs from from to to-1.
func (r Runs) Part(from, to int) Runs { return Runs{r.First[from:to], r.Last[from:to]} }

// AppendAnd appends the runs of a AND b to r and returns the number of their docIDs. A run of the
// result may begin right behind the one before.
func (r *Runs) AppendAnd(a, b Runs) (docs int) {
	for i, k := 0, 0; i < len(a.Last) && k < len(b.Last); {
		first, last := max(a.First[i], b.First[k]), min(a.Last[i], b.Last[k])
		switch {
		case first <= last:
			r.First, r.Last = append(r.First, first), append(r.Last, last)
			docs += int(last-first) + 1
			if last == a.Last[i] {
				i++
			} else {
				k++
			}
		case a.Last[i] < b.First[k]:
			i += Gallop(a.Last[i:], b.First[k])
		default:
			k += Gallop(b.Last[k:], a.First[i])
		}
	}
	return docs
}

// Expand writes the docIDs of r to dst and returns their number. It writes eight docIDs at a time: dst
// has room for Slack more.
func (r Runs) Expand(dst []uint32) (n int) {
	last := r.Last[:len(r.First)]
	for i, x := range r.First {
		length := int(last[i]-x) + 1
		expandRun(dst[n:n+(length+Slack)&^Slack], x)
		n += length
	}
	return n
}
