package engine

import (
	"context"
	"time"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/handle"
	"heddle/engine/plan"
	"heddle/engine/table/partial"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// Aggregation asks for values of the rows of a selection: aggregates of groups of rows, or
// columns of the rows. Packages statement and result define the syntax and the values.
type Aggregation struct {
	// Select is the select list, such as "city, count(*), sum(amount)".
	Select string
	// GroupBy names the columns whose values form groups, four at most, such as "city".
	// Default: "", all rows are one group if Select has an aggregate.
	GroupBy string
	// OrderBy is the order, such as "sum(amount) DESC". Default: "", the order of the values of
	// GroupBy, or of the rows in the table.
	OrderBy string
	// Offset is the number of rows of the answer to leave out, the first ones. Default: 0.
	Offset uint64
	// Limit is the greatest number of rows of the answer. Default: 0, no limit.
	Limit uint64
	// Rows selects the rows of the table. An empty predicate selects all rows. Output has no
	// effect.
	Rows Selection

	state
}

// state is the state of the answer (package partial), for tables in several parts: Aggregate sets it, if there is one,
// and delivers no values.
type state = handle.Of[partial.State]

// Aggregate passes the answer to deliver, in batches that belong to deliver. There is
// at least one batch, which has the columns and may have no rows. A device that selects the rows
// measures the groups too if they are few enough (plan.Dense) and Select has counts, least and greatest values, and sums and
// averages of integers, decimals and floats that are multiples of a power of two (plan.Measure.Binary). It takes count(DISTINCT),
// quantiles, and sums of other values as well if groups times values of the column are 2^20 at most. It finds the rows of
// OrderBy too, if Offset and Limit ask for 10,000 rows at most. Else pure Go computes the values on all cores. The answer is exact and the same on every processor.
//
// Errors: the errors of Select and of deliver; code InvalidQuery, with the place of the fault in its clause;
// code Unsupported for more groups or values than Limits, and for a sum of more than 38 digits.
func (t *Table) Aggregate(ctx context.Context, a Aggregation, deliver func(values.Batch) error) (err error) {
	defer failure.Catch("aggregate", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := t.Internal().Acquire()
	if err != nil {
		return failure.Wrap("aggregate", err)
	}
	defer g.Release()
	call := a.Rows.call()
	until := g.Until(ctx, &call)
	q, err := g.CompileValues(statement.Clauses{Select: a.Select, GroupBy: a.GroupBy, OrderBy: a.OrderBy})
	if err != nil {
		return failure.Wrap("aggregate", err)
	}
	s := a.Rows
	s.Output = plan.OutputBits
	if s.Where == "" && s.Prepared == nil {
		s.Where = "TRUE"
	}
	rows, err := selectRows(ctx, g, &s, &until, q, q.Sorted(a.Offset, a.Limit))
	if err != nil {
		return failure.Wrap("aggregate", err)
	}
	defer rows.Release()
	began := time.Now()
	if to := a.Internal(); to != nil {
		var part *partial.State
		if part, err = g.Part(&until, q, rows.Bits, a.Offset, a.Limit); err == nil {
			*to = *part
		}
	} else {
		err = g.Values(&until, q, rows.Bits, a.Offset, a.Limit, deliver)
	}
	if x := s.Explain; x != nil {
		x.Values, x.ValuesTook, x.Measured, x.Sorted = q.String(), time.Since(began), q.Cells != nil, q.Candidates != nil
	}
	return failure.Wrap("aggregate", err)
}
