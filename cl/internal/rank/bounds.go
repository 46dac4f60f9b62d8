package rank

import "heddle/engine/plan"

// isWide tells whether sums of 8 bits are too coarse for query i of the batch.
func (k *coarse) isWide(c *cut, i int) bool {
	n := len(c.batch.Query(i))
	return k.pass == lostQueries || c.set.Device.Tuning.Serial || n > narrowTerms || c.batch.K > manyDocs || k.all && n > 1
}

// coarseUnits returns the units of sums of upper and of lower bounds, in units of the
// score: sums of upper bounds have 8 bits, or 16 if wide, of lower bounds 16. With all, where
// each posting of a wide sum adds each_of in coarse.cl, sums of bounds are less than that.
func coarseUnits(q []plan.Term, wide, all bool) (upper, lower uint32) {
	sum, maxUpper, maxLower := uint64(0), uint64(255), uint64(1<<16-1)
	if all {
		maxLower = (1<<16-1)/uint64(len(q)+1) - 1
	}
	if wide {
		maxUpper = maxLower
	}
	for _, t := range q {
		sum += uint64(t.Weight)
	}
	room := 255 * (maxUpper - uint64(len(q)))
	return uint32((256*sum + room - 1) / room), uint32((sum + maxLower - 1) / maxLower)
}

// upperWeight is ceil(256 weight / (255 unit)).
func upperWeight(weight, unit uint32) uint32 {
	d := 255 * uint64(unit)
	return uint32((256*uint64(weight) + d - 1) / d)
}
