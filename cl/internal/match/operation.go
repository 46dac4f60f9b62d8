package match

import (
	"fmt"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// algorithms lists the algorithms of the kernels.
var algorithms = []plan.Algorithm{plan.BS, plan.IS, plan.LR, plan.LRSeg, plan.LRSplit, plan.HS8, plan.HS16, plan.HS32, plan.HS64, plan.HS128, plan.HS256,
	plan.PMF0, plan.PMF1, plan.PMF2, plan.PMF3, plan.PMF4, plan.MergePath, plan.Bits}

// Operation registers the kernels of conjunctions.
var Operation = device.Operation{
	Name: "match",
	Programs: []device.Program{
		{Kernels: []device.Function{intersect}, Files: probeFiles, Core: true},
		{Kernels: []device.Function{gather}, Files: device.Files("compact.cl"), Core: true},
		{Kernels: []device.Function{merge, mergeAhead}, Files: device.Files("probe.cl", "window.cl", "group.cl", "merge.cl")},
	},
	Features: lists.FeatureNames,
	Check: func(t device.Tuning) error {
		switch {
		case t.WG < 32 || t.WG > 1024 || t.WG%32 != 0:
			return fmt.Errorf("work-groups of %d (wg), not a multiple of 32 up to 1024", t.WG)
		case t.Tile < 128 || t.Tile > lists.RunLen || t.Tile%128 != 0:
			return fmt.Errorf("tile is %d, not a multiple of 128 up to %d", t.Tile, lists.RunLen)
		case t.RoundTiles < 1 || uint64(t.RoundTiles)*uint64(t.Tile) > 1<<30:
			return fmt.Errorf("round_tiles is %d: a round has 1 tile to 2^30 elements", t.RoundTiles)
		case t.Slots < 1 || t.Slots > 64:
			return fmt.Errorf("slots is %d, not 1 to 64", t.Slots)
		case t.MergeRows != 4 && t.MergeRows != 8 && t.MergeRows != 16:
			return fmt.Errorf("merge_rows is %d, not 4, 8 or 16", t.MergeRows)
		case t.MergeWG < 32 || t.MergeWG > 256 || t.MergeWG%32 != 0 || t.MergeWG&(t.MergeWG-1) != 0 || t.MergeRows == 16 && t.MergeWG == 256:
			return fmt.Errorf("merge_wg is %d, not 32, 64, 128, or 256 with less than 16 rows", t.MergeWG)
		}
		return nil
	},
	Limits: func(t device.Tuning) (local, group int) {
		if t.Serial {
			return 0, 1
		}
		local = max(4*(4*t.Tile+t.Tile/32+3), 10*t.Tile+skipWork, 8*mergeTile(t)+16*t.MergeWG+4*65)
		return local, max(workGroup(t), mergeLocal(t))
	},
	Defines: func(t device.Tuning, define func(string, int)) {
		define("WG", t.WG)
		define("TILE", t.Tile)
		define("MERGE_WG", t.MergeWG)
		define("MERGE_ROWS", t.MergeRows)
	},
	Describe: func(t device.Tuning, info *plan.Info) {
		info.Algorithms = slices.Clone(algorithms)
		// A batch should be one round: further rounds take more commands, and their docIDs are
		// copied. A quarter of the tiles is for queries with more candidates than the mean, and for
		// tiles that are not full.
		tiles := fitTiles(t.RoundTiles, t.Tile, t.Slots, info.Memory/scratchShare, 1)
		info.Batch = min(info.Batch, uint64(tiles)*uint64(t.Tile)*3/4)
	},
	SelfTest: selfTestCore,
}

// skipWork is the local memory of skip.cl beside its elements, in bytes: WORK_WORDS of
// kernels/segments_any.cl for rpfd, which needs most.
const skipWork = 4 * (128 + 2*128*(4+1) + lists.Lanes)

// probeFiles lists the files of the kernel intersect for some features.
func probeFiles(with device.Features) []string {
	var files []string
	if with&(lists.UseLines|lists.UseLRCPFor) != 0 {
		files = append(files, "probe_lines.cl")
	}
	if with&lists.UseLRCPFor != 0 {
		files = append(files, "lrcpfor.cl", "probe_lrcpfor.cl")
	}
	files = append(files, "probe.cl")
	if with&lists.UseGaps != 0 {
		files = append(files, lists.SegmentFiles...)
	}
	return append(files, shellFile(with))
}

// shellFile is the file with the kernel that walks tiles and calls probe.cl.
func shellFile(with device.Features) string {
	switch {
	case with&lists.UseGaps != 0:
		return "skip.cl"
	case with&lists.UsePMF != 0:
		return "pmf.cl"
	}
	return "intersect.cl"
}

// workGroup is the work-group size of intersect and gather.
func workGroup(t device.Tuning) int { return t.Local(t.WG) }

// probeLocal is the work-group size of the kernel that walks tiles, LANES for skip.cl.
func probeLocal(t device.Tuning, with device.Features) int {
	if with&lists.UseGaps != 0 && !t.Serial {
		return lists.Lanes
	}
	return workGroup(t)
}

// gatherGroups is the number of work-groups of gather: 16 work-items per tile.
func gatherGroups(t device.Tuning, tiles int) int {
	if t.Serial {
		return tiles
	}
	return (tiles*16 + t.WG - 1) / t.WG
}
