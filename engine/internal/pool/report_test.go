package pool

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

func TestOutcomeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want observe.Outcome
	}{
		{nil, observe.Answered},
		{schedule.ErrFull, observe.Refused},
		{fmt.Errorf("query 3: %w", &schedule.FullError{}), observe.Refused},
		{plan.ErrClosed, observe.Refused},
		{&schedule.DeadlineError{}, observe.Expired},
		{context.DeadlineExceeded, observe.Expired},
		{context.Canceled, observe.Cancelled},
		{schedule.ErrNoProcessor, observe.Failed},
		{plan.ErrOutOfMemory, observe.Failed},
		{errors.New("anything"), observe.Failed},
	} {
		if got := outcomeOf(c.err); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
}
