package workload

// collection is a set of lists.
type Collection struct {
	Name  string
	Lists [][]uint32
}

// postings of a collection.
func (c Collection) Postings() (n uint64) {
	for _, l := range c.Lists {
		n += uint64(len(l))
	}
	return n
}
