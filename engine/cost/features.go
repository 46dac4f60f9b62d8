package cost

import (
	"math"

	"heddle/engine/plan"
)

// Features is what is known of a query before it runs.
type Features struct {
	Terms            int    // lists
	Shortest, Second uint64 // lengths of the two shortest lists, in docIDs; 0 where there is none
	Sum              uint64 // of the lengths of all lists, in docIDs
	UBOC             float64
	Missing          uint64 // bytes of lists to bring in first; Of leaves it 0
}

// Of describes a query over lists of src, which ascend by length. It allocates nothing.
func Of(src *plan.Source, lists []plan.Handle) Features {
	f := Features{Terms: len(lists)}
	for i, h := range lists {
		n := uint64(src.Lists[h].Len)
		f.Sum += n
		switch i {
		case 0:
			f.Shortest = n
			continue
		case 1:
			f.Second = n
		}
		f.UBOC += math.Log2(float64(max(n, 1)))
	}
	f.UBOC *= float64(f.Shortest)
	return f
}
