package cl

import (
	"fmt"
	"strings"
	"testing"

	"heddle/cl/internal/device"
)

// TestBuiltInRows checks the built-in rows as rows of a file.
func TestBuiltInRows(t *testing.T) {
	for _, row := range device.BuiltInRows() {
		if err := everything.Check(row); err != nil {
			t.Errorf("row %q: %v", row.Name, err)
		}
	}
}

// TestDefines puts every field that the kernels know into the source.
func TestDefines(t *testing.T) {
	for _, row := range device.BuiltInRows() {
		for _, count := range []bool{false, true} {
			text := everything.Defines(row, count)
			for name, value := range map[string]int{
				"WG": row.WG, "TILE": row.Tile, "SCAN_SERIAL": number(row.Serial), "NV_SHUFFLE": number(row.NVShuffle), "COUNT_LOADS": number(count),
				"SCAN_WG": row.ScanWG, "MERGE_WG": row.MergeWG, "MERGE_ROWS": row.MergeRows,
			} {
				if line := fmt.Sprintf("#define %s %d\n", name, value); !strings.Contains(text, line) {
					t.Errorf("row %q: no %q in\n%s", row.Name, line, text)
				}
			}
			if source := everything.Source(row, count, everything.Core()...); !strings.HasPrefix(source, text) || !strings.Contains(source, "__kernel") {
				t.Errorf("row %q: the defines do not stand in front of the kernels", row.Name)
			}
		}
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
