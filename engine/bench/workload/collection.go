package workload

// Collection is a named set of posting lists.
type Collection struct {
	Name  string
	Lists [][]uint32
}

// Postings is the sum of the lengths of all lists.
func (c Collection) Postings() (n uint64) {
	for _, l := range c.Lists {
		n += uint64(len(l))
	}
	return n
}
