package rank

import (
	"cmp"
	"fmt"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank/packets"
	"heddle/engine/plan"
)

// Limits of a round of ranked queries.
const (
	maxTerms    = 1 << 16
	maxQueries  = 1 << 13
	maxBest     = 1 << 23 // documents that come back
	maxGroups   = 1 << 30 // work-groups of a launch
	uploadWords = 4 * (1 + 5*maxTerms + coarseUnit*maxQueries)
	listUnits   = 3 // uint4 per list in the upload
	termUnits   = 2 // uint4 per term
	coarseUnit  = 3 // uint4 per query of the coarse path
	maxSpan     = 8 // RANK_SPAN: ranges of a group of accumulate at most
)

// maxSlots is the number of batches under way.
func maxSlots(t device.Tuning) int { return min(t.Slots, 2) }

// rangeLen is the number of documents of a range, RANK_RANGE of the kernels.
func rangeLen(t device.Tuning) int { return cmp.Or(t.RankRange, 4096) }

// andRangeLen is the number of documents of a range of ranked AND: few of them are in the
// shortest list of a query.
func andRangeLen(t device.Tuning) int { return 4 * rangeLen(t) }

// rankLookup is the number of postings that coarse sums add in the time in which ranked AND
// looks a document up in all lists of a query.
func rankLookup(t device.Tuning) int { return cmp.Or(t.RankLookup, 12) }

// workGroup is the work-group size of accumulate and rank_and.
func workGroup(t device.Tuning) int { return t.Local(cmp.Or(t.RankWG, 128)) }

// localMemory is the local memory of a work-group at most, in bytes.
func localMemory(t device.Tuning) int {
	if t.Serial {
		return 4 * rangeLen(t)
	}
	coarse := 2*packets.Range + 4*(coarseTerms*(coarseSpan+4)+coarseCells)
	return max(4*(rangeLen(t)+64*(3+maxSpan)+128+1), 4*lists.RunLen, coarse)
}

// shape is the memory that a slot may use.
type shape struct {
	postings int // postings of the lists of a round
	starts   int // words
	keys     int // candidates
}

// shapeFor gives each slot an eighth of the memory, in buffers of at most largest
// bytes: seven eighths of that for postings, the rest for starts and candidates. The more
// lists a round has, the more queries share them.
func shapeFor(t device.Tuning, memory, largest uint64) shape {
	part := min(memory/8/16, largest/7)
	return shape{
		postings: max(int(min(14*part/8, 1<<31)), 2*lists.RunLen),
		starts:   max(int(min(part/4, 1<<30)), 1024),
		keys:     max(int(min(part/8, 1<<27)), 2*(plan.MaxK+andRangeLen(t))),
	}
}

// Scratch is the memory that a store with lists that come and go leaves to ranking, out
// of the given number of bytes.
func Scratch(rt *device.Runtime, src *plan.Source, bytes uint64) uint64 {
	if src.Freqs == nil {
		return 0
	}
	t, memory := rt.Tuning, min(rt.Info.Memory, bytes)
	shape := shapeFor(t, memory, rt.Info.MaxAlloc)
	lengths, _ := packLengths(src.Lengths)
	return uint64(maxSlots(t))*(memory/8+4*uploadWords+selectorBytes(t, shape.keys)) + device.PaddedBytes(len(lengths))
}

// Operation registers the kernels of ranked queries.
var Operation = device.Operation{
	Name:     "rank",
	Features: []string{"COARSE_WIDE", "COARSE_SAMPLE", "COARSE_FILTER"},
	Programs: []device.Program{
		{Kernels: []device.Function{accumulate, prepare, copyRaw, starts, tfComponents, rankAnd},
			Files: device.Files("posting.cl", "seek.cl", "tf.cl", "rank.cl", "rank_and.cl")},
		{Kernels: []device.Function{packetsCount, packetsFill}, Files: device.Files("posting.cl", "blocks.cl", "packets.cl")},
		{Kernels: []device.Function{coarseSums}, Files: device.Files("posting.cl", "sums.cl", "group.cl", "greatest.cl", "blocks.cl", "sums_serial.cl", "coarse_serial.cl", "coarse.cl")},
		{Kernels: []device.Function{raise}, Files: device.Files("posting.cl", "group.cl", "greatest.cl", "raise.cl")},
		{Kernels: []device.Function{complete}, Files: device.Files("posting.cl", "seek.cl", "group.cl", "greatest.cl", "blocks.cl", "complete.cl")},
		{Kernels: []device.Function{globalBest, globalClear, globalAdd, globalFilter, globalMaxima}, Files: device.Files("posting.cl", "accumulate_global.cl")},
		{Kernels: []device.Function{selectBest, selectCount, selectKeep}, Files: device.Files("group.cl", "select.cl", "select_wide.cl")},
	},
	Check: func(t device.Tuning) error {
		switch {
		case t.SelectWG != 0 && (t.SelectWG < 32 || t.SelectWG > 1024 || t.SelectWG&(t.SelectWG-1) != 0):
			return fmt.Errorf("select_wg is %d, not 0 or a power of two from 32 to 1024", t.SelectWG)
		case t.SelectWide < 0 || t.SelectWide > 1<<30:
			return fmt.Errorf("select_wide is %d, not 0 to 2^30", t.SelectWide)
		case t.RankRange != 0 && (t.RankRange < 1024 || t.RankRange > 1<<15 || t.RankRange&(t.RankRange-1) != 0):
			return fmt.Errorf("rank_range is %d, not 0 or a power of two from 1024 to 32768", t.RankRange)
		case t.RankLookup < 0 || t.RankLookup > 1<<20:
			return fmt.Errorf("rank_lookup is %d, not 0 to 2^20", t.RankLookup)
		case t.RankWG != 0 && (t.RankWG < 32 || t.RankWG > 512 || t.RankWG&(t.RankWG-1) != 0):
			return fmt.Errorf("rank_wg is %d, not 0, 32, 64, 128, 256 or 512", t.RankWG)
		}
		return nil
	},
	Limits: func(t device.Tuning) (local, group int) {
		return max(localMemory(t), selectMemory(t)), max(workGroup(t), selectLocal(t), eachLocal)
	},
	Defines: func(t device.Tuning, define func(string, int)) {
		define("RANK_RANGE", rangeLen(t))
		define("RANK_WG", workGroup(t))
		define("RANK_SPAN", maxSpan)
		define("PACKET_RANGE", packets.Range)
		define("SELECT_WG", selectLocal(t))
		define("SELECT_WIDE", selectWide(t))
	},
	Describe: func(t device.Tuning, info *plan.Info) {
		info.BatchPostings, info.RankBatches = t.RankBatch, maxSlots(t)
	},
}
