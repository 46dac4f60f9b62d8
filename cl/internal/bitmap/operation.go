package bitmap

import (
	"fmt"

	"heddle/cl/internal/device"
)

// Features of the program of rows.cl and of the programs that decompress vectors.
const (
	useWide    device.Features = 1 << iota // words have 64 bits
	useArenas                              // vectors lie in more than one buffer
	useChecks                              // bits of checks are there
	useColumns                             // StepAny is computed already
	useCodes                               // a check has more than sliceRanges ranges, or columns are compared
	useGlobal                              // cells of groups do not fit local memory
	useOne                                 // groups have one pass and one grouping without missing values
)

// Operation registers the kernels of selections.
var Operation = device.Operation{
	Name: "bitmap",
	Programs: []device.Program{
		{Kernels: []device.Function{selectRows}, Files: device.Files("wah.cl", "directory.cl", "tile.cl", "step.cl", "any_serial.cl", "any.cl", "rows.cl")},
		{Kernels: []device.Function{selectSlices}, Files: device.Files("slice.cl", "step.cl", "selection.cl", "slices.cl")},
		{Kernels: []device.Function{countCodes}, Files: device.Files("slice.cl", "column.cl", "facet.cl")},
		{Kernels: []device.Function{measureGroups}, Files: device.Files("slice.cl", "column.cl", "measure.cl")},
		{Kernels: []device.Function{measureRows}, Files: device.Files("slice.cl", "step.cl", "selection.cl", "column.cl", "totals.cl")},
		{Kernels: []device.Function{bestKeys, rowsAbove}, Files: device.Files("slice.cl", "step.cl", "selection.cl", "top.cl")},
		{Kernels: []device.Function{codeGroups}, Files: device.Files("slice.cl", "step.cl", "selection.cl", "column.cl", "field.cl", "groups.cl")},
		{Kernels: []device.Function{pairGroups}, Files: device.Files("slice.cl", "column.cl", "field.cl", "pair.cl")},
		{Kernels: []device.Function{packedGroups, clearCells}, Files: device.Files("packed.cl")},
		{Kernels: []device.Function{wahExpand, wahClear, wahSizes, wahEnds, wahRecall, reducePairs, reduceTiles},
			Files: device.Files("group.cl", "scan.cl", "wah.cl", "directory.cl", "chunk.cl", "decompress.cl", "reduce.cl")},
	},
	Features: []string{"USE_WIDE", "USE_ARENAS", "USE_CHECKS", "USE_COLUMNS", "USE_CODES", "USE_GLOBAL", "USE_ONE"},
	Check: func(t device.Tuning) error {
		tile, local := tileGroups(t), workGroup(t)
		switch {
		case t.TableTile < 0 || t.TableTile > 1<<13 || t.TableTile%128 != 0:
			return fmt.Errorf("table_tile is %d, not 0 or a multiple of 128 up to 8192", t.TableTile)
		case t.TableWG != 0 && (t.TableWG < 32 || t.TableWG > 1024 || t.TableWG&(t.TableWG-1) != 0):
			return fmt.Errorf("table_wg is %d, not 0 or a power of two from 32 to 1024", t.TableWG)
		case t.TableLoads < 0 || t.TableLoads > 16:
			return fmt.Errorf("table_loads is %d, not 0 to 16", t.TableLoads)
		case t.TableRow != 0 && t.TableRow != 8 && t.TableRow != 16 && t.TableRow != 32 && t.TableRow != 64:
			return fmt.Errorf("table_row is %d, not 0, 8, 16, 32 or 64", t.TableRow)
		case t.GroupLocal != 0 && (t.GroupLocal < 1<<10 || t.GroupLocal > 1<<16):
			return fmt.Errorf("group_local is %d, not 0 or from 1024 to 65536", t.GroupLocal)
		case !t.Serial && tile != 2*local && tile != 4*local && tile != 8*local:
			return fmt.Errorf("table_tile is %d, not 2, 4 or 8 times table_wg, %d", tile, local)
		}
		return nil
	},
	Limits: func(t device.Tuning) (local, group int) {
		return max(localMemory(t), 4*facetLocal, 4*measureCells+4*columnWords*measureColumns, rowBytes(t)*chunkGroup, pairLocal(t)), max(workGroup(t), facetGroup(t), sliceGroup(t))
	},
	Defines: func(t device.Tuning, define func(string, int)) {
		define("TABLE_TILE", tileGroups(t))
		define("TABLE_WG", workGroup(t))
		define("TABLE_LOADS", loadsAtOnce(t))
		define("TABLE_ROW", rowBytes(t))
	},
}
