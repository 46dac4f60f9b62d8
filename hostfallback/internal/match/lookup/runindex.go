package lookup

import (
	"math"
	"math/bits"

	"heddle/hostfallback/internal/match/docset"
)

// An index of runs leads from a docID to a run. Buckets of equal width divide the documents from the first docID
// of the list to the last docID. The bucket of docID x is (x - first docID) >> shift. There are two to four
// buckets for each run, so that most runs of another list meet at most one run. The index consists of the shift
// and of one entry for each bucket: the number of the first run that does not end before the bucket. The run
// lastRun, behind all docIDs, follows the runs of the list.
const (
	runBuckets  = 4
	leastRuns   = 4  // a list with fewer runs has no index
	crowdedRuns = 64 // greatest number of runs in a bucket: each look-up may read all of them
)

// lastRun lies behind all docIDs.
var lastRun = docset.Run{First: math.MaxUint32, Last: math.MaxUint32}

// indexShift returns the shift of the index of r.
func indexShift(r docset.Runs) int {
	return bits.Len32((r[len(r)-1].Last - r[0].First) / uint32(runBuckets*len(r)))
}

// indexSize returns the length of the index of r, 0 for none. A list with more than crowdedRuns runs in one bucket
// has no index: a merge reads its runs in less time.
func indexSize(r docset.Runs) int {
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
func appendIndex(starts []uint16, r docset.Runs) []uint16 {
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
