package limit

import (
	"context"
	"time"
)

// Until ends the analysis of a query. The zero value never does.
type Until struct {
	Context  context.Context
	Deadline time.Time // zero: none, besides the deadline of Context
}

// Err returns the error of the context, or context.DeadlineExceeded; nil before both have
// ended.
func (u *Until) Err() error {
	if u.Context != nil {
		if err := u.Context.Err(); err != nil {
			return err
		}
	}
	if !u.Deadline.IsZero() && !time.Now().Before(u.Deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
