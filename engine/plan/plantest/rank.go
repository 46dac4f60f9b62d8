package plantest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// ranks are the cases of Store.Rank. Scores are integers, so documents and scores
// must be the oracle's to the last unit. What the integers stand for is the
// subject of the case "bm25", which has an oracle in floating point.
func (su *suite) ranks(t *testing.T) {
	su.accumulators = su.kinds(t)
	t.Run("tiny", su.rankTiny)
	t.Run("lists", su.rankLists)
	t.Run("lengths", su.rankLengths)
	t.Run("universes", su.rankUniverses)
	t.Run("shapes", su.rankShapes)
	t.Run("norms", su.rankNorms)
	t.Run("rankings", su.rankings)
	t.Run("bm25", su.rankBM25)
	t.Run("ulps", su.rankUlps)
	t.Run("random", su.rankRandom)
	t.Run("bigbatch", su.rankBigBatch)
	t.Run("reuse", su.rankReuse)
	t.Run("concurrent", su.rankConcurrent)
	t.Run("cancel", su.rankCancel)
	t.Run("refused", su.rankRefused)
	if su.Corrupt {
		t.Run("corrupt", su.rankCorrupt)
	}
}

// RunRanks runs those cases alone, for backends with options that concern no
// others.
func RunRanks(t *testing.T, open func(t *testing.T) plan.Backend, opt Options) {
	s := suite{Options: opt, open: open}
	if opt.Codecs == nil {
		s.Codecs = codec.IDs()
	}
	s.ranks(t)
}

// tiny is a source of two lists, and a query over them.
func tiny(t *testing.T) (*ranked, *plan.RankBatch) {
	s := &ranked{source: source{Source: plan.Source{Docs: 5, Lengths: []uint32{3, 1, 4, 1, 5}}}}
	s.rank(t, codec.Raw, []uint32{0, 2, 3}, []uint32{1, 3, 1})
	s.rank(t, codec.Raw, []uint32{2, 4}, []uint32{1, 9})
	r := &plan.RankBatch{K: 2, Norm: plan.NewNorm(1, 0.5, 2)}
	r.Add(&s.Source, plan.Term{List: 0, Weight: 100}, plan.Term{List: 1, Weight: 50})
	return s, r
}

// kinds asks which accumulators the backend has. Those of ranges it must have.
func (su *suite) kinds(t *testing.T) []plan.Accumulators {
	s, r := tiny(t)
	b := su.open(t)
	defer b.Close()
	st, err := b.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r.Accumulators = plan.GlobalAccumulators
	if err := st.Rank(t.Context(), r, &plan.TopK{}); errors.Is(err, plan.ErrUnsupported) {
		t.Logf("only accumulators of ranges: %v", err)
		return []plan.Accumulators{plan.RangeAccumulators}
	}
	return []plan.Accumulators{plan.RangeAccumulators, plan.GlobalAccumulators}
}

// rankTiny has the answer in figures: norms are 1.25, 0.75, 1.5, 0.75 and 1.75.
func (su *suite) rankTiny(t *testing.T) {
	s, r := tiny(t)
	st := su.load(t, &s.source)
	su.verifyRanks(t, st, s, r, 1, 2, 3, 5)
	var out plan.TopK
	for _, r.Accumulators = range su.accumulators {
		r.K = 4
		if err := st.Rank(t.Context(), r, &out); err != nil {
			t.Fatal(err)
		}
		docs, scores := out.Query(0) // 100·3/4.5 + 50/2.5, 100/1.75, 50·9/10.75, 100/2.25, rounded up
		if !slices.Equal(docs, []uint32{2, 3, 0, 4}) || !slices.Equal(scores, []uint32{87, 58, 45, 42}) {
			t.Errorf("documents %d with scores %d", docs, scores)
		}
	}
}

// ranked is a source that can be ranked, beside what it was encoded from.
type ranked struct {
	source
	freqs [][]uint32 // or impacts, by handle
}

// failer is a test, of package rapid too.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rank encodes docs with their frequencies or impacts as one more list.
func (s *ranked) rank(t failer, id codec.ID, docs, freqs []uint32) plan.Handle {
	t.Helper()
	h, err := s.Append(id, docs, codec.DefaultOptions())
	if err == nil {
		err = s.AppendFreqs(h, freqs, codec.DefaultOptions())
	}
	if err != nil {
		t.Fatalf("encoding %d docIDs as %v, and frequencies: %v", len(docs), id, err)
	}
	s.docs, s.freqs = append(s.docs, docs), append(s.freqs, freqs)
	return h
}

// norm is that of BM25, or the one of impacts where the source has those.
func (s *ranked) norm(k1, b float64) plan.Norm {
	if s.Impacts > 0 {
		return plan.Norm{Impacts: s.Impacts}
	}
	return plan.NewNorm(k1, b, s.average())
}

// average is the mean length of documents, or 1 where that is 0.
func (s *ranked) average() float64 {
	total := 0.0
	for _, l := range s.Lengths {
		total += float64(l)
	}
	if total == 0 {
		return 1
	}
	return total / float64(len(s.Lengths))
}

// hit is a document that matches a query, and how many of its lists have it.
type hit struct {
	doc, score uint32
	lists      int
}

