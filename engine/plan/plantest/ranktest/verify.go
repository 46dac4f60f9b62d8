package ranktest

import (
	"fmt"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// compare reports the first difference between out and all, the reference answer to
// r. It compares the best r.K documents.
func compare(s *plantest.Source, r *plan.RankBatch, all [][]reference.Hit, out *plan.TopK) error {
	if err := bounded(r, &s.Source, out); err != nil {
		return err
	}
	for i, want := range all {
		docs, scores := out.Query(i)
		if n := min(len(want), r.K); len(docs) != n {
			return fmt.Errorf("query %d (%s): %d documents, want %d of %d", i, describe(s, r, i), len(docs), n, len(want))
		}
		for j := range docs {
			if docs[j] != want[j].Doc || scores[j] != want[j].Score {
				return fmt.Errorf("query %d (%s): place %d of %d is document %d with score %d, want %d with %d",
					i, describe(s, r, i), j, len(docs), docs[j], scores[j], want[j].Doc, want[j].Score)
			}
		}
	}
	st := out.Stats
	if st.Queries != uint64(r.Queries()) || st.Postings != r.Postings(&s.Source) || st.Matches != uint64(len(out.Docs)) || !plantest.Took(st.Wall) {
		return fmt.Errorf("stats %+v of %d queries with %d postings, %d documents delivered", st, r.Queries(), r.Postings(&s.Source), len(out.Docs))
	}
	return nil
}

// bounded checks the rules that any result keeps, over damaged lists too.
func bounded(r *plan.RankBatch, src *plan.Source, out *plan.TopK) error {
	if len(out.Offsets) != r.Queries()+1 || out.Offsets[0] != 0 {
		return fmt.Errorf("offsets %d for %d ranked queries", out.Offsets, r.Queries())
	}
	if n := out.Offsets[r.Queries()]; uint64(len(out.Docs)) != n || uint64(len(out.Scores)) != n {
		return fmt.Errorf("%d docIDs and %d scores, want %d", len(out.Docs), len(out.Scores), n)
	}
	for i := range r.Queries() {
		if a, b := out.Offsets[i], out.Offsets[i+1]; a > b || b > uint64(len(out.Docs)) || b-a > uint64(r.K) {
			return fmt.Errorf("ranked query %d: offsets from %d to %d, with k = %d", i, a, b, r.K)
		}
		docs, scores := out.Query(i)
		for j, d := range docs {
			if d >= src.Docs || j > 0 && scores[j] > scores[j-1] {
				return fmt.Errorf("ranked query %d: place %d of %d is document %d of %d with score %d", i, j, len(docs), d, src.Docs, scores[j])
			}
		}
	}
	return nil
}

// describe returns query i as a short text.
func describe(s *plantest.Source, r *plan.RankBatch, i int) string {
	text := fmt.Sprintf("%v, k = %d, accumulators %d, %d terms", r.Mode, r.K, r.Accumulators, len(r.Query(i)))
	for _, t := range r.Query(i)[:min(len(r.Query(i)), 6)] {
		text += fmt.Sprintf(", list %d: %v of %d, weight %d", t.List, s.Lists[t.List].Codec, s.Lists[t.List].Len, t.Weight)
	}
	return text
}

// rankAny returns the reference answer to r as OR.
func rankAny(s *plantest.Source, r *plan.RankBatch) [][]reference.Hit {
	any := *r
	any.Mode = plan.Or
	return s.Plain.Rank(&any)
}

// every turns the answer to r as OR into the answer to r as AND.
func every(r *plan.RankBatch, all [][]reference.Hit) {
	for i := range all {
		all[i] = reference.InAllLists(all[i], len(r.Query(i)))
	}
}

// verify runs r as OR and as AND, with all accumulators, for every k, and compares
// with the reference answer. It leaves r unchanged.
func (su *suite) verify(t *testing.T, st plan.Store, s *plantest.Source, r *plan.RankBatch, ks ...int) {
	t.Helper()
	before := r.Mode
	defer func() { r.Mode = before }()
	all := rankAny(s, r)
	r.Mode = plan.Or
	su.verifyMode(t, st, s, r, all, ks...)
	every(r, all)
	r.Mode = plan.And
	su.verifyMode(t, st, s, r, all, ks...)
}

// verifyMode is verify for the mode of r alone. all is the reference answer.
func (su *suite) verifyMode(t *testing.T, st plan.Store, s *plantest.Source, r *plan.RankBatch, all [][]reference.Hit, ks ...int) {
	t.Helper()
	before := *r
	defer func() { r.K, r.Accumulators = before.K, before.Accumulators }()
	var out plan.TopK
	accumulators := su.accumulators
	if su.Small && r.Mode == plan.And { // needs none
		accumulators = accumulators[len(accumulators)-1:]
	}
	for _, r.Accumulators = range accumulators {
		for _, r.K = range ks {
			if err := r.Validate(&s.Source); err != nil {
				t.Fatal(err)
			}
			if err := st.Rank(t.Context(), r, &out); err != nil {
				t.Fatalf("%v, k = %d, accumulators %d: %v", r.Mode, r.K, r.Accumulators, err)
			}
			if err := compare(s, r, all, &out); err != nil {
				t.Fatal(err)
			}
		}
	}
}
