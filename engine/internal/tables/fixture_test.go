package tables

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/schedule"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/hostfallback"
)

var wheres, wanted = predicatetest.FlightWheres, predicatetest.FlightAnswers

// flights is the table of flights in memory.
func flights(t testing.TB, word int) *Data {
	t.Helper()
	tab, columns := predicatetest.Table(t, word, predicatetest.Flights()...)
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// slow is a host that calls itself a device. Every batch takes longer, and failing batches
// return an error.
type slow struct {
	plan.Backend
	by      atomic.Int64 // nanoseconds
	fail    atomic.Pointer[error]
	load    error
	batches atomic.Int64
	only    []plan.Strategy // nil is all strategies of the host
}

func (b *slow) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if b.load != nil {
		return nil, b.load
	}
	s, err := b.Backend.LoadTable(ctx, t)
	return &slowStore{s, b}, err
}

type slowStore struct {
	plan.TableStore
	b *slow
}

func (s *slowStore) Strategies() []plan.Strategy {
	if s.b.only != nil {
		return s.b.only
	}
	return s.TableStore.Strategies()
}

func (s *slowStore) Select(ctx context.Context, b *plan.SelectBatch, out *plan.Rows) error {
	s.b.batches.Add(1)
	time.Sleep(time.Duration(s.b.by.Load()))
	if err := s.b.fail.Load(); err != nil {
		return *err
	}
	return s.TableStore.Select(ctx, b, out)
}

func newSlow(t testing.TB) *slow {
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	t.Cleanup(func() { host.Close() })
	return &slow{Backend: host}
}

// placed gives a host and devices as places.
func placed(t testing.TB, host plan.Backend, devices ...*slow) []Place {
	places := []Place{{Name: "host", Host: true, Backend: host, Info: plan.Info{Kind: "host"}}}
	for _, d := range devices {
		places = append(places, Place{Name: "device", Backend: d})
	}
	return places
}

// scheduled runs the tasks of a generation.
func scheduled(t testing.TB, g *Generation, opt schedule.Options) *schedule.Scheduler {
	t.Helper()
	var list []schedule.Processor
	for p, r := range g.places {
		list = append(list, schedule.Processor{Name: r.Name, Host: r.Host, Inline: r.Host, Lanes: 2,
			Threshold: func(kind any) uint64 { return g.Threshold(p, kind) },
			Start:     func(kind any) time.Duration { return g.Start(p, kind) },
			Estimate:  func(j *schedule.Job) (time.Duration, time.Duration, bool) { return g.Estimate(p, j.Work) },
			Run:       func(ctx context.Context, b *schedule.Batch) error { return g.Run(ctx, p, b, true) },
		})
	}
	s, err := schedule.New(opt, list...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask runs predicates as one task and checks the answers.
func ask(t testing.TB, g *Generation, s *schedule.Scheduler, output plan.Output, numbers ...int) *Task {
	t.Helper()
	task := g.NewTask(output, plan.StrategyAuto, false)
	for _, i := range numbers {
		p, err := g.Compile(wheres[i])
		if err != nil {
			t.Fatal(err)
		}
		task.Add(p)
	}
	if err := s.Do(t.Context(), &task.Job); err != nil {
		t.Error(err)
		return task
	}
	check(t, task, numbers...)
	return task
}

// check compares the answer of a task with the oracle.
func check(t testing.TB, task *Task, numbers ...int) {
	t.Helper()
	rows, want := task.Rows(), wanted()
	for k, i := range numbers {
		if rows.Counts[k] != want.Counts[i] {
			t.Errorf("%s: %d rows, want %d", wheres[i], rows.Counts[k], want.Counts[i])
		}
		if task.kind.Output == plan.OutputBits && !slices.Equal(rows.Selection(k), want.Selection(i)) {
			t.Errorf("%s: other rows than wanted", wheres[i])
		}
	}
}
