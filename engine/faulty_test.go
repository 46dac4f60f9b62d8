package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"heddle/engine/internal/backend"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// faulty is a device that fails on demand and counts open objects. It is in pure Go,
// unless it is on another backend.
type faulty struct {
	name       string
	host       bool         // it says that it is the host
	on         plan.Backend // not closed with it
	open, load error
	memory     uint64 // that backend and store say they have, and take
	room       int64  // stores that it holds at a time, 0 is any number
	// batch is asked before each batch, and late after it; n counts them from 1.
	batch, late func(ctx context.Context, n int64) error
	// wait holds Load and LoadTable up until it is closed, or until the context ends.
	wait chan struct{}

	opens, backends, stores atomic.Int64 // calls of open; open objects
	loading                 atomic.Int64 // calls of Load and LoadTable that run
	batches, answered       atomic.Int64
}

func (f *faulty) candidate() backend.Candidate {
	return backend.Candidate{Name: f.name, Host: f.host, Open: func(context.Context) (plan.Backend, error) {
		f.opens.Add(1)
		if f.open != nil {
			return nil, f.open
		}
		f.backends.Add(1)
		if f.on != nil {
			return &faultyBackend{f.on, f}, nil
		}
		return &faultyBackend{hostfallback.New(hostfallback.Options{Threads: 2}), f}, nil
	}}
}

type faultyBackend struct {
	plan.Backend
	f *faulty
}

func (b *faultyBackend) Info() plan.Info {
	info := plan.Info{Kind: "faulty", Device: b.f.name, Memory: b.f.memory}
	if b.f.host {
		info.Kind, info.ComputeUnits = "host", 2
	}
	return info
}

func (b *faultyBackend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	defer b.f.loading.Add(-1)
	if err := b.f.held(ctx); err != nil {
		return nil, err
	}
	if b.f.load != nil {
		return nil, b.f.load
	}
	if b.f.room > 0 && b.f.stores.Load() >= b.f.room {
		return nil, broken(plan.ErrOutOfMemory, b.f.name)
	}
	s, err := b.Backend.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	b.f.stores.Add(1)
	return &faultyStore{Store: s, f: b.f}, nil
}

func (b *faultyBackend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	defer b.f.loading.Add(-1)
	if err := b.f.held(ctx); err != nil {
		return nil, err
	}
	return b.Backend.LoadTable(ctx, t)
}

// held counts a load and holds it up.
func (f *faulty) held(ctx context.Context) error {
	f.loading.Add(1)
	if f.wait == nil {
		return nil
	}
	select {
	case <-f.wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *faultyBackend) Close() error {
	if b.f.loading.Load() != 0 {
		return errors.New(b.f.name + ": closed while it loads")
	}
	if b.f.stores.Load() != 0 {
		return errors.New(b.f.name + ": closed before its store")
	}
	if b.f.backends.Add(-1) < 0 {
		return errors.New(b.f.name + ": closed twice")
	}
	if b.f.on != nil {
		return nil
	}
	return b.Backend.Close()
}

type faultyStore struct {
	plan.Store
	f       *faulty
	running sync.RWMutex // held for reading by batches: Close waits for them, as others do
}

func (s *faultyStore) Memory() uint64 { return s.Store.Memory() + s.f.memory }

func (s *faultyStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	return s.answer(ctx, func() { spoil(out) }, b.Queries(), func() error { return s.Store.Match(ctx, b, out) })
}

// spoil writes results as a broken device may leave them.
func spoil(out *plan.Results) {
	out.Offsets = append(out.Offsets[:0], 5, 4, 3)
	out.Docs = append(out.Docs[:0], 1, 1, 1)
	out.Stats.Queries = 1000
}

func (s *faultyStore) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	spoil := func() {
		out.Offsets = append(out.Offsets[:0], 5, 4, 3)
		out.Docs, out.Scores = append(out.Docs[:0], 1, 1, 1), append(out.Scores[:0], 9)
		out.Stats.Queries = 1000
	}
	return s.answer(ctx, spoil, r.Queries(), func() error { return s.Store.Rank(ctx, r, out) })
}

func (s *faultyStore) answer(ctx context.Context, spoil func(), queries int, run func() error) error {
	s.running.RLock()
	defer s.running.RUnlock()
	n := s.f.batches.Add(1)
	if s.f.batch != nil {
		if err := s.f.batch(ctx, n); err != nil {
			spoil()
			return err
		}
	}
	if err := run(); err != nil {
		return err
	}
	if s.f.late != nil {
		if err := s.f.late(ctx, n); err != nil {
			spoil()
			return err
		}
	}
	s.f.answered.Add(int64(queries))
	return nil
}

func (s *faultyStore) Close() error {
	s.running.Lock()
	defer s.running.Unlock()
	if s.f.stores.Add(-1) < 0 {
		return errors.New(s.f.name + ": its store is closed twice")
	}
	return s.Store.Close()
}

// after fails every batch from the n-th on with an error of kind.
func after(n int64, kind error, device string) func(context.Context, int64) error {
	return func(_ context.Context, batch int64) error {
		if batch < n {
			return nil
		}
		return broken(kind, device)
	}
}

// broken is an error as a device gives it.
func broken(kind error, device string) error {
	return &plan.DeviceError{Kind: kind, Device: device, Op: "testing", Err: errors.New("a fault was asked for")}
}

// faultyOptions tries devices in their order.
func faultyOptions(devices ...*faulty) Options {
	opt := Options{Workers: 3, BatchCandidates: 50} // many batches
	for _, d := range devices {
		opt.candidates = append(opt.candidates, d.candidate())
	}
	return opt
}

// nothingOpen checks that all devices are closed.
func nothingOpen(t testing.TB, devices ...*faulty) {
	t.Helper()
	for _, d := range devices {
		if b, s := d.backends.Load(), d.stores.Load(); b != 0 || s != 0 {
			t.Errorf("%s: %d backends and %d stores are still open", d.name, b, s)
		}
	}
}

// logged keeps the lines of a log.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) logger() *zerolog.Logger {
	logger := zerolog.New(l)
	return &logger
}

// expect looks for a line of a level that has all of words.
func (l *logged) expect(t testing.TB, level string, words ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
lines:
	for line := range strings.Lines(l.buf.String()) {
		var entry struct{ Level string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue lines
			}
		}
		if entry.Level == level {
			return
		}
	}
	t.Errorf("no line of level %s with %q in the log:\n%s", level, words, l.buf.String())
}

// lateBackend ends the context when its store is ready.
type lateBackend struct {
	plan.Backend
	stop func()
}

func (b *lateBackend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := b.Backend.Load(ctx, src)
	b.stop()
	return s, err
}
