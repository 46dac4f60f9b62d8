package lookup

import (
	"math"
	"math/bits"
)

// An index of runs leads from a docID to the first run that does not end before its bucket. Buckets divide the
// documents from the first docID of the list to the last one; there are two to four of them for each run, so
// that most runs of another list meet at most one run. The index has the shift from the distance of a docID to
// its bucket, and then the entries. A run behind all docIDs follows the runs of the list.
const (
	runBuckets  = 4
	leastRuns   = 4  // an index of fewer runs does not pay
	crowdedRuns = 64 // in a bucket at most: each look-up may read all of them
)

// lastRun lies behind all docIDs.
var lastRun = Run{math.MaxUint32, math.MaxUint32}

// indexShift returns the shift of the index of r.
func indexShift(r Runs) int {
	return bits.Len32((r[len(r)-1].Last - r[0].First) / uint32(runBuckets*len(r)))
}

// indexSize returns the length of the index of r, 0 for none. Runs that lie close together, far from the other
// ones, have none: a merge reads them in less time.
func indexSize(r Runs) int {
	if len(r) < leastRuns || len(r) > math.MaxUint16 {
		return 0
	}
	shift := indexShift(r)
	for i, x := range r[min(crowdedRuns, len(r)):] { // r[i] is crowdedRuns before x
		if (x.First-r[0].First)>>shift == (r[i].Last-r[0].First)>>shift {
			return 0
		}
	}
	return int((r[len(r)-1].Last-r[0].First)>>shift) + 2
}

// appendIndex appends the index of r to starts.
func appendIndex(starts []uint16, r Runs) []uint16 {
	shift := indexShift(r)
	starts = append(starts, uint16(shift))
	at := len(starts)
	for i, x := range r {
		for last := int(x.Last-r[0].First) >> shift; len(starts)-at <= last; {
			starts = append(starts, uint16(i))
		}
	}
	return starts
}
