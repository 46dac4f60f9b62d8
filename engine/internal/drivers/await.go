package drivers

import (
	"errors"
	"fmt"
	"time"

	"heddle/engine/internal/cputime"
)

// ErrNoAnswer is the cause of an error of Await.
var ErrNoAnswer = errors.New("the driver does not return")

// Await runs f, which calls drivers, and returns its error. If f makes no progress for the limit, by the
// rule of Options.Limit, Await returns ErrNoAnswer with the time, and f goes on: no process can end a call of a
// driver but by its own end.
func Await(limit time.Duration, f func() error) error { return await(limit, cputime.Total, f) }

func await(limit time.Duration, used func() time.Duration, f func() error) error {
	if limit == 0 {
		limit = DefaultLimit
	}
	ended, result, hung := make(chan struct{}), error(nil), make(chan struct{})
	c := &child{limit: limit, cpu: used, kill: func() { close(hung) }}
	c.phase.Store(&phase{Start, time.Now()})
	go c.watch(ended)
	go func() {
		result = f()
		close(ended)
	}()
	select {
	case <-ended:
		return result
	case <-hung:
		return fmt.Errorf("%w: %s", ErrNoAnswer, *c.hung.Load())
	}
}
