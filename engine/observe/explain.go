package observe

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Explain writes a few lines for people: what became of the query, what it should have
// taken where, where it ran and what it took, what was in caches, and stage times where
// the backend measured them.
func (q *Query) Explain(w io.Writer) error {
	_, err := io.WriteString(w, q.String())
	return err
}

// String is what Explain writes.
func (q *Query) String() string {
	var b strings.Builder
	b.WriteString(q.Kind)
	if q.Queries > 1 {
		fmt.Fprintf(&b, ", %d queries", q.Queries)
	}
	fmt.Fprintf(&b, ": %v after %v", q.Outcome(), Round(q.Took))
	if q.Err != nil {
		fmt.Fprintf(&b, ": %v", q.Err)
	}
	b.WriteByte('\n')
	if q.Cached {
		b.WriteString("  from the result cache\n")
		return b.String()
	}
	t := &q.Trace
	for i, estimate := range t.Estimates {
		name := fmt.Sprintf("processor %d", i)
		if i < len(q.Processors) {
			name = q.Processors[i]
		}
		switch {
		case estimate < 0:
			fmt.Fprintf(&b, "  %s: it cannot run there\n", name)
		default:
			fmt.Fprintf(&b, "  %s: alone it should take %v\n", name, Round(estimate))
		}
	}
	fmt.Fprintf(&b, "  scheduled %v, class %v\n", t.Mode, t.Class)
	if t.Attempts > 0 {
		q.explainRun(&b)
	}
	sep := "  stages: "
	for name, took := range Stages(&q.Stats) {
		fmt.Fprintf(&b, "%s%s %v", sep, name, Round(took))
		sep = ", "
	}
	if sep == ", " {
		b.WriteByte('\n')
	}
	return b.String()
}

// explainRun writes of the last attempt.
func (q *Query) explainRun(b *strings.Builder) {
	t := &q.Trace
	where := "ran"
	if t.Processor != "" {
		where += " on " + t.Processor
	}
	batch := "alone"
	if t.Batch > 1 {
		batch = fmt.Sprintf("in a batch of %d", t.Batch)
	}
	fmt.Fprintf(b, "  %s %s: queued %v, estimated %v, took %v", where, batch, Round(t.Queued), Round(t.Estimate), Round(t.Ran))
	if e, ok := q.PredictionError(); ok {
		fmt.Fprintf(b, " (estimate %+.0f %%)", 100*e)
	}
	if t.Attempts > 1 {
		fmt.Fprintf(b, ", attempt %d", t.Attempts)
	}
	b.WriteByte('\n')
	if q.Missing > 0 {
		fmt.Fprintf(b, "  %.3f MB of lists were to be brought in\n", float64(q.Missing)/1e6)
	} else {
		b.WriteString("  all lists were resident\n")
	}
}

// Round leaves three digits or so of a time of any size, for people.
func Round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d.Abs() < 1000*unit {
			return d.Round(unit)
		}
	}
}
