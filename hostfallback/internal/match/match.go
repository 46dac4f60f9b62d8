// Package match answers conjunctions and boolean expressions over posting lists.
//
// A batch is divided into tasks of whole queries, or into parts of one large query.
//
// A conjunction of lists with runs of consecutive docIDs joins the runs. Any other conjunction
// takes the docIDs of its driving list, the shortest one, as candidates and looks them up in the next
// lists, in blocks that stay in the first-level cache. Hits in one list are compacted in place and
// are the candidates of the next list (small versus small, Demaine et al. 2001).
//
// Any other expression is evaluated chunk by chunk: a chunk is 32,768 consecutive documents, whose
// bits stay in the first-level cache. An OR of many docIDs is evaluated list by list, on the bits of
// 128 chunks (a board), which stay in the second-level cache. An OR of few docIDs is evaluated chunk
// by chunk, and a chunk with at most 32 docIDs as a sorted list. AND and AND NOT of a short list
// look up its docIDs in the next lists.
package match

import (
	"context"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// Matcher answers boolean queries over the lists of a source. It is safe for concurrent
// use.
type Matcher struct {
	aux     *lookup.Auxiliary
	src     *plan.Source
	threads int
	batches work.Pool[batch]
}

// New returns a matcher of the source of aux on the given number of threads.
func New(aux *lookup.Auxiliary, threads int) *Matcher {
	return &Matcher{aux: aux, src: aux.Source, threads: threads}
}

// Match answers the queries of b into out, or reports the first one that is not valid. A steady state
// allocates nothing for a query.
func (m *Matcher) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) (err error) {
	out.Reset()
	if err := b.CheckShape(); err != nil {
		return err
	}
	j := m.batches.Get()
	defer m.batches.Done(j, &err)
	defer mapped.Catch(mapped.Watch(), &err)
	defer func() { clear(j.filters) }()
	if j.filters, err = filter.All(j.filters[:0], b.Filters, m.src.Docs); err != nil {
		return err
	}
	if err := j.run(ctx, m, b, out); err != nil {
		return err
	}
	n := b.Queries()
	out.Stats = plan.Stats{Queries: uint64(n), Candidates: j.candidates, Matches: out.Offsets[n], Blocks: j.decoded}
	for i, f := range j.filters {
		if f != nil {
			out.Stats.Filtered++
			if q := b.Query(i); len(q) > 0 && m.seeks(q, f) {
				out.Stats.Sought++
			}
		}
	}
	return nil
}
