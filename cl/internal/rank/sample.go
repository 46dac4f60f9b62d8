package rank

// sample chooses the ranges of the sample so that the work on them and on the documents that
// they let through balance, and that they leave eight sums for each document asked for.
func (k *coarse) sample(c *cut, ranges int) {
	wanted := 8 * c.batch.K
	every := 8
	if k.pass == lostQueries {
		every = 1
	} else if c.batch.K > manyDocs {
		every = 2
	}
	k.every = max(min(every, ranges*coarseCells/wanted), 1)
	k.sampled = (ranges + k.every - 1) / k.every
	// Fewer sums than 16 lose documents that lie together, as a topic's do.
	for k.cells = 16; k.cells > 2 && k.sampled*k.cells > max(manyCells, wanted); k.cells /= 2 {
	}
	for ; k.cells < coarseCells && k.sampled*k.cells < wanted; k.cells *= 2 {
	}
	if c.set.Device.Tuning.Serial {
		k.sampled, k.cells = 0, 0 // there is no sample
	}
	k.found = coarseFound
	if c.batch.K > manyDocs {
		k.found = manyFound
	}
	docs := int(c.set.Src.Docs)
	k.found = min(max(coarseKeys, min(k.found, c.shape.keys/coarseRound)), docs, c.shape.keys)
	k.capacity = max(min(max(coarseKeys, wanted*k.every), docs+c.batch.K+2, c.shape.keys)&^1, 2)
}

// serialGroups is the number of work-groups of a query in the serial shape: as few as keep all cores busy, because
// each one has a threshold of its own. Only one group alone drops documents found.
func (x *slot) serialGroups(k *coarse) int {
	if k.pass == lostQueries {
		return 1
	}
	groups, queries := min(2*x.Device.Info.ComputeUnits, leastGroups(x.Device.Tuning)), len(k.queries)
	return max(1, (groups+queries-1)/queries) // a driver may report no compute units
}
