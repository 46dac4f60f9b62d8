package matchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// verify runs b under every algorithm of the suite, with docIDs and with counts
// only, as PARA and as PART, and compares with the reference answer. In a Small suite
// an algorithm returns docIDs or counts, in turns. It leaves b unchanged.
func (su suite) verify(t *testing.T, st plan.Store, s *plantest.Source, b *plan.MatchBatch) {
	t.Helper()
	if err := b.Validate(&s.Source); err != nil {
		t.Fatal(err)
	}
	algorithms := su.Algorithms
	if b.Kind() == plan.Expressions { // they have one algorithm on each backend
		algorithms = algorithms[:1]
	}
	want := reference.Match(s.Plain.Docs, b)
	mine := *b
	var out plan.Results
	turn := su.Turn(2)
	for i, a := range algorithms {
		for _, countOnly := range []bool{false, true} {
			if su.Small && countOnly != ((i+turn)%2 == 0) && len(algorithms) > 1 {
				continue
			}
			mine.Algorithm, mine.CountOnly, mine.Part = a, countOnly, (i%2 == 0) == countOnly
			err := st.Match(t.Context(), &mine, &out)
			if err == nil {
				err = compare(s, &mine, want, &out)
			}
			if err != nil {
				t.Fatalf("%v, count only %t, part %t: %v", a, countOnly, mine.Part, err)
			}
		}
	}
}

// match runs b as it is and compares with want, the reference answer.
func match(t *testing.T, st plan.Store, s *plantest.Source, b *plan.MatchBatch, want [][]uint32, out *plan.Results) error {
	if err := st.Match(t.Context(), b, out); err != nil {
		return err
	}
	return compare(s, b, want, out)
}

// compare reports the first difference between out and want, the reference answer
// to b.
func compare(s *plantest.Source, b *plan.MatchBatch, want [][]uint32, out *plan.Results) error {
	if err := bounded(b, &s.Source, out); err != nil {
		return err
	}
	matches := uint64(0)
	for i, w := range want {
		matches += uint64(len(w))
		if got := out.Count(i); got != uint64(len(w)) {
			return fmt.Errorf("query %d (%s): %d documents, want %d", i, describe(s, b, i), got, len(w))
		}
		if b.CountOnly {
			continue
		}
		if got := out.Query(i); !slices.Equal(got, w) {
			j := 0
			for got[j] == w[j] {
				j++
			}
			return fmt.Errorf("query %d (%s): document %d of %d is %d, want %d", i, describe(s, b, i), j, len(w), got[j], w[j])
		}
	}
	st := out.Stats
	if st.Queries != uint64(b.Queries()) || st.Candidates != b.Candidates(&s.Source) || st.Matches != matches || !plantest.Took(st.Wall) {
		return fmt.Errorf("stats %+v of %d queries with %d candidates and %d matches", st, b.Queries(), b.Candidates(&s.Source), matches)
	}
	return nil
}

// bounded checks the rules that any result keeps, over damaged lists too: offsets
// cover the docIDs, a conjunction has no more matches than its shortest list, and
// the docIDs of an expression ascend below the universe.
func bounded(b *plan.MatchBatch, src *plan.Source, out *plan.Results) error {
	if len(out.Offsets) != b.Queries()+1 {
		return fmt.Errorf("%d offsets for %d queries", len(out.Offsets), b.Queries())
	}
	if out.Offsets[0] != 0 {
		return fmt.Errorf("the first offset is %d", out.Offsets[0])
	}
	for i := range b.Queries() {
		if out.Offsets[i] > out.Offsets[i+1] {
			return fmt.Errorf("offset %d descends from %d to %d", i+1, out.Offsets[i], out.Offsets[i+1])
		}
		limit := uint64(0)
		if q := b.Query(i); len(q) > 0 {
			limit = uint64(src.Lists[q[0]].Len)
		} else if len(b.Expression(i)) > 0 {
			limit = uint64(src.Docs)
		}
		if n := out.Count(i); n > limit {
			return fmt.Errorf("query %d has %d matches, at most %d are possible", i, n, limit)
		}
	}
	docs := out.Offsets[b.Queries()]
	if b.CountOnly {
		docs = 0
	}
	if uint64(len(out.Docs)) != docs {
		return fmt.Errorf("%d docIDs, want %d", len(out.Docs), docs)
	}
	for i := range b.Queries() {
		if b.CountOnly || len(b.Expression(i)) == 0 {
			continue
		}
		docs := out.Query(i)
		for j, x := range docs {
			if x >= src.Docs || j > 0 && x <= docs[j-1] {
				return fmt.Errorf("query %d: docID %d of %d is %d, in a universe of %d", i, j, len(docs), x, src.Docs)
			}
		}
	}
	return nil
}

// describe returns query i as a short text.
func describe(s *plantest.Source, b *plan.MatchBatch, i int) string {
	var parts []string
	for _, h := range b.Query(i) {
		parts = append(parts, fmt.Sprintf("list %d: %v of %d", h, s.Lists[h].Codec, s.Lists[h].Len))
	}
	for _, op := range b.Expression(i) {
		if op.Code == plan.OpList {
			parts = append(parts, fmt.Sprintf("%v of %d", s.Lists[op.List].Codec, s.Lists[op.List].Len))
		} else {
			parts = append(parts, [...]string{"", "and", "or", "andnot", "notand"}[op.Code])
		}
	}
	if len(parts) > 12 {
		parts = append(parts[:12], "...")
	}
	return strings.Join(parts, ", ")
}
