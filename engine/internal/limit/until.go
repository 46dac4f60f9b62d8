package limit

import (
	"context"
	"fmt"
	"time"

	"heddle/engine/internal/schedule"
)

// Step is the length of text in bytes that is analysed between two looks at the clock.
const Step = 8 << 10

// Until ends the analysis of a query. The zero value never does.
type Until struct {
	Context  context.Context
	Deadline time.Time // zero: none, besides the deadline of Context
}

// Err returns the error of the context, or schedule.ErrDeadline; nil before both have ended.
func (u *Until) Err() error {
	if u.Context != nil {
		if err := u.Context.Err(); err != nil && err != context.DeadlineExceeded {
			return err
		} else if err != nil {
			return errDeadline
		}
	}
	if !u.Deadline.IsZero() && !time.Now().Before(u.Deadline) {
		return errDeadline
	}
	return nil
}

var errDeadline = fmt.Errorf("%w during the analysis of the query: %w", schedule.ErrDeadline, context.DeadlineExceeded)
