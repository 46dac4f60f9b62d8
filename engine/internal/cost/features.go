package cost

import (
	"math"

	"heddle/codec"
	"heddle/engine/plan"
)

// Features describe a query before it runs. Lengths count docIDs.
type Features struct {
	Terms            int     // number of lists
	Dense            int     // number of bitsets among them, whose docIDs cost less
	Shortest, Second uint64  // lengths of the two shortest lists, 0 for a missing list
	Sum              uint64  // sum of all lengths
	Sparse           uint64  // sum of the lengths of lists that are not bitsets
	UBOC             float64 // Shortest × Σ log2 of the other lengths
	// Common is the expected number of common docIDs of independent lists:
	// Shortest × Π (length / universe) of the other lists.
	Common  float64
	Missing uint64 // bytes of lists to load first; Of leaves it 0

	// Selection is the work on a bitmap table, zero for queries on lists. Models of
	// NewSelections use nothing else.
	Selection Selection
}

// Of returns the features of a query over lists of src, in ascending order of length. It
// does not allocate.
func Of(src *plan.Source, lists []plan.Handle) Features {
	f := Features{Terms: len(lists)}
	common, product := 1.0, 1.0 // product: of lengths whose logarithms are not in UBOC yet
	for i, h := range lists {
		l := &src.Lists[h]
		n := uint64(l.Len)
		f.Sum += n
		if l.Codec == codec.Bitset {
			f.Dense++
		} else {
			f.Sparse += n
		}
		switch i {
		case 0:
			f.Shortest = n
			continue
		case 1:
			f.Second = n
		}
		common *= float64(n) / float64(src.Docs)
		if product *= float64(max(n, 1)); product > 1e290 { // another length is below 2^32
			f.UBOC, product = f.UBOC+math.Log2(product), 1
		}
	}
	f.UBOC += math.Log2(product)
	f.UBOC *= float64(f.Shortest)
	f.Common = common * float64(f.Shortest)
	return f
}

// seekSlower is the number of postings that a ranked OR passes in the time of one look-up.
const seekSlower = 8

// Restrict changes the features of a query of a kind for a filter of n of docs documents. A filter
// of few documents takes the place of the shortest list.
func (f *Features) Restrict(k Kind, n, docs uint64) {
	f.Common *= float64(n) / float64(max(docs, 1))
	switch k {
	case And, Count, RankAnd, RankAndOr:
		if n < f.Shortest {
			f.UBOC *= float64(n) / float64(f.Shortest)
			f.Second, f.Shortest = f.Shortest, n
		}
	case RankOr:
		if sought := n * uint64(f.Terms) * seekSlower; sought < f.Sum {
			f.Sparse = min(f.Sparse, sought)
			f.Shortest, f.Second, f.Sum = min(f.Shortest, n), min(f.Second, n), sought
		}
	}
}

// maxValues is the largest number of values of a metric.
const maxValues = 6

// values returns the values of a metric, followed by zeros.
func (m Metric) values(f *Features) (v [maxValues]float64) {
	switch m {
	case LOS:
		v[0] = float64(f.Shortest)
	case UBOC:
		v[0] = f.UBOC
	case UBOCT:
		v[0] = f.UBOC / float64(max(f.Shortest, 1))
	case selections:
		v = f.Selection.values()
	default:
		v = [maxValues]float64{float64(f.Shortest), float64(f.Second), float64(f.Sum), float64(f.Terms)}
	}
	return v
}

// Names returns the units of the metric's values.
func (m Metric) Names() []string {
	switch m {
	case LOS:
		return []string{"docID of the shortest list"}
	case UBOC:
		return []string{"comparison"}
	case UBOCT:
		return []string{"comparison of a thread"}
	}
	return []string{"docID of the shortest list", "docID of the second shortest list", "docID of all lists", "term"}
}

// Values appends the values of the metric to dst: one for each of Names.
func (m Metric) Values(f *Features, dst []float64) []float64 {
	v := m.values(f)
	return append(dst, v[:len(m.Names())]...)
}
