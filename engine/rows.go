package engine

import (
	"iter"
	"slices"

	"heddle/engine/internal/tables"
	"heddle/engine/table/rowset"
)

// Rows is the answer of a selection.
type Rows struct {
	Count uint64
	// Bits has the rows: row r is bit r%64 of word r/64. It is empty for a table without rows, and nil
	// unless Output is plan.OutputBits. The caller may change it.
	Bits []uint64

	loan tables.Loan
}

// Release returns the memory of Bits, which later selections reuse: pinned memory of a device, or memory of pure Go.
// Neither Bits nor a slice of it may be used afterwards, and Bits is nil. A second call has no effect, nor has a call for
// rows without a loan, such as the views of SelectAll. Bits stay valid after Reload and Close of the table and the
// engine. Without Release the memory of pure Go is garbage like any other; pinned memory is kept, and a device with 64
// answers or 256 MiB on loan copies further answers. It must not run at the same time as other uses of the rows.
func (r *Rows) Release() {
	r.loan.End()
	r.Bits, r.loan = nil, tables.Loan{}
}

// AppendIDs appends the numbers of the rows to dst, ascending.
func (r Rows) AppendIDs(dst []uint32) []uint32 {
	if r.Bits == nil {
		return dst
	}
	return rowset.AppendFirst(slices.Grow(dst, int(r.Count)), r.Bits, int(r.Count))
}

// Ranges yields the rows of Bits as ranges of consecutive rows: the first and the last row of each range.
// Ranges ascend and are as long as possible. It allocates no list of rows.
func (r Rows) Ranges() iter.Seq2[uint32, uint32] { return rowset.Ranges(r.Bits) }
