package cl

import (
	"cmp"
	"fmt"

	"heddle/engine/plan"
)

// Limits of a round of ranked queries.
const (
	rankTerms   = 1 << 16
	rankQueries = 1 << 13
	rankBest    = 1 << 23 // documents that come back
	rankGroups  = 1 << 30 // work-groups of a launch
	rankUpload  = 4 * (1 + 5*rankTerms + rankQueries)
	listUnits   = 3 // uint4 per list in the upload
	termUnits   = 2 // uint4 per term
	rankSpan    = 8 // RANK_SPAN: ranges of a group of accumulate at most
)

// rankSlots is the number of batches under way.
func rankSlots(t Tuning) int { return min(t.Slots, 2) }

// rangeLen is the number of documents of a range, RANK_RANGE of the kernels.
func rangeLen(t Tuning) int { return cmp.Or(t.RankRange, 4096) }

// andRangeLen is the number of documents of a range of ranked AND: few of them are in the
// shortest list of a query.
func andRangeLen(t Tuning) int { return 4 * rangeLen(t) }

// rankLocal is the work-group size of accumulate and rank_and.
func rankLocal(t Tuning) int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.RankWG, 128)
}

// rankMemory is the local memory of a work-group at most, in bytes.
func rankMemory(t Tuning) int {
	return max(4*(rangeLen(t)+64*(3+rankSpan)+128+1), 4*runLen)
}

// rankShape is the memory that a slot may use.
type rankShape struct {
	postings int // of the lists of a round
	starts   int // words
	keys     int // candidates
}

// rankShapeFor gives each slot an eighth of the memory, in buffers of at most largest
// bytes: seven eighths of that for postings, the rest for starts and candidates. The more
// lists a round has, the more queries share them.
func rankShapeFor(t Tuning, memory, largest uint64) rankShape {
	part := min(memory/8/16, largest/7)
	return rankShape{
		postings: max(int(min(14*part/8, 1<<31)), 2*runLen),
		starts:   max(int(min(part/4, 1<<30)), 1024),
		keys:     max(int(min(part/8, 1<<27)), 2*(plan.MaxK+andRangeLen(t))),
	}
}

// rankScratch is the memory that a store with lists that come and go leaves to ranking, out
// of the given number of bytes.
func rankScratch(rt *opened, src *plan.Source, bytes uint64) uint64 {
	if src.Freqs == nil {
		return 0
	}
	t, memory := rt.tuning, min(rt.info.Memory, bytes)
	shape := rankShapeFor(t, memory, rt.info.MaxAlloc)
	lengths, _ := packLengths(src.Lengths)
	return uint64(rankSlots(t))*(memory/8+4*rankUpload+selectorBytes(t, shape.keys)) + paddedBytes(len(lengths))
}

// rankOperation registers the kernels of ranked queries.
var rankOperation = operation{
	Name: "rank",
	Programs: []program{
		{Kernels: []string{"accumulate", "prepare", "copy_raw", "starts", "tf_components", "rank_and"},
			Files: files("posting.cl", "tf.cl", "rank.cl", "rank_and.cl")},
		{Kernels: []string{"global_best", "global_clear", "global_add", "global_maxima"}, Files: files("posting.cl", "accumulate_global.cl")},
		{Kernels: []string{"select_best", "select_count", "select_keep"}, Files: files("group.cl", "select.cl")},
	},
	Check: func(t Tuning) error {
		switch {
		case t.SelectWG != 0 && (t.SelectWG < 32 || t.SelectWG > 1024 || t.SelectWG&(t.SelectWG-1) != 0):
			return fmt.Errorf("select_wg is %d, not 0 or a power of two from 32 to 1024", t.SelectWG)
		case t.SelectWide < 0 || t.SelectWide > 1<<30:
			return fmt.Errorf("select_wide is %d, not 0 to 2^30", t.SelectWide)
		case t.RankRange != 0 && (t.RankRange < 1024 || t.RankRange > 1<<15 || t.RankRange&(t.RankRange-1) != 0):
			return fmt.Errorf("rank_range is %d, not 0 or a power of two from 1024 to 32768", t.RankRange)
		case t.RankWG != 0 && (t.RankWG < 32 || t.RankWG > 512 || t.RankWG&(t.RankWG-1) != 0):
			return fmt.Errorf("rank_wg is %d, not 0, 32, 64, 128, 256 or 512", t.RankWG)
		}
		return nil
	},
	Limits: func(t Tuning) (local, group int) {
		return max(rankMemory(t), selectMemory(t)), max(rankLocal(t), selectLocal(t))
	},
	Defines: func(t Tuning, define func(string, int)) {
		define("RANK_RANGE", rangeLen(t))
		define("RANK_WG", rankLocal(t))
		define("RANK_SPAN", rankSpan)
		define("SELECT_WG", selectLocal(t))
		define("SELECT_WIDE", selectWide(t))
	},
	Describe: func(t Tuning, info *plan.Info) { info.BatchPostings, info.RankBatches = t.RankBatch, rankSlots(t) },
}
