package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/hostfallback"
)

var flights, wheres, wanted = predicatetest.Flights, predicatetest.FlightWheres, predicatetest.FlightAnswers

// inTable makes the table of flights in memory.
func inTable(t testing.TB, word int) (*plantest.Table, []column.Column) {
	t.Helper()
	return predicatetest.Table(t, word, flights()...)
}

// tableEngine starts an engine, which is closed with the test.
func tableEngine(t testing.TB, opt Options) *Engine {
	t.Helper()
	e, err := New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil && CodeOf(err) != Closed {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

// openTable opens flights as a table in memory, on an engine of its own.
func openTable(t testing.TB, opt Options) *Table {
	t.Helper()
	return memoryTable(t, tableEngine(t, opt), 32)
}

// memoryTable opens flights as a table in memory. It is closed with its engine.
func memoryTable(t testing.TB, e *Engine, word int) *Table {
	t.Helper()
	tab, columns := inTable(t, word)
	x, err := e.NewTable(t.Context(), &tab.Table, columns, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// tableFile writes flights as a table file, or the columns that keep says.
func tableFile(t testing.TB, word int, keep ...int) string {
	t.Helper()
	in := flights()
	if keep != nil {
		in = nil
		for _, i := range keep {
			in = append(in, flights()[i])
		}
	}
	tab, columns := predicatetest.Table(t, word, in...)
	path := filepath.Join(t.TempDir(), "flights.hdb")
	w, err := hdb.Create(path, tab.Rows, word, hdb.Meta{Source: "flights"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i, c := range columns {
		cw, err := w.Column(c)
		if err == nil {
			err = cw.Codes(tab.Codes[i], tab.Lacks(i))
		}
		for v := c.Vector; v < c.Vector+uint32(c.Vectors()) && err == nil; v++ {
			if word == 64 {
				err = cw.Vector64(tab.Vector64(v))
			} else {
				err = cw.Vector32(tab.Vector32(v))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// selections are predicates with the options of s.
func selections(s Selection, wheres ...string) (all []Selection) {
	for _, w := range wheres {
		s.Where = w
		all = append(all, s)
	}
	return all
}

// selectAll answers selections into one plan.Rows.
func selectAll(ctx context.Context, x *Table, all []Selection) (out plan.Rows, err error) {
	err = x.SelectAll(ctx, all, func(first int, rows []Rows) error {
		if first != len(out.Counts) {
			return errors.New("answers arrive in another order")
		}
		for _, r := range rows {
			out.Counts, out.Bits, out.Stride = append(out.Counts, uint32(r.Count)), append(out.Bits, r.Bits...), len(r.Bits)
		}
		return nil
	})
	return out, err
}

// checkAll asks all predicates in one call with the options of s.
func checkAll(t testing.TB, x *Table, s Selection) {
	t.Helper()
	out, err := selectAll(t.Context(), x, selections(s, wheres...))
	if err != nil {
		t.Errorf("%+v: %v", s, err)
		return
	}
	want := wanted()
	if !slices.Equal(out.Counts, want.Counts) {
		t.Errorf("%+v: %d rows, want %d", s, out.Counts, want.Counts)
	}
	if s.Output == plan.OutputBits && (out.Stride != want.Stride || !slices.Equal(out.Bits, want.Bits)) {
		t.Errorf("%+v: other rows than wanted", s)
	}
}

// checkOne asks predicate i by itself.
func checkOne(t testing.TB, x *Table, s Selection, i int) {
	t.Helper()
	s.Where = wheres[i]
	r, err := x.Select(t.Context(), s)
	if err != nil {
		t.Errorf("%s: %v", s.Where, err)
		return
	}
	want := wanted()
	if r.Count != uint64(want.Counts[i]) || s.Output == plan.OutputBits && !slices.Equal(r.Bits, want.Selection(i)) {
		t.Errorf("%s: %d rows, want %d, or other ones", s.Where, r.Count, want.Counts[i])
	}
	if s.Output == plan.OutputBits {
		rows, end := uint64(0), int64(-2)
		for first, last := range r.Ranges() {
			if int64(first) <= end+1 || last < first {
				t.Errorf("%s: the range %d to %d behind row %d", s.Where, first, last, end)
			}
			rows, end = rows+uint64(last-first)+1, int64(last)
		}
		if rows != r.Count {
			t.Errorf("%s: ranges of %d rows, want %d", s.Where, rows, r.Count)
		}
	}
}

// tableDevice is pure Go that calls itself a device. It fails on demand and counts open
// tables. Its memory is limited, for lists and tables together.
type tableDevice struct {
	plan.Backend
	name string
	load error  // fails LoadTable
	room uint64 // bytes; 0 is any number
	// batch is asked before each batch; n counts from 1.
	batch      func(ctx context.Context, n int64) error
	strategies []plan.Strategy // nil: all of pure Go

	mu      sync.Mutex
	used    uint64
	highest uint64
	batches atomic.Int64
	stores  atomic.Int64
}

func newTableDevice(t testing.TB, name string) *tableDevice {
	t.Helper()
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	d := &tableDevice{Backend: host, name: name}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if n := d.stores.Load(); n != 0 || d.used != 0 {
			t.Errorf("%s: %d stores of %d bytes are open", name, n, d.used)
		}
	})
	return d
}

func (d *tableDevice) Info() plan.Info {
	return plan.Info{Kind: "fake", Device: d.name, Memory: d.room}
}

func (d *tableDevice) fails(kind error) error {
	return &plan.DeviceError{Kind: kind, Device: d.name, Op: "testing"}
}

// take reserves memory.
func (d *tableDevice) take(bytes uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room > 0 && d.used+bytes > d.room {
		return d.fails(plan.ErrOutOfMemory)
	}
	d.used += bytes
	d.highest = max(d.highest, d.used)
	d.stores.Add(1)
	return nil
}

func (d *tableDevice) release(bytes uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used -= bytes
	d.stores.Add(-1)
}

func (d *tableDevice) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := d.Backend.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	size := 4 * uint64(len(src.Words))
	if err := d.take(size); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &deviceLists{s, d, size}, nil
}

func (d *tableDevice) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if d.load != nil {
		return nil, d.load
	}
	s, err := d.Backend.LoadTable(ctx, t)
	if err != nil {
		return nil, err
	}
	size := 4*uint64(len(t.Words32)+len(t.Slices)) + 8*uint64(len(t.Words64))
	if err := d.take(size); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &deviceTable{s, d, size}, nil
}

type deviceLists struct {
	plan.Store
	d    *tableDevice
	size uint64
}

func (s *deviceLists) Close() error { s.d.release(s.size); return s.Store.Close() }

type deviceTable struct {
	plan.TableStore
	d    *tableDevice
	size uint64
}

func (s *deviceTable) Close() error { s.d.release(s.size); return s.TableStore.Close() }

func (s *deviceTable) Strategies() []plan.Strategy {
	if s.d.strategies != nil {
		return s.d.strategies
	}
	return s.TableStore.Strategies()
}

func (s *deviceTable) Select(ctx context.Context, b *plan.SelectBatch, out *plan.Rows) error {
	n := s.d.batches.Add(1)
	if s.d.batch != nil {
		if err := s.d.batch(ctx, n); err != nil {
			*out = plan.Rows{Counts: []uint32{1, 2, 3}, Bits: []uint64{1}, Stride: 9} // spoilt
			return err
		}
	}
	return s.TableStore.Select(ctx, b, out)
}

// beside are options of devices with pure Go in reserve.
func beside(t testing.TB, devices ...*tableDevice) Options {
	t.Helper()
	host := hostfallback.New(hostfallback.Options{Threads: 2})
	t.Cleanup(func() { host.Close() })
	opt := Options{Backends: []plan.Backend{host}}
	for _, d := range devices {
		opt.Backends = append(opt.Backends, d)
	}
	return opt
}

// devicesOnly are options of devices alone.
func devicesOnly(devices ...*tableDevice) (opt Options) {
	for _, d := range devices {
		opt.Backends = append(opt.Backends, d)
	}
	return opt
}
