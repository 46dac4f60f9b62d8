package rows

import (
	"fmt"
	"os"

	"heddle/engine"
	"heddle/engine/table/rowset"
)

// ReadSet reads a Roaring bitmap of rows of a table as a bitset.
func ReadSet(path string, t *engine.Table) ([]uint64, error) {
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := rowset.ReadRoaring(f, info.Rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rowset.FromRoaring(b, info.Rows)
}
