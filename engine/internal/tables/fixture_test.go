package tables

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
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

// newPool has a host, which is a reserve where there are devices, and devices.
func newPool(t testing.TB, opt schedule.Options, devices ...*slow) *pool.Pool {
	t.Helper()
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	t.Cleanup(func() { host.Close() })
	open := []backend.Opened{{Candidate: backend.Candidate{Host: true, Kept: true, Reserve: len(devices) > 0}, Backend: host, Info: plan.Info{Kind: "host", Device: "host", ComputeUnits: 2}}}
	for _, d := range devices {
		open = append(open, backend.Opened{Candidate: backend.Candidate{Kept: true}, Backend: d, Info: plan.Info{Device: "device"}})
	}
	p, err := pool.New(open, pool.Options{Schedule: opt, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
			t.Error(err)
		}
	})
	return p
}

// loaded makes d a table of p.
func loaded(t testing.TB, p *pool.Pool, d *Data) *Generation {
	t.Helper()
	x, err := NewTable(t.Context(), p, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x.Current()
}

// ask runs predicates as one task and checks the answers.
func ask(t testing.TB, g *Generation, output plan.Output, numbers ...int) *Task {
	t.Helper()
	task := g.NewTask(output, plan.StrategyAuto, false)
	for _, i := range numbers {
		p, err := g.Compile(wheres[i])
		if err != nil {
			t.Fatal(err)
		}
		task.Add(p)
	}
	if err := task.Do(t.Context(), &pool.Call{}); err != nil {
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
		if task.kind.output == plan.OutputBits && !slices.Equal(rows.Selection(k), want.Selection(i)) {
			t.Errorf("%s: other rows than wanted", wheres[i])
		}
	}
}
