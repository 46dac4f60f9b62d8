package plantest

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// Options narrows the suite. The zero value is the full suite without damaged
// data.
type Options struct {
	// Small keeps to few and small cases. It is for simulators and interpreters,
	// which take a thousand times longer than the device that they simulate.
	Small bool
	// Corrupt adds sources and tables of random words. It is for backends that
	// answer such data with an error or a bounded result, and never panic.
	Corrupt bool
	// Algorithms of conjunctions. Nil means plan.Auto and all algorithms in the Info
	// of the backend.
	Algorithms []plan.Algorithm
	// Codecs of the lists. Nil means codec.IDs.
	Codecs []codec.ID
	// Ranked is the largest universe of ranked queries: they go over every range of
	// documents. Zero means the largest universe that exists.
	Ranked uint32
}

// Suite is the ground that the cases of all packages stand on: options, and a way
// to open backends.
type Suite struct {
	Options
	// Open returns a new backend. The caller closes it. Open fails or skips the test
	// if there is none.
	Open func(t *testing.T) plan.Backend
	// Shared is the backend of all cases that need no other one: opening a device
	// builds kernels, which takes longer than most cases.
	Shared plan.Backend
	turn   int
}

// Turn returns 0 to n-1 in turns. In a Small suite cases take one of n variants.
func (su *Suite) Turn(n int) int {
	su.turn++
	return su.turn % n
}

// New returns a Suite whose options have their defaults filled in. Its shared backend
// is open until t ends.
func New(t *testing.T, open func(t *testing.T) plan.Backend, opt Options) *Suite {
	t.Helper()
	su := &Suite{Options: opt, Open: open}
	su.Shared = su.Backend(t)
	if su.Codecs == nil {
		su.Codecs = codec.IDs()
	}
	if su.Algorithms == nil {
		su.Algorithms = append([]plan.Algorithm{plan.Auto}, su.Shared.Info().Algorithms...)
	}
	return su
}

// Pick returns full, or small in a Small suite.
func (o Options) Pick(full, small int) int {
	if o.Small {
		return small
	}
	return full
}

// Backend opens a backend of its own for a test and closes it when the test ends.
func (su *Suite) Backend(t *testing.T) plan.Backend {
	t.Helper()
	b := su.Open(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("closing the backend: %v", err)
		}
	})
	return b
}

// Load makes s resident on the shared backend until the test ends.
func (su *Suite) Load(t *testing.T, s *Source) plan.Store {
	t.Helper()
	return LoadOn(t, su.Shared, s)
}

// LoadOn makes s resident on b until the test ends.
func LoadOn(t *testing.T, b plan.Backend, s *Source) plan.Store {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	st, err := b.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatalf("load of %d lists, %d words: %v", len(s.Lists), len(s.Words), err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return st
}

// Check is rapid.Check with 30 cases, 300 if testneeds.Full, 8 in a Small suite. The flag
// rapid.checks overrides these numbers.
func (su *Suite) Check(t *testing.T, property func(*rapid.T)) {
	full := 30
	if testneeds.Full() {
		full = 300
	}
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set(strconv.Itoa(su.Pick(full, 8))); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(checks.DefValue)
	}
	rapid.Check(t, property)
}

// Interrupt calls run under deadlines of growing length, some of which must end
// it. A run that finishes before its deadline must pass check.
func (su *Suite) Interrupt(t *testing.T, run func(ctx context.Context, i int) error, check func() error) {
	t.Helper()
	stopped := 0
	for i := range su.Pick(30, 5) {
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(i*i)*10*time.Microsecond)
		err := run(ctx, i)
		stop()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			stopped++
		case err != nil:
			t.Fatalf("run %d under a deadline: %v", i, err)
		default:
			if err := check(); err != nil {
				t.Fatalf("run %d finished before its deadline with a wrong answer: %v", i, err)
			}
		}
	}
	if stopped == 0 {
		t.Error("no deadline ended a run")
	}
}

// RNG returns a random generator that depends on the name of the test alone, so
// that a failure can be repeated.
func RNG(t testing.TB) *rand.Rand {
	var seed [32]byte
	copy(seed[:], t.Name())
	return rand.New(rand.NewChaCha8(seed))
}
