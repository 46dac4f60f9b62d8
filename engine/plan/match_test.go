package plan

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValidateBatch(t *testing.T) {
	src := letters()
	for complaint, b := range map[string]MatchBatch{
		"do not cover its 1": {Offsets: []uint32{0, 2}, Handles: []Handle{0}},
		"do not cover its 0": {Offsets: []uint32{1}},
		"query 1 do not":     {Offsets: []uint32{0, 1, 0, 1}, Handles: []Handle{0}},
		"query 0 do not":     {Offsets: []uint32{0, 9, 1}, Handles: []Handle{0}},
		"list 26 of 26":      {Offsets: []uint32{0, 1}, Handles: []Handle{26}},
		"ascending order":    {Offsets: []uint32{0, 2}, Handles: []Handle{3, 3}},
	} {
		if err := b.Validate(src); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want a complaint about %q", err, complaint)
		}
	}
	for _, b := range []MatchBatch{{}, {Offsets: []uint32{0}}, {Offsets: []uint32{0, 0, 0}}} {
		if err := b.Validate(src); err != nil {
			t.Error(err)
		}
	}
}

// TestResetFilters: a batch that is used again has no filter of the batch before.
func TestResetFilters(t *testing.T) {
	src := letters()
	var b MatchBatch
	var r RankBatch
	for _, filters := range [][]Filter{{&marked{}, &marked{}}, {nil}} {
		b.Reset()
		r.Reset()
		for _, f := range filters {
			b.Add(src, 1)
			b.Restrict(f)
			r.Add(src, Term{1, 1})
			r.Restrict(f)
		}
		for i, f := range filters {
			if b.Filter(i) != f || r.Filter(i) != f || len(b.Filters) > len(filters) || len(r.Filters) > len(filters) {
				t.Errorf("query %d of %d: filters %v and %v, want %v", i, len(filters), b.Filter(i), r.Filter(i), f)
			}
		}
	}
}

// TestWeightsBound: the weights of a query may add up to 2^32-1.
func TestWeightsBound(t *testing.T) {
	src := letters()
	src.Freqs, src.Impacts = []uint32{}, 8
	for weight, want := range map[uint32]bool{1<<31 - 1: true, 1 << 31: false, 1<<31 + 1: false} {
		r := &RankBatch{K: 1, Norm: Norm{Impacts: 8}, Offsets: []uint32{0, 2}, Terms: []Term{{3, 1 << 31}, {4, weight}}}
		if err := r.Validate(src); (err == nil) != want {
			t.Errorf("weights 2^31 and %d: %v", weight, err)
		}
	}
}

// TestCountWithTerms counts documents with a length, where the source does not know better.
func TestCountWithTerms(t *testing.T) {
	for want, s := range map[uint64]*Source{
		3: {Docs: 5, Lengths: []uint32{0, 1, 2, 0, 1 << 31}}, 4: {Docs: 5, Lengths: make([]uint32, 5), WithTerms: 4}, 5: {Docs: 5},
	} {
		if n := s.CountWithTerms(); n != want {
			t.Errorf("%+v: %d documents with terms, want %d", s, n, want)
		}
	}
}

// TestValidateTotal gives all kinds of batches any offsets: Validate does not panic,
// and a batch that passes can be walked.
func TestValidateTotal(t *testing.T) {
	src := letters()
	src.Freqs, src.Impacts = []uint32{}, 8
	table := &Table{Vectors: make([]Vector, 2)}
	rapid.Check(t, func(t *rapid.T) {
		offsets := rapid.SliceOfN(rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32()), 0, 5).Draw(t, "offsets")
		if rapid.Bool().Draw(t, "covering") && len(offsets) > 0 {
			offsets[0], offsets[len(offsets)-1] = 0, 2
		}
		fits := len(offsets) == 0 || slices.IsSorted(offsets) && offsets[0] == 0 && offsets[len(offsets)-1] == 2
		b := &MatchBatch{Offsets: offsets, Handles: []Handle{3, 4}}
		f := &MatchBatch{Offsets: make([]uint32, len(offsets)), OpOffsets: offsets, Ops: []Op{{List: 3}, {List: 4}}}
		r := &RankBatch{K: 1, Mode: And, Norm: Norm{Impacts: 8}, Offsets: offsets, Terms: []Term{{List: 3, Weight: 1}, {List: 4, Weight: 1}}}
		s := &SelectBatch{Offsets: offsets, Steps: []Step{{Code: StepAny, To: 1}, {Code: StepAny, To: 1}}, Operands: []uint32{1}}
		if err := b.Validate(src); fits != (err == nil) {
			t.Errorf("batch of offsets %d: %v", offsets, err)
		}
		if err := r.Validate(src); fits != (err == nil) {
			t.Errorf("ranks of offsets %d: %v", offsets, err)
		}
		// Two steps in one expression, or selection, leave two sets.
		fits = fits && (len(offsets) == 0 || slices.Contains(offsets, 1))
		if err := f.Validate(src); fits != (err == nil) {
			t.Errorf("expressions of offsets %d: %v", offsets, err)
		}
		if err := s.Validate(table); fits != (err == nil) {
			t.Errorf("selections of offsets %d: %v", offsets, err)
		}
	})
}
