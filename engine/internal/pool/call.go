package pool

import (
	"cmp"
	"context"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
)

// Call names the caller of a query and how it runs. The zero value is valid.
type Call struct {
	Caller string // callers share the processors evenly
	Mode   schedule.Mode
	// Deadline, unless zero, replaces Timeout. It is for calls that began earlier.
	Deadline time.Time
	Timeout  time.Duration        // 0: the timeout of the pool; negative: none
	Explain  *observe.Explanation // receives an explanation, unless nil
}

// Until returns the end of the time of a call: its Deadline, or for a call that begins now the
// earlier one of the deadline of ctx and of its Timeout.
func (p *Pool) Until(ctx context.Context, call *Call) limit.Until {
	if !call.Deadline.IsZero() {
		return limit.Until{Context: ctx, Deadline: call.Deadline}
	}
	at, _ := ctx.Deadline()
	if timeout := cmp.Or(call.Timeout, p.opt.Timeout); timeout > 0 {
		if own := time.Now().Add(timeout); at.IsZero() || own.Before(at) {
			at = own
		}
	}
	return limit.Until{Context: ctx, Deadline: at}
}
