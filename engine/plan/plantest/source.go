package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// MaxUniverse is the largest number of documents; docIDs end at 2^32-2.
const MaxUniverse = math.MaxUint32

// Source is a plan.Source together with the plain lists that it encodes.
type Source struct {
	plan.Source
	Plain reference.Lists
}

// NewSource returns a source without lists over docIDs below docs.
func NewSource(docs uint32) *Source { return &Source{Source: plan.Source{Docs: docs}} }

// Failer is a test of package testing or rapid.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Add encodes docs as one more list and returns its handle.
func (s *Source) Add(t Failer, id codec.ID, docs []uint32) plan.Handle {
	t.Helper()
	h, err := s.Append(id, docs, codec.DefaultOptions())
	if err != nil {
		t.Fatalf("encoding %d docIDs as %v: %v", len(docs), id, err)
	}
	s.Plain.Docs = append(s.Plain.Docs, docs)
	return h
}

// AddAll encodes docs in s once in each codec of the suite that Fitting allows.
func (su *Suite) AddAll(t testing.TB, s *Source, docs []uint32) {
	t.Helper()
	for _, id := range su.Codecs {
		if Fitting(id, docs) == id {
			s.Add(t, id, docs)
		}
	}
}

// Fitting returns id, or ParaPFor where a bitset of docs would take more than two
// mebibytes. A bitset up to docID 2^32 takes half a gigabyte.
func Fitting(id codec.ID, docs []uint32) codec.ID {
	if id.Layout() == codec.BitLayout && len(docs) > 0 && docs[len(docs)-1] > 1<<24 {
		return codec.ParaPFor
	}
	return id
}

// Uniform and Clustered draw n docIDs below universe, or universe docIDs if that
// is less. The docIDs of Clustered lie in groups.
var Uniform, Clustered = generator("uniform"), generator("clustered")

// generator returns the generator of package codectest with a name.
func generator(name string) func(universe uint32, n int, r *rand.Rand) []uint32 {
	for _, g := range codectest.Generators() {
		if g.Name == name {
			return func(universe uint32, n int, r *rand.Rand) []uint32 { return g.Gen(r, n, uint64(universe)) }
		}
	}
	panic("plantest: codectest has no generator " + name)
}

// Workload returns a source of lists of mixed density, and a batch of
// conjunctions of up to five of them.
func (su *Suite) Workload(t *testing.T, lists, queries int) (*Source, *plan.MatchBatch) {
	r := RNG(t)
	s := NewSource(uint32(su.Pick(30_000, 2_000)))
	for i := range lists {
		docs := Uniform
		if i%3 == 0 {
			docs = Clustered
		}
		n := 1 + r.IntN(int(s.Docs)>>r.IntN(8))
		s.Add(t, su.Codecs[r.IntN(len(su.Codecs))], docs(s.Docs, n, r))
	}
	b := &plan.MatchBatch{}
	b.Reset()
	for range queries {
		q := make([]plan.Handle, r.IntN(6))
		for i := range q {
			q[i] = uint32(r.IntN(lists))
		}
		b.Add(&s.Source, q...)
	}
	return s, b
}

// RandomSource draws universe, lists, codecs and options of codecs.
func (su *Suite) RandomSource(rt *rapid.T) *Source {
	s := NewSource(rapid.SampledFrom([]uint32{1, 40, 129, 1000, 20_000, 1 << 20, MaxUniverse}).Draw(rt, "universe"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	for i := range rapid.IntRange(1, 8).Draw(rt, "lists") {
		g := rapid.SampledFrom(codectest.Generators()).Draw(rt, fmt.Sprint("kind of list ", i))
		docs := g.Gen(r, rapid.IntRange(0, su.Pick(2000, 200)).Draw(rt, "length"), uint64(s.Docs))
		id := rapid.SampledFrom(su.Codecs).Draw(rt, "codec")
		h, err := s.Append(Fitting(id, docs), docs, codec.Options{
			ExceptionRatio: rapid.SampledFrom([]float64{0, 0.1, 0.6}).Draw(rt, "exceptions"),
			RPFDLevels:     rapid.IntRange(0, codec.MaxRPFDLevels).Draw(rt, "rpfd levels"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		if int(h) != i {
			rt.Fatalf("list %d got handle %d", i, h)
		}
		s.Plain.Docs = append(s.Plain.Docs, docs)
	}
	return s
}
