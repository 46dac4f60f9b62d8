package rank

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/plan"
)

// WorkloadBench holds one ranked workload and its checker.
type WorkloadBench struct {
	*harness.Runner
	kind  string
	W     *Workload
	Check *Checker
	// OnRelease releases the state of the embedding benchmark that belongs to the
	// workload.
	OnRelease func() error
}

// NewWorkloadBench returns a bench that releases its workload when the runner ends.
func NewWorkloadBench(r *harness.Runner) *WorkloadBench {
	b := &WorkloadBench{Runner: r, OnRelease: func() error { return nil }}
	r.OnEnd(b.Forget)
	return b
}

// Want makes the workload of a kind, unless it is the current one. The number of
// queries is the largest that any contestant answers.
func (b *WorkloadBench) Want(ctx context.Context, kind string, draw func(queries int) (*Workload, error)) error {
	if b.W != nil && b.kind == kind {
		return nil
	}
	if err := b.Forget(); err != nil {
		return err
	}
	n := 0
	for _, who := range b.Contestants {
		n = max(n, b.Opt.RankQueryCount(who.Info.Type))
	}
	began := time.Now()
	w, err := draw(n)
	if err != nil {
		return err
	}
	b.Logf("%s: generated in %.1f s", w.Name, time.Since(began).Seconds())
	w.describe(b.Out)
	began = time.Now()
	if b.Check, err = NewChecker(ctx, w, b.Opt.RankQueryCount("cpu"), plan.MaxK); err != nil {
		return err
	}
	b.Logf("%s: plain scores of a sample in %.1f s", w.Name, time.Since(began).Seconds())
	b.kind, b.W = kind, w
	return nil
}

// Forget releases the workload, which takes gigabytes, and prints the result of the
// verification.
func (b *WorkloadBench) Forget() error {
	err := b.OnRelease()
	if b.W == nil {
		return err
	}
	if b.Check.runs > 0 {
		fmt.Fprintf(b.Out, "%s\n\n", b.Check)
	}
	if b.W.release != nil {
		err = errors.Join(err, b.W.release())
	}
	b.W, b.Check = nil, nil
	debug.FreeOSMemory()
	return err
}
