package hostfallback

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"heddle/engine/plan"
)

// workload is a query log after Table 4 of Ao et al. 2011, the GOV data set with its T06
// queries. The proportions of 2 to 7 terms and the ratios of list lengths follow the
// paper. The shortest list has 8.6 K docIDs on average. Lists are correlated: about a quarter
// of the shortest list is in the second one.
type workload struct {
	docs    uint32
	lists   [][]uint32
	queries [][]plan.Handle // shortest list first
}

const govDocs = 1_053_372

// govWorkload makes lists with a total of about postings docIDs. Lengths lie on a geometric
// grid, and the lists of each length have the same total, after Zipf's law. Clustered lists
// are runs, as in a collection in order of URL.
func govWorkload(seed uint64, clustered bool, postings, queries int) *workload {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &workload{docs: govDocs}

	// Documents differ in their number of terms, which correlates lists. A draw from urn
	// hits a document in proportion to its weight.
	const sites = 64 // groups of neighbours with one weight, if clustered
	var urn []uint32
	weight := 0.0
	for d := range uint32(govDocs) {
		if !clustered || d%sites == 0 {
			weight = math.Exp(1.3 * r.NormFloat64())
		}
		n := int(weight)
		if r.Float64() < weight-float64(n) {
			n++
		}
		for range 1 + 2*n { // every document can be drawn
			urn = append(urn, d)
		}
	}

	const grid, shortest = 1.1, 16.0
	var byLength [][]plan.Handle
	set := make([]uint64, (govDocs+63)/64)
	steps := int(math.Log(0.8*govDocs/shortest) / math.Log(grid))
	for i := range steps + 1 {
		n := int(shortest * math.Pow(grid, float64(i)))
		copies := min(max(postings/(steps+1)/n, 1), 500)
		var same []plan.Handle
		for range copies {
			same = append(same, plan.Handle(len(w.lists)))
			w.lists = append(w.lists, drawList(r, urn, set, n, clustered))
		}
		byLength = append(byLength, same)
	}
	pick := func(n float64) plan.Handle {
		i := int(math.Round(math.Log(max(n, shortest)/shortest) / math.Log(grid)))
		same := byLength[min(i, len(byLength)-1)]
		return same[r.IntN(len(same))]
	}

	terms := []struct {
		share float64
		next  []float64 // lengths of the further lists over 8.6 K
	}{
		{16.1, []float64{7.3}},
		{24.5, []float64{4.4, 24}},
		{22.8, []float64{3.5, 11, 42}},
		{14.8, []float64{3.1, 7.5, 20, 65}},
		{8.2, []float64{2.9, 6.5, 14, 35, 85}},
		{13.6, []float64{2.8, 6, 12, 25, 50, 90}},
	}
	for len(w.queries) < queries {
		u := r.Float64() * 100
		k := 0
		for k < len(terms)-1 && u >= terms[k].share {
			u -= terms[k].share
			k++
		}
		const sigma = 1.2 // log-normal with mean 8.6 K
		n := 8600 * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
		q := []plan.Handle{pick(n)}
		for _, ratio := range terms[k].next {
			q = append(q, pick(n*ratio*math.Exp(0.4*r.NormFloat64())))
		}
		slices.SortFunc(q, func(x, y plan.Handle) int { return len(w.lists[x]) - len(w.lists[y]) })
		if q = slices.Compact(q); len(q) > 1 {
			w.queries = append(w.queries, q)
		}
	}
	return w
}

// drawList draws n distinct docIDs, in runs if clustered.
func drawList(r *rand.Rand, urn []uint32, set []uint64, n int, clustered bool) []uint32 {
	for left := n; left > 0; {
		d := urn[r.IntN(len(urn))]
		for more := true; more && left > 0 && d < govDocs; more = clustered && r.IntN(16) != 0 {
			if set[d/64]>>(d%64)&1 == 0 {
				set[d/64] |= 1 << (d % 64)
				left--
			}
			d += 1 + r.Uint32N(2)
		}
	}
	docs := make([]uint32, 0, n)
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			docs = append(docs, uint32(i*64)+uint32(bits.TrailingZeros64(word)))
		}
		set[i] = 0
	}
	return docs
}
