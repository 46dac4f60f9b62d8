package observe

import (
	"fmt"
	"io"
	"strings"
	"time"

	"heddle/engine/plan"
)

// Explain writes String to w.
func (q *Explanation) Explain(w io.Writer) error {
	_, err := io.WriteString(w, q.String())
	return err
}

// String returns a few lines for people: the outcome, the predicted time on each processor,
// the processor and the time of the last attempt, cache hits, and the times of stages if the
// backend measured them.
func (q *Explanation) String() string {
	var b strings.Builder
	b.WriteString(q.Kind)
	if q.Queries > 1 {
		fmt.Fprintf(&b, ", %d queries", q.Queries)
	}
	fmt.Fprintf(&b, ": %v after %v", q.Outcome, Round(q.Took))
	if q.Err != nil {
		fmt.Fprintf(&b, ": %v", q.Err)
	}
	b.WriteByte('\n')
	if q.Order != "" {
		fmt.Fprintf(&b, "  order %s\n", q.Order)
	}
	if q.Cached {
		b.WriteString("  from the result cache\n")
		return b.String()
	}
	for i, estimate := range q.Estimates {
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
	if q.Filter != nil {
		fmt.Fprintf(&b, "  filter %v\n", q.Filter)
	}
	fmt.Fprintf(&b, "  scheduled %v, class %v\n", q.Mode, q.Class)
	if q.Attempts > 0 {
		q.explainRun(&b)
	}
	if n := q.Stats.Pruned; n > 0 {
		fmt.Fprintf(&b, "  block-max pruning: %d of the queries read only blocks that can have one of the best documents\n", n)
	}
	if n := q.Stats.Widened; n > 0 {
		fmt.Fprintf(&b, "  too few documents have all words: %d of the queries ran again for any word\n", n)
	}
	if q.Stats.PhraseCandidates > 0 {
		fmt.Fprintf(&b, "  phrases %s\n", Phrases(&q.Stats))
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

// Phrases describes the work for the phrases of a batch.
func Phrases(s *plan.Stats) string {
	where := " in pure Go"
	switch {
	case s.DevicePositions == s.Positions && s.Positions > 0:
		where = " on the device"
	case s.DevicePositions > 0:
		where = fmt.Sprintf(", %d on the device and the rest in pure Go", s.DevicePositions)
	}
	if s.PhraseReason != "" && where != " on the device" {
		where += ": " + s.PhraseReason
	}
	return fmt.Sprintf("%d documents with all words, %d positions read%s", s.PhraseCandidates, s.Positions, where)
}

// explainRun describes the last attempt.
func (q *Explanation) explainRun(b *strings.Builder) {
	where := "ran"
	if q.Processor != "" {
		where += " on " + q.Processor
	}
	batch := "alone"
	if q.Batch > 1 {
		batch = fmt.Sprintf("in a batch of %d", q.Batch)
	}
	fmt.Fprintf(b, "  %s %s: queued %v, estimated %v, took %v", where, batch, Round(q.Queued), Round(q.Estimate), Round(q.Ran))
	if e, ok := q.PredictionError(); ok {
		fmt.Fprintf(b, " (estimate %+.0f %%)", 100*e)
	}
	if q.Attempts > 1 {
		fmt.Fprintf(b, ", attempt %d", q.Attempts)
	}
	b.WriteByte('\n')
	if q.Missing > 0 {
		fmt.Fprintf(b, "  %.3f MB of lists were to be brought in\n", float64(q.Missing)/1e6)
	} else {
		b.WriteString("  all lists were resident\n")
	}
}

// Round rounds a time to about three digits.
func Round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d.Abs() < 1000*unit {
			return d.Round(unit)
		}
	}
}
