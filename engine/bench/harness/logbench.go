package harness

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// LogBench runs the GOV-like query log on backends. It holds the workload of one collection,
// the open index and the costs measured so far.
type LogBench struct {
	*Runner
	W       *workload.Workload
	Dict    *hdl.Dictionary
	Queries []workload.Query
	Check   *checker
	Peer    *roaringPeer // nil until an exhibit needs it
	sources map[workload.Encoding]*plan.Source
	Costs   map[Setup]*Cost
	batched map[batchRun]*Batching
	open    openIndex
}

// NewLogBench returns a bench that makes its workloads for the runner.
func NewLogBench(r *Runner) *LogBench {
	s := &LogBench{Runner: r}
	r.OnData(s.Prepare, s.summary)
	r.OnForget(s.Forget)
	return s
}

// Prepare makes the workload of a collection with its queries, dictionary and checker.
func (s *LogBench) Prepare(ctx context.Context, d workload.DataSet) (name string, err error) {
	began := time.Now()
	w, err := d.Generate(ctx, s.Opt.Seed, min(s.Opt.Themes, d.Themes))
	if err != nil {
		return "", err
	}
	s.W, s.sources, s.Costs, s.batched = w, make(map[workload.Encoding]*plan.Source), make(map[Setup]*Cost), make(map[batchRun]*Batching)
	if s.Dict, err = hdl.NewDictionary(w.Terms); err != nil {
		return "", err
	}
	s.Queries = Queries(w, max(s.Opt.QueryCount("cpu"), s.Opt.QueryCount("gpu")))
	s.Logf("%s: generated in %.1f s", w.Name(), time.Since(began).Seconds())
	w.Describe(s.Out)
	fmt.Fprintln(s.Out)
	s.Check, err = newChecker(ctx, w, s.Opt.QueryCount("cpu"))
	return w.Name(), err
}

// summary describes the verification of the answers.
func (s *LogBench) summary() string {
	if s.Check.runs == 0 {
		return ""
	}
	return s.Check.String()
}

// Forget releases the workload, because the next one needs its gigabytes.
func (s *LogBench) Forget() error {
	err := s.CloseIndex()
	*s = LogBench{Runner: s.Runner}
	debug.FreeOSMemory()
	return err
}

// WantPeer makes the bitmaps of the other library if the options ask for it.
func (s *LogBench) WantPeer(ctx context.Context) (err error) {
	if s.Peer == nil && s.Opt.Peers {
		s.Logf("making the bitmaps of %s", PeerName)
		s.Peer, err = newRoaringPeer(ctx, s.W, s.Opt.Threads)
	}
	return err
}

// Panel names the document order and a contestant.
func (s *LogBench) Panel(who Contestant) string {
	return s.W.Set.Order.String() + ", " + who.String()
}
