package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Algorithm is a method to intersect posting lists. The names follow the papers.
// Every algorithm gives the same result on every backend that runs it
// (Info.Algorithms). A backend without the algorithm returns ErrUnsupported.
//
// Most algorithms search the longer lists for each element of the shortest list.
// They differ in the way they narrow the search. On a compressed list the search
// runs over the skip entries or the first docIDs of blocks first.
type Algorithm uint8

const (
	// Auto is the backend's choice per batch and list. Store.Explain and
	// Store.ExplainBatch name the choice.
	Auto Algorithm = iota
	// BS is binary search (Ao et al. 2011, section 4.2).
	BS
	// IS is interpolation search in exact integers, with binary search after a
	// bounded number of steps. It suits CPUs better than GPUs (section 4.3).
	IS
	// LR is binary search in the safe range of a linear regression over the
	// whole list (section 4.3), in exact integers.
	LR
	// LRSeg is LR with a safe range for each segment of a list under one line
	// for all of it, which finds the segment.
	LRSeg
	// HS8 to HS256 are binary search in a hash bucket (section 4.4); the number
	// is the mean number of docIDs in a bucket.
	HS8
	HS16
	HS32
	HS64
	HS128
	HS256
	// PMF0 to PMF4 are parallel merge find: binary search for the elements of a
	// group by 0 to 4 levels of splitters, each level inside the sections that
	// the level above has found (Ding et al. 2009, section 7.2).
	PMF0
	PMF1
	PMF2
	PMF3
	PMF4
	// MergePath, "merge", reads both lists from front to end: merge path on
	// devices, a branchless merge on the host.
	MergePath
	// Bits probes an auxiliary bitset of each dense list (DenseRatio) and runs HS16
	// on sparse lists.
	Bits
	// Gallop is exponential search from the place of the element before.
	Gallop
	// SvS is small versus small: binary search in the rest of the list after the
	// previous element, from list to list, shortest first.
	SvS
	// SkipList descends a skip list over each longer list.
	SkipList
	// SegStep is the segment-step algorithm (Wu et al. 2010, section V).
	SegStep
	// BSLoop is binary search as textbooks have it, one search after the other, with a branch
	// for each comparison. Where BS is faster, its searches side by side gain it.
	BSLoop
	// LRSplit is LR in split lists: each segment has a line and a safe range of its own
	// (local safe ranges, Ao et al. 2011, section 4.3). Binary search finds the segment.
	LRSplit
	algorithms // how many there are
)

// DenseRatio is the least density, as 1/DenseRatio, of a list that gets an
// auxiliary bitset under Bits: at 1/128 it costs four times the raw list.
const DenseRatio = 128

// Algorithms returns all algorithms except Auto.
func Algorithms() []Algorithm {
	all := make([]Algorithm, 0, algorithms-1)
	for a := Auto + 1; a < algorithms; a++ {
		all = append(all, a)
	}
	return all
}

// Validate returns an error for a value that is no algorithm.
func (a Algorithm) Validate() error {
	if a >= algorithms {
		return fmt.Errorf("unknown algorithm %d (one of 0 to %d)", uint8(a), algorithms-1)
	}
	return nil
}

// String gives the name that command line and configuration use.
func (a Algorithm) String() string {
	switch a {
	case Auto:
		return "auto"
	case BS:
		return "bs"
	case IS:
		return "is"
	case LR:
		return "lr"
	case LRSeg:
		return "lrseg"
	case LRSplit:
		return "lrsplit"
	case MergePath:
		return "merge"
	case Bits:
		return "bits"
	case Gallop:
		return "gallop"
	case SvS:
		return "svs"
	case SkipList:
		return "skiplist"
	case SegStep:
		return "segstep"
	case BSLoop:
		return "bsloop"
	}
	if levels, ok := a.Levels(); ok {
		return fmt.Sprintf("pmf%d", levels)
	}
	if b := a.Bucket(); b != 0 {
		return fmt.Sprintf("hs%d", b)
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// Bucket is the mean number of docIDs in a bucket of an HS algorithm, 16 for Bits,
// which falls back to HS16, and 0 for every algorithm without buckets.
func (a Algorithm) Bucket() uint32 {
	switch {
	case a >= HS8 && a <= HS256:
		return 8 << (a - HS8)
	case a == Bits:
		return 16
	}
	return 0
}

// Levels is the number of levels of splitters of a PMF algorithm. The result is
// false for every algorithm without splitters.
func (a Algorithm) Levels() (int, bool) {
	return int(a) - int(PMF0), a >= PMF0 && a <= PMF4
}

// ParseAlgorithm is the inverse of String; "hs" means HS16 and "pmf" PMF3.
func ParseAlgorithm(s string) (Algorithm, error) {
	switch strings.ToLower(s) {
	case "hs":
		return HS16, nil
	case "pmf":
		return PMF3, nil
	}
	for a := Auto; a < algorithms; a++ {
		if strings.EqualFold(s, a.String()) {
			return a, nil
		}
	}
	return 0, fmt.Errorf("unknown algorithm %q (one of %s, %s)", s[:min(len(s), 100)], Auto, names(Algorithms()))
}

// names joins the names of some algorithms.
func names(some []Algorithm) string {
	text := make([]string, len(some))
	for i, a := range some {
		text[i] = a.String()
	}
	return strings.Join(text, ", ")
}

// Runs gives an error of ErrUnsupported, with the names that the backend knows,
// if a is none of its algorithms.
func (i Info) Runs(a Algorithm) error {
	if a == Auto || slices.Contains(i.Algorithms, a) {
		return nil
	}
	return fmt.Errorf("%w algorithm %s: backend %s runs %s, %s", ErrUnsupported, a, i.Kind, Auto, names(i.Algorithms))
}
