// Package plantest is the one test suite that every plan.Backend must pass. Its
// oracle is a plain merge of sorted slices; a backend passes when it gives the
// same docIDs and the same counts, bit for bit, for every algorithm, every codec
// and every shape of query. Ranked queries have the same documents and scores as a
// plain sum over all postings, and those agree with BM25 in floating point. Of tables
// it gives the rows that a scan of row after row finds, for every strategy.
//
// A backend's own test is two calls:
//
//	func TestBackend(t *testing.T) {
//		open := func(t *testing.T) plan.Backend { return mine.New() }
//		plantest.Run(t, open, plantest.Options{})
//		plantest.RunTables(t, open, plantest.Options{})
//	}
package plantest

import (
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// Options narrows the suite. The zero value is the full suite without corrupt
// lists.
type Options struct {
	// Small keeps to few and small cases. It is for simulators and interpreters
	// that run a thousand times slower than the device they stand for.
	Small bool
	// Corrupt adds sources of random words. A backend that promises an error or
	// a bounded result for them, and never a panic, sets it.
	Corrupt bool
	// Unranked leaves out Store.Rank.
	Unranked bool
	// Algorithms to run; nil means plan.Auto and all that the backend names in its
	// Info.
	Algorithms []plan.Algorithm
	// Codecs of the lists; nil means codec.IDs.
	Codecs []codec.ID
}

func (o Options) algorithms() []plan.Algorithm { return o.Algorithms }

// pick returns full, or small for a Small suite.
func (o Options) pick(full, small int) int {
	if o.Small {
		return small
	}
	return full
}

// suite is what the cases share: how to get a backend, and what to run.
type suite struct {
	Options
	open func(t *testing.T) plan.Backend

	accumulators []plan.Accumulators // those that the backend has
}

// Run runs the suite. It calls open where it needs a backend of its own, and
// closes what it got; open fails or skips the test itself when there is none.
func Run(t *testing.T, open func(t *testing.T) plan.Backend, opt Options) {
	s := suite{Options: opt, open: open}
	if opt.Codecs == nil {
		s.Codecs = codec.IDs()
	}
	if opt.Algorithms == nil {
		b := open(t)
		s.Algorithms = append([]plan.Algorithm{plan.Auto}, b.Info().Algorithms...)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("unsupported", s.unsupported)
	t.Run("lists", s.lists)
	t.Run("lengths", s.lengths)
	t.Run("universes", s.universes)
	t.Run("shapes", s.shapes)
	t.Run("skew", s.skew)
	t.Run("random", s.random)
	t.Run("bigbatch", s.bigBatch)
	t.Run("bigquery", s.bigQuery)
	t.Run("reuse", s.reuse)
	t.Run("formulas", s.formulas)
	if !opt.Unranked {
		t.Run("ranks", s.ranks)
	}
	t.Run("stats", s.stats)
	t.Run("describe", s.describe)
	t.Run("concurrent", s.concurrent)
	t.Run("cancel", s.cancel)
	t.Run("close", s.close)
	t.Run("badsource", s.badSource)
	if opt.Corrupt {
		t.Run("corrupt", s.corrupt)
	}
}

// source is a plan.Source beside the plain lists that it was encoded from.
type source struct {
	plan.Source
	docs [][]uint32 // by handle
}

// add encodes docs as one more list.
func (s *source) add(t testing.TB, id codec.ID, docs []uint32) plan.Handle {
	t.Helper()
	h, err := s.Append(id, docs, codec.DefaultOptions())
	if err != nil {
		t.Fatalf("encoding %d docIDs as %v: %v", len(docs), id, err)
	}
	s.docs = append(s.docs, docs)
	return h
}

// addAll encodes docs in s once in every codec that takes a sane amount of room.
func (su *suite) addAll(t testing.TB, s *source, docs []uint32) {
	t.Helper()
	for _, id := range su.Codecs {
		if id == codec.Bitset && len(docs) > 0 && docs[len(docs)-1] > 1<<24 {
			continue // a bitset up to 2^32 takes half a gigabyte
		}
		s.add(t, id, docs)
	}
}

// load opens a backend and makes s resident there; both are closed with the test.
func (su *suite) load(t *testing.T, s *source) plan.Store {
	t.Helper()
	return loadOn(t, su.backend(t), s)
}

// backend opens one that is closed with the test.
func (su *suite) backend(t *testing.T) plan.Backend {
	t.Helper()
	b := su.open(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("closing the backend: %v", err)
		}
	})
	return b
}

// loadOn makes s resident on b until the test ends.
func loadOn(t *testing.T, b plan.Backend, s *source) plan.Store {
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

// verify runs b under every algorithm of the suite, with docIDs and with counts
// only, as PARA and as PART, and compares with the oracle. The batch's modes and
// algorithm are left as they were.
func (su *suite) verify(t *testing.T, st plan.Store, s *source, b *plan.MatchBatch) {
	t.Helper()
	if err := b.Validate(&s.Source); err != nil {
		t.Fatal(err)
	}
	before := *b
	defer func() { b.Algorithm, b.CountOnly, b.Part = before.Algorithm, before.CountOnly, before.Part }()
	want := s.answer(b)
	var out plan.Results
	for i, a := range su.algorithms() {
		for _, countOnly := range []bool{false, true} {
			b.Algorithm, b.CountOnly, b.Part = a, countOnly, (i%2 == 0) == countOnly
			if err := st.Match(t.Context(), b, &out); err != nil {
				t.Fatalf("%v, count only %t, part %t: %v", a, countOnly, b.Part, err)
			}
			if err := s.compare(b, want, &out); err != nil {
				t.Fatalf("%v, count only %t, part %t: %v", a, countOnly, b.Part, err)
			}
		}
	}
}

// uniform and clustered draw n docIDs, or universe if that is less.
var uniform, clustered = kind("uniform"), kind("clustered")

// kind is the generator of package codectest with that name.
func kind(name string) func(universe uint32, n int, r *rand.Rand) []uint32 {
	for _, g := range codectest.Generators() {
		if g.Name == name {
			return func(universe uint32, n int, r *rand.Rand) []uint32 { return g.Gen(r, n, uint64(universe)) }
		}
	}
	panic("plantest: codectest has no generator " + name)
}

// rng gives a generator that depends on the test's name alone, so that a failure
// comes back.
func rng(t testing.TB) *rand.Rand {
	var seed [32]byte
	copy(seed[:], t.Name())
	return rand.New(rand.NewChaCha8(seed))
}
