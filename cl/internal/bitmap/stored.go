package bitmap

import "heddle/engine/plan"

// columnWords is the size of a column of kernels/column.cl, in words.
const columnWords = 12

// Flags of a column there.
const (
	columnValues = 1 << iota
	columnSum
	columnBins
	columnEnds
	_
	columnLeast
	columnGreatest
	columnLower
	columnUpper
)

// writeColumn puts a column into the record of kernels/column.cl, with a number and flags for the kernel.
func writeColumn(record []uint32, c *plan.Input, own, boundsAt int, flags uint32) {
	if c.Bounds != nil {
		flags |= columnBins
	}
	record[0], record[1], record[2], record[3] = c.Column, uint32(own), uint32(c.Top()), flags
	record[4], record[5] = uint32(boundsAt), uint32(len(c.Bounds))
	record[8], record[9] = uint32(c.Last), uint32(c.Last>>32)
}

// writeBounds puts the bounds of bins into two words each.
func writeBounds(to []uint32, c *plan.Input) {
	for k, b := range c.Bounds {
		to[2*k], to[2*k+1] = uint32(b), uint32(b>>32)
	}
}
