package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// tallies are documents as frequencies of terms.
type tallies []map[string]uint32

// rankedTerms get rarer and rarer: term i is in a document with probability
// 1/(1+i²/10).
const rankedTerms = 40

// rankedCorpus draws documents; some have no terms. Few frequencies and lengths
// occur, so many documents have the same score.
func rankedCorpus(docs int) tallies {
	r := rand.New(rand.NewPCG(5, uint64(docs)))
	all := make(tallies, docs)
	for d := range all {
		all[d] = map[string]uint32{}
		if d%17 == 0 {
			continue
		}
		for i := range rankedTerms {
			if r.IntN(1+i*i/10) == 0 {
				all[d][fmt.Sprintf("t%d", i)] = 1 + uint32(r.ExpFloat64())
			}
		}
	}
	return all
}

// source encodes the documents as lists of all codecs; impacts is 0 for
// frequencies.
func (c tallies) source(t testing.TB, impacts uint8) (*plan.Source, Dictionary) {
	t.Helper()
	src := &plan.Source{Docs: uint32(len(c)), Impacts: impacts}
	for _, doc := range c {
		length := uint32(0)
		for _, n := range doc {
			length += n
		}
		if impacts == 0 {
			src.Lengths = append(src.Lengths, length)
		}
	}
	var terms []string
	for i := range rankedTerms {
		term := fmt.Sprintf("t%d", i)
		var docs, freqs []uint32
		for d, doc := range c {
			if n := doc[term]; n > 0 {
				docs, freqs = append(docs, uint32(d)), append(freqs, n)
			}
		}
		if len(docs) == 0 && i%2 == 0 {
			continue // unknown; the others are terms without documents
		}
		id := codec.IDs()[i%len(codec.IDs())]
		h, err := src.Append(id, docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := src.AppendFreqs(h, freqs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		terms = append(terms, term)
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		t.Fatal(err)
	}
	return src, dict
}

// open makes an index of the documents in memory; it is closed with the test.
func (c tallies) open(t testing.TB, impacts uint8, opt Options) *served {
	t.Helper()
	src, dict := c.source(t, impacts)
	x, err := openSource(t.Context(), src, dict, opt)
	return closed(t, x, err)
}

// rankedQueries draws queries of up to six terms; some terms are unknown, some
// occur twice, half of the queries have weights, and a third is a text.
func rankedQueries(n int) []Query {
	r := rand.New(rand.NewPCG(6, uint64(n)))
	qs := make([]Query, n)
	for i := range qs {
		q := &qs[i]
		for range r.IntN(7) {
			term := fmt.Sprintf("t%d", r.IntN(rankedTerms))
			if r.IntN(25) == 0 {
				term = "unknown"
			}
			q.Terms = append(q.Terms, term)
			q.Weights = append(q.Weights, float64(1+r.IntN(40))/8)
		}
		switch r.IntN(6) {
		case 0, 1:
			for j, term := range q.Terms {
				q.Text += fmt.Sprintf(" %s^%v", term, q.Weights[j])
			}
			if q.Text != "" {
				q.Weights = nil
			}
		case 2:
			q.Weights = nil
		}
	}
	return qs
}

// sameRanking compares two rankings, scores to the last bit.
func sameRanking(t testing.TB, got, want ranking) {
	t.Helper()
	if len(got.Docs) != len(want.Docs) || len(got.Scores) != len(want.Docs) {
		t.Fatalf("%d documents with %d scores, want %d", len(got.Docs), len(got.Scores), len(want.Docs))
	}
	for i, d := range want.Docs {
		if got.Docs[i] != d || got.Scores[i] != want.Scores[i] {
			t.Fatalf("place %d: document %d of score %v, want %d of %v", i, got.Docs[i], got.Scores[i], d, want.Scores[i])
		}
	}
}

// mustRank ranks one query.
func mustRank(t testing.TB, x *served, q Query, opt rankOptions) ranking {
	t.Helper()
	r, err := x.rank(t.Context(), q, opt)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return r
}
