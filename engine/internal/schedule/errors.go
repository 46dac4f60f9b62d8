package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What errors.Is finds.
var (
	// ErrFull is for jobs that found no room in the queue: the caller may try again.
	ErrFull = errors.New("the queue is full")
	// ErrDeadline is for jobs whose deadline has passed. errors.Is finds
	// context.DeadlineExceeded too.
	ErrDeadline = errors.New("the deadline has passed")
	// ErrHung is why a processor is taken out whose batch does not come back.
	ErrHung = errors.New("no answer")
	// ErrNoProcessor is for jobs that no processor can run, or none any more.
	ErrNoProcessor = errors.New("no processor is left")
)

// FullError says how full the queue was.
type FullError struct {
	Caller             string
	Held, Queued, Room int // jobs of the caller, of all, and the most that may wait
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%v: %d of %d places are taken, %d by caller %q", ErrFull, e.Queued, e.Room, e.Held, e.Caller)
}

// Is finds ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// DeadlineError says how long a job waited and ran.
type DeadlineError struct {
	Waited  time.Duration // since it arrived
	Running bool          // it had begun
}

func (e *DeadlineError) Error() string {
	state := "queued"
	if e.Running {
		state = "running"
	}
	return fmt.Sprintf("%v: %s after %v", ErrDeadline, state, e.Waited)
}

// Is finds ErrDeadline and context.DeadlineExceeded.
func (e *DeadlineError) Is(target error) bool {
	return target == ErrDeadline || target == context.DeadlineExceeded
}
