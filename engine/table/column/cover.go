package column

import "heddle/engine/plan"

// Run is a run of bins, both ends included.
type Run struct{ From, To int }

// Snap gives ranges that have the same codes of bins as r, which must ascend and be
// disjoint: each begins and ends in a bin, and none goes on with the one before. Sets
// of values of the column are equal where their snapped ranges are.
func (c *Column) Snap(r []plan.CodeRange) []plan.CodeRange {
	var out []plan.CodeRange
	for _, x := range r {
		i, ok := c.Find(x.Lo)
		if i == len(c.Bins) {
			break
		}
		if !ok {
			x.Lo = c.Bins[i].Lo
		}
		j, ok := c.Find(x.Hi)
		if !ok { // the bin before the gap
			if j--; j < i {
				continue
			}
			x.Hi = c.Bins[j].Hi
		}
		if n := len(out); n > 0 && c.joins(out[n-1].Hi, x.Lo, i) {
			out[n-1].Hi = x.Hi
			continue
		}
		out = append(out, x)
	}
	return out
}

// joins reports whether no code of a bin lies between hi and lo, which is in bin i.
func (c *Column) joins(hi, lo uint64, i int) bool {
	return hi+1 == lo || lo == c.Bins[i].Lo && i > 0 && hi == c.Bins[i-1].Hi
}

// Cover gives the bins with all codes in r, and the bins with some codes in r, whose rows
// must be checked. The ranges of r must be snapped.
func (c *Column) Cover(r []plan.CodeRange) (whole, checked []Run) {
	for _, x := range r {
		i, _ := c.Find(x.Lo)
		j, _ := c.Find(x.Hi)
		if x.Lo > c.Bins[i].Lo || i == j && x.Hi < c.Bins[i].Hi {
			checked = addBin(checked, i)
			i++
		}
		partly := i <= j && x.Hi < c.Bins[j].Hi
		if partly {
			j--
		}
		if i <= j {
			whole = append(whole, Run{i, j})
		}
		if partly {
			checked = addBin(checked, j+1)
		}
	}
	return join(whole), checked
}

// addBin adds bin i, which is not below the bins of runs.
func addBin(runs []Run, i int) []Run {
	if n := len(runs); n > 0 && runs[n-1].To >= i-1 {
		runs[n-1].To = i
		return runs
	}
	return append(runs, Run{i, i})
}

// join merges adjacent runs.
func join(runs []Run) []Run {
	var out []Run
	for _, r := range runs {
		if n := len(out); n > 0 && out[n-1].To >= r.From-1 {
			out[n-1].To = r.To
			continue
		}
		out = append(out, r)
	}
	return out
}

// Union is the bins of a and of b, which have none in common.
func Union(a, b []Run) []Run {
	var all []Run
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].From < b[0].From {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return join(all)
}

// Count is the number of bins of runs.
func Count(runs []Run) int {
	n := 0
	for _, r := range runs {
		n += r.To - r.From + 1
	}
	return n
}

// Rows is the number of rows whose values lie in the bins of runs.
func (c *Column) Rows(runs []Run) uint64 {
	n := uint64(0)
	for _, r := range runs {
		for _, b := range c.Bins[r.From : r.To+1] {
			n += uint64(b.Rows)
		}
	}
	return n
}

// complement is the bins that runs have not.
func (c *Column) complement(runs []Run) []Run {
	var out []Run
	from := 0
	for _, r := range runs {
		if from < r.From {
			out = append(out, Run{from, r.From - 1})
		}
		from = r.To + 1
	}
	if from < len(c.Bins) {
		out = append(out, Run{from, len(c.Bins) - 1})
	}
	return out
}