// rankAll is the oracle: all documents that match, best first, for every query
// of r.
func (s *ranked) rankAll(r *plan.RankBatch) [][]hit {
	all := s.rankAny(r)
	if r.Mode == plan.And {
		every(r, all)
	}
	return all
}

// every drops the documents that do not have all lists of their query.
func every(r *plan.RankBatch, all [][]hit) {
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(x hit) bool { return x.lists < len(r.Query(i)) })
	}
}

// rankAny is rankAll for OR.
func (s *ranked) rankAny(r *plan.RankBatch) [][]hit {
	all := make([][]hit, r.Queries())
	for i := range all {
		hits := map[uint32]hit{}
		for _, t := range r.Query(i) {
			for j, d := range s.docs[t.List] {
				length := uint32(0)
				if s.Impacts == 0 {
					length = s.Lengths[d]
				}
				more := plan.Contribution(t.Weight, r.Norm.TF(s.freqs[t.List][j], length))
				hits[d] = hit{d, hits[d].score + more, hits[d].lists + 1}
			}
		}
		all[i] = slices.AppendSeq(make([]hit, 0, len(hits)), maps.Values(hits))
		slices.SortFunc(all[i], func(x, y hit) int {
			return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.doc, y.doc))
		})
	}
	return all
}

// compareRanks says where out differs from the oracle's answer to r, of which all
// may hold more than the best r.K documents.
func (s *ranked) compareRanks(r *plan.RankBatch, all [][]hit, out *plan.TopK) error {
	if err := boundedRanks(r, &s.Source, out); err != nil {
		return err
	}
	for i, want := range all {
		docs, scores := out.Query(i)
		if n := min(len(want), r.K); len(docs) != n {
			return fmt.Errorf("query %d (%s): %d documents, want %d of %d", i, s.describeRanks(r, i), len(docs), n, len(want))
		}
		for j := range docs {
			if docs[j] != want[j].doc || scores[j] != want[j].score {
				return fmt.Errorf("query %d (%s): place %d of %d is document %d with score %d, want %d with %d",
					i, s.describeRanks(r, i), j, len(docs), docs[j], scores[j], want[j].doc, want[j].score)
			}
		}
	}
	st := out.Stats
	if st.Queries != uint64(r.Queries()) || st.Postings != r.Postings(&s.Source) || st.Matches != uint64(len(out.Docs)) || st.Wall <= 0 {
		return fmt.Errorf("stats %+v of %d queries with %d postings, %d documents delivered", st, r.Queries(), r.Postings(&s.Source), len(out.Docs))
	}
	return nil
}

// boundedRanks checks what must hold of any result, those of corrupt lists too.
func boundedRanks(r *plan.RankBatch, src *plan.Source, out *plan.TopK) error {
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

func (s *ranked) describeRanks(r *plan.RankBatch, i int) string {
	text := fmt.Sprintf("%v, k = %d, accumulators %d, %d terms", r.Mode, r.K, r.Accumulators, len(r.Query(i)))
	for _, t := range r.Query(i)[:min(len(r.Query(i)), 6)] {
		text += fmt.Sprintf(", list %d: %v of %d, weight %d", t.List, s.Lists[t.List].Codec, s.Lists[t.List].Len, t.Weight)
	}
	return text
}

// verifyRanks runs r as OR and as AND, with all accumulators, for every k, and
// compares with the oracle. It leaves r.K and the modes as they were.
func (su *suite) verifyRanks(t *testing.T, st plan.Store, s *ranked, r *plan.RankBatch, ks ...int) {
	t.Helper()
	before := r.Mode
	defer func() { r.Mode = before }()
	all := s.rankAny(r)
	r.Mode = plan.Or
	su.verifyMode(t, st, s, r, all, ks...)
	every(r, all)
	r.Mode = plan.And
	su.verifyMode(t, st, s, r, all, ks...)
}

// verifyMode is verifyRanks in the mode of r, where the answer is known.
func (su *suite) verifyMode(t *testing.T, st plan.Store, s *ranked, r *plan.RankBatch, all [][]hit, ks ...int) {
	t.Helper()
	before := *r
	defer func() { r.K, r.Accumulators = before.K, before.Accumulators }()
	var out plan.TopK
	for _, r.Accumulators = range su.accumulators {
		for _, r.K = range ks {
			if err := r.Validate(&s.Source); err != nil {
				t.Fatal(err)
			}
			if err := st.Rank(t.Context(), r, &out); err != nil {
				t.Fatalf("%v, k = %d, accumulators %d: %v", r.Mode, r.K, r.Accumulators, err)
			}
			if err := s.compareRanks(r, all, &out); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// weighted gives the lists random weights of all magnitudes, which add up to less
// than 2^32.
func weighted(r *rand.Rand, lists ...plan.Handle) []plan.Term {
	terms := make([]plan.Term, len(lists))
	most := (1<<32 - 1) / uint64(max(len(lists), 1))
	for i, h := range lists {
		terms[i] = plan.Term{List: h, Weight: uint32(max(r.Uint64N(most+1)>>r.IntN(32), 1))}
	}
	return terms
}
