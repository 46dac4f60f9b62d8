package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Causes of errors, for errors.Is.
var (
	// ErrFull: the queue has no room for the job; the caller may try again.
	ErrFull = errors.New("the queue is full")
	// ErrDeadline: the deadline of the job has passed. errors.Is finds
	// context.DeadlineExceeded too.
	ErrDeadline = errors.New("the deadline has passed")
	// ErrHung: a batch of the processor did not return in time.
	ErrHung = errors.New("no answer")
	// ErrNoProcessor: no processor can run the job, or none can any more.
	ErrNoProcessor = errors.New("no processor is left")
)

// FullError describes the queue that refused a job.
type FullError struct {
	Caller             string
	Held, Queued, Room int // jobs of the caller, of all, and the most that may wait
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%v: %d of %d places are taken, %d by caller %q", ErrFull, e.Queued, e.Room, e.Held, e.Caller)
}

// Is finds ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// DeadlineError describes a job whose deadline has passed.
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
