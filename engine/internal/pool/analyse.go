package pool

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
)

// analysis is the work of a caller before its job: the analysis of a long text.
type analysis struct {
	bytes int
	run   func() error
	err   error // error of run
}

// perByte estimates the time of an analysis per byte of text.
const perByte = 128 * time.Nanosecond

// newAnalyses returns the scheduler of analyses. It has the queue bound and the fairness of the
// scheduler of jobs, and half of the cores. An analysis runs on the goroutine of its caller if
// no other one waits.
func newAnalyses(opt *schedule.Options) (*schedule.Scheduler, error) {
	return schedule.New(schedule.Options{Mode: schedule.Async, Capacity: opt.Capacity, Hang: opt.Hang}, schedule.Processor{
		Name: "analysis", Host: true, Inline: true, Lanes: max(1, runtime.GOMAXPROCS(0)/2),
		Threshold: func(any) uint64 { return 1 },
		Estimate: func(j *schedule.Job) (alone, added time.Duration, ok bool) {
			took := time.Duration(j.Work.(*analysis).bytes) * perByte
			return took, took, true
		},
		Run: func(_ context.Context, b *schedule.Batch) error {
			// A claimed job is waited for: after Do, run has ended or never begins.
			if b.Claim(0) {
				a := b.Jobs[0].Work.(*analysis)
				defer mapped.Catch(mapped.Watch(), &a.err)
				a.err = a.run()
			}
			return nil
		},
	})
}

// Analyse calls run, which analyses about the given number of bytes of text for a caller and looks at
// until, when its turn has come: callers share the analyses evenly, and further ones are
// refused with schedule.ErrFull. It is for texts above limit.Step.
func (p *Pool) Analyse(until *limit.Until, caller string, bytes int, run func() error) error {
	a := &analysis{bytes: bytes, run: run}
	if err := p.analyses.Do(until.Context, &schedule.Job{Work: a, Load: 1, Caller: caller, Deadline: until.Deadline}); err != nil {
		return fmt.Errorf("analysis of a long text: %w", err)
	}
	return a.err
}
