package tables

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/result"
)

// leastCounted is the number of rows from which on a device counts them. For fewer rows the copy of
// the bits takes longer than pure Go.
const leastCounted = 1 << 16

// Count lets a device count the groups of queries whose groups are the codes of a column, if one
// has the table and the rows are many. The queries then take the counts in place of the rows.
// Otherwise, and after a fault of the device, pure Go counts them. The error is ctx.Err().
func (g *Generation) Count(ctx context.Context, rows []uint64, queries []*result.Query) error {
	n := 0
	for _, w := range rows {
		n += bits.OnesCount64(w)
	}
	var counted []*result.Query
	var columns []plan.Input
	for _, q := range queries {
		if in, ok := q.CountsCodes(); ok {
			counted, columns = append(counted, q), append(columns, in)
		}
	}
	if n < leastCounted || len(counted) == 0 {
		return nil
	}
	for r := range g.residences() {
		device, ok := r.store.(plan.CodeCounter)
		if !ok || !r.Enter() {
			continue
		}
		all, err := device.CountCodes(ctx, rows, columns)
		r.Leave()
		if err == nil {
			for i, q := range counted {
				values := slices.Clone(all[i])
				values[0] = 0
				q.Cells = &plan.Cells{Rows: all[i], Values: [][]uint64{values}}
			}
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !errors.Is(err, plan.ErrClosed) {
			g.pool.Log().Warn().Err(err).Str("processor", r.p.Name).Msg("values are counted in pure Go")
		}
	}
	return nil
}
