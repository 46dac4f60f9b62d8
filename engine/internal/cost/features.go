package cost

import (
	"math"

	"heddle/codec"
	"heddle/engine/plan"
)

// Features is what is known of a query before it runs. Lengths are in docIDs.
type Features struct {
	Terms            int     // lists
	Dense            int     // of them bitsets, whose docIDs cost less
	Shortest, Second uint64  // lengths of the two shortest lists; 0 where there is none
	Sum              uint64  // of all lengths
	Sparse           uint64  // of the lengths of lists that are no bitsets
	UBOC             float64 // Shortest × Σ log2 of the other lengths
	// Common is how many docIDs all lists would have, if having one said nothing of having
	// another: Shortest × Π (length / universe) of the others.
	Common  float64
	Missing uint64 // bytes of lists to bring in first; Of leaves it 0

	// Selection is the work on a bitmap table, zero for queries on lists. Models of
	// NewSelections use nothing else.
	Selection Selection
}

// Of describes a query over lists of src, which ascend by length. It allocates nothing.
func Of(src *plan.Source, lists []plan.Handle) Features {
	f := Features{Terms: len(lists)}
	common := 1.0
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
		f.UBOC += math.Log2(float64(max(n, 1)))
		common *= float64(n) / float64(src.Docs)
	}
	f.UBOC *= float64(f.Shortest)
	f.Common = common * float64(f.Shortest)
	return f
}

// maxValues is how many values a metric has at most.
const maxValues = 6

// values are those of a metric, zero behind them.
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

// Names says what the values of the metric count.
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

// Values appends those of the metric to dst, as many as it has Names.
func (m Metric) Values(f *Features, dst []float64) []float64 {
	v := m.values(f)
	return append(dst, v[:len(m.Names())]...)
}
