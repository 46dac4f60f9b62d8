package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/observe"
	"heddle/engine/table/predicate"
)

// TableExplanation describes the execution of a selection. The embedded explanation describes
// the batch of the selection.
type TableExplanation struct {
	observe.Explanation
	Where string         // the predicate, in the form of predicate.Expr
	Plan  predicate.Plan // bins of the columns
	Bytes uint64         // size of the vectors that are read, compressed
	// Slices is the size of the bit slices of columns whose codes select rows, in bytes: at most so much is read.
	Slices uint64
	How    string // strategy and sizes, from the processor that answered
	// Costs are the fitted costs of the processors: Estimates are these costs times the work
	// of the selection, corrected by earlier run times. Empty where the table is not resident.
	Costs   []string
	Count   uint64        // selected rows
	Compile time.Duration // time to compile the predicate
	// Values is the work of an Aggregation on the selected rows, and ValuesTook its time in pure Go.
	Values     string
	ValuesTook time.Duration
	Measured   bool // the processor of the selection measured the groups
	Sorted     bool // the processor of the selection found the first rows of the order, a few more among them
}

// String returns a few lines: the predicate, a line for each column, the vectors, the
// estimates, the processor and the strategy, and the times.
func (e *TableExplanation) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, e.Where)
	for _, t := range e.Plan.Tests {
		fmt.Fprintf(&b, "  %v\n", t)
	}
	for _, columns := range e.Plan.Sliced {
		fmt.Fprintf(&b, "  %s: compared by bit slices\n", columns)
	}
	for _, columns := range e.Plan.Compared {
		fmt.Fprintf(&b, "  %s: compared in pure Go\n", columns)
	}
	for _, column := range e.Plan.Joined {
		fmt.Fprintf(&b, "  %s: values joined to rows in pure Go\n", column)
	}
	fmt.Fprintf(&b, "  reads %d vectors, %.3f MB, and at most %.3f MB of bit slices\n", e.Plan.Vectors, float64(e.Bytes)/1e6, float64(e.Slices)/1e6)
	for i, estimate := range e.Estimates {
		if estimate >= 0 && i < len(e.Costs) && len(e.Estimates) > 1 {
			fmt.Fprintf(&b, "  %s: estimated %v = %s\n", e.Processors[i], observe.Round(estimate), e.Costs[i])
		}
	}
	fmt.Fprintf(&b, "  ran on %s: %s\n", e.Processor, e.How)
	fmt.Fprintf(&b, "  %d rows in %v", e.Count, observe.Round(e.Stats.Wall))
	for _, stage := range []struct {
		name string
		time time.Duration
	}{{"upload", e.Stats.Upload}, {"decompress", e.Stats.Decode}, {"reduce", e.Stats.Probe}, {"compact", e.Stats.Compact}, {"download", e.Stats.Download}} {
		if stage.time > 0 {
			fmt.Fprintf(&b, ", %s %v", stage.name, observe.Round(stage.time))
		}
	}
	fmt.Fprintf(&b, "; queued %v, compiled in %v", observe.Round(e.Queued), observe.Round(e.Compile))
	if e.Values != "" {
		where := "in pure Go"
		if e.Measured {
			where = "measured there"
		} else if e.Sorted {
			where = "of the first rows, found there"
		}
		fmt.Fprintf(&b, "\n  values %s: %s; %v", where, e.Values, observe.Round(e.ValuesTook))
	}
	return b.String()
}

// explaining collects the explanations of a batch. The zero value is for selections that
// want none.
type explaining struct {
	batch  *observe.Explanation
	costs  []string
	wanted bool
	size   int // length of the texts of all predicates so far, in bytes
}

// add compiles the predicate of s and appends it to the task.
func (e *explaining) add(g *tables.Generation, task *tables.Task, s *Selection, until *limit.Until) error {
	if err := errors.Join(s.Output.Validate(), s.Strategy.Validate(), s.checkIn(g.Table.Rows)); err != nil {
		return query.Option(err)
	}
	var p *tables.Predicate
	var err error
	began := time.Time{}
	if s.Explain != nil {
		e.wanted = true
		began = time.Now()
	}
	if s.Prepared != nil {
		p, err = s.Prepared.p.For(g)
	} else {
		e.size += len(s.Where)
		p, err = g.CompileFor(until, s.Caller, s.Where, e.size)
	}
	if err != nil {
		return err
	}
	task.Add(p)
	if x := s.Explain; x != nil {
		*x = TableExplanation{Where: p.Text, Plan: p.Plan, Compile: time.Since(began)}
		x.Bytes, x.Slices = p.Bytes()
	}
	return nil
}

// run runs the task.
func (e *explaining) run(ctx context.Context, task *tables.Task, c *pool.Call) error {
	if e.wanted {
		e.batch = new(observe.Explanation)
		c.Explain = e.batch
		e.costs = task.Costs()
	}
	return task.Do(ctx, c)
}

// explain completes the explanation of s, which is selection i of a task that ended with
// err.
func (e *explaining) explain(task *tables.Task, s *Selection, i int, err error) {
	x := s.Explain
	if x == nil {
		return
	}
	x.Explanation, x.Costs = *e.batch, e.costs
	if err == nil {
		x.How, x.Count = task.How(i), uint64(task.Rows().Counts[i])
	}
}
