package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/table/predicate"
)

// Explanation says how a predicate was answered.
type Explanation struct {
	Where     string         // in the form that predicate.Expr writes
	Plan      predicate.Plan // which bins of which columns
	Bytes     uint64         // of the vectors that are read, compressed
	Backend   plan.Info      // where it ran
	How       string         // what the backend says of it: strategy, sizes
	Estimates []Estimate     // of the device and of the host, where there was a choice
	Count     uint64         // rows
	Compile   time.Duration  // from the text to steps, before the run
	Stats     plan.Stats     // of the run; stages where the backend was opened with profiling
}

// Estimate is what a backend was expected to take.
type Estimate struct {
	Backend plan.Info
	Time    time.Duration
	Model   string // what a call, a vector, a byte and so on take; Time is that times what batches like this one took of it
}

// Explain answers a predicate once and says how.
func (t *Table) Explain(ctx context.Context, where string, opt TableOptions) (Explanation, error) {
	s := plan.SelectBatch{Output: opt.Output, Strategy: opt.Strategy, Rescan: opt.Rescan}
	began := time.Now()
	c, err := t.compile(where, &s)
	if err != nil {
		return Explanation{}, err
	}
	compile := time.Since(began)
	t.open.RLock()
	defer t.open.RUnlock()
	var out plan.Rows
	r, err := t.run(ctx, &s, &out)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{
		Where:   c.expr.String(),
		Plan:    c.plan,
		Bytes:   t.t.VectorBytes(s.Operands),
		Backend: r.info,
		How:     r.store.Explain(&s, 0),
		Count:   uint64(out.Counts[0]),
		Compile: compile,
		Stats:   out.Stats,
	}
	if m := t.costs.Load(); m != nil && m.device == t.active.Load() {
		w := t.work(&s)
		device, host := m.estimate(&w)
		e.Estimates = []Estimate{{m.device.info, device, m.onDevice.String()}, {t.spare.info, host, m.onHost.String()}}
	}
	return e, nil
}

// String is a few lines: the predicate, a line a column, what is read, where and how,
// estimates, times.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, e.Where)
	for _, t := range e.Plan.Tests {
		fmt.Fprintf(&b, "  %v\n", t)
	}
	fmt.Fprintf(&b, "  reads %d vectors, %.3f MB\n", e.Plan.Vectors, float64(e.Bytes)/1e6)
	for _, x := range e.Estimates {
		fmt.Fprintf(&b, "  %s %s: estimated %v = %s\n", x.Backend.Kind, x.Backend.Device, observe.Round(x.Time), x.Model)
	}
	fmt.Fprintf(&b, "  ran on %s %s: %s\n", e.Backend.Kind, e.Backend.Device, e.How)
	fmt.Fprintf(&b, "  %d rows in %v", e.Count, observe.Round(e.Stats.Wall))
	for _, stage := range []struct {
		name string
		time time.Duration
	}{{"upload", e.Stats.Upload}, {"decompress", e.Stats.Decode}, {"reduce", e.Stats.Probe}, {"compact", e.Stats.Compact}, {"download", e.Stats.Download}} {
		if stage.time > 0 {
			fmt.Fprintf(&b, ", %s %v", stage.name, observe.Round(stage.time))
		}
	}
	fmt.Fprintf(&b, "; compiled in %v", observe.Round(e.Compile))
	return b.String()
}
