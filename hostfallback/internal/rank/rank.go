// Package rank finds the documents with the best scores.
//
// A query asks for the k documents with the greatest scores. The threshold is a score that k documents
// are known to reach, so documents with a lower score are no answers. An upper bound of the scores of
// some documents tells, without their postings, whether any of them can pass the threshold.
//
// A ranked OR goes through ranges of documents, whose scores stay in a near cache while
// all lists are added. The block-max of a list bounds its contributions in a range (Ding and Suel 2011).
// MaxScore (Turtle and Flood 1995) divides the lists of a range: the upper bounds of the non-essential
// lists add up to at most the threshold, so each answer is in an essential list. A ranked AND drops
// documents of its driving list, the shortest one, by their frequencies, intersects the lists like a
// boolean AND, and reads the frequencies in the next lists for matches alone.
//
// Queries of many terms on impacts of 8 bits are ranked by block-max pruning (Mallia, Suel and Tonellotto 2024): the
// greatest impacts of each list in blocks of documents add up to upper bounds of all blocks. Blocks are read in
// descending order of these bounds, until no bound can exceed the threshold.
//
// The component of a posting is its term-frequency component (plan.Norm.TF). Components
// are kept beside the lists as far as memory allows. The components of other lists are
// computed for the documents that can be among the best. Bounds of the components of a
// list take little memory, which boolean tables leave.
package rank

import (
	"context"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// Ranker answers ranked queries over the lists of a source. It is safe for concurrent
// use.
type Ranker struct {
	aux  *lookup.Auxiliary
	src  *plan.Source
	work work.Resources

	norms   norms
	batches work.Pool[batch]
	workers *work.Pool[worker] // the pool of all rankers
}

// workers are the workers of all rankers: a query on a collection asks many small sources one after the
// other, and the scores of a worker, 256 KiB, stay in a near cache.
var workers work.Pool[worker]

// boundsShare is the greatest part of the memory limit that is kept back for bounds, as
// 1/boundsShare.
const boundsShare = 8

// New returns a ranker of the source of aux. Its tables take memory from r, at the second
// query that names a list. New keeps back the memory of the bounds, which save much time for
// their size; tables of aux that are built later leave it.
func New(aux *lookup.Auxiliary, r work.Resources) *Ranker {
	r.Memory.Hold(min(boundsBytes(aux.Source), r.Memory.Limit()/boundsShare))
	return &Ranker{aux: aux, src: aux.Source, work: r, norms: norms{aux: aux, memory: r.Memory, common: commonSize(aux.Source)}, workers: &workers}
}

// Rank answers the queries of b, which must be valid, into out.
func (r *Ranker) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) (err error) {
	out.Reset()
	j := r.batches.Get()
	defer r.batches.Done(j, &err)
	defer mapped.Catch(mapped.Watch(), &err)
	defer j.forget()
	if j.filters, err = filter.All(j.filters[:0], b.Filters, r.src.Docs); err != nil {
		return err
	}
	tables := r.norms.tables(b.Norm)
	if tables != nil {
		defer tables.release()
	}
	if err := j.prepare(ctx, r, b, tables); err != nil {
		return err
	}
	j.split(r, b)
	if err := j.rank(ctx, r, b, tables); err != nil {
		return err
	}
	if err := j.gather(ctx, b, out); err != nil {
		return err
	}
	out.Stats = plan.Stats{Queries: uint64(b.Queries()), Postings: b.Postings(r.src), Matches: uint64(len(out.Docs))}
	for i := range b.Queries() {
		if tables.prunes(r.src, b, i) {
			out.Stats.Pruned++
		}
	}
	for i, f := range j.filters {
		if f != nil {
			out.Stats.Filtered++
			if q := b.Query(i); len(q) > 0 && seeks(r.src, b, q, f) {
				out.Stats.Sought++
			}
		}
	}
	return nil
}

// worker is the scratch memory of one goroutine.
type worker struct {
	pruned     pruned
	components components
	readers    []*reader        // idle readers, one for each list of a query
	lists      []*reader        // the lists of the query
	active     []*reader        // the lists with documents in the current range
	scores     [maxRange]uint32 // score of document x at x&mask, all 0 between ranges
	runs       []run            // documents of the range whose upper bound exceeds the threshold
	candidates []uint16         // documents of the runs, as x&mask, whose score may exceed the threshold
	global     []uint32         // accumulators of plan.GlobalAccumulators, one for each document of the part

	best   best
	filter *filter.Set // documents that may be answers; nil: all

	// A ranked AND uses these:
	probers     []*lookup.Prober // one for the filter, and one for each longer list whose docIDs or bits are in memory
	scattered   bool             // the driving list hits few cache lines of a bitset
	scoreBounds [andLen]uint64   // upper bounds of the scores of candidates
	drivers     candidateSet     // documents of the driving list, the shortest one
	matches     candidateSet     // documents of the driving list that the probers have let pass
}

// open positions w.lists at the first document of p in the lists of its query.
func (w *worker) open(r *Ranker, b *plan.RankBatch, tables *tables, p *part) error {
	terms := b.Query(p.query)
	for len(w.readers) < len(terms) {
		w.readers = append(w.readers, new(reader))
	}
	w.lists = append(w.lists[:0], w.readers[:len(terms)]...)
	w.components = components{norm: b.Norm, docLengths: r.src.Lengths}
	if tables != nil {
		w.components = tables.components
	}
	for i, t := range terms {
		var known *table
		if tables != nil {
			known = tables.lists.At(t.List, len(r.src.Lists)).Load()
		}
		if err := w.lists[i].open(r.aux, &w.components, t, known, p.from); err != nil {
			return err
		}
	}
	return nil
}

// rank finds the best documents of p and stores their keys in ascending order.
func (w *worker) rank(ctx context.Context, r *Ranker, b *plan.RankBatch, tables *tables, p *part) error {
	w.best.open(b.K)
	pruned := tables.prunes(r.src, b, p.query)
	var err error
	if !pruned {
		err = w.open(r, b, tables, p)
	}
	switch {
	case pruned:
		err = w.orBlocks(ctx, b, tables, p)
	case err != nil || len(w.lists) == 0:
	case w.filter != nil && seeks(r.src, b, b.Query(p.query), w.filter):
		err = w.seek(ctx, b.Mode, p)
	case b.Mode == plan.And && len(w.lists) > 1:
		err = w.and(ctx, r.aux, p)
	case b.Accumulators == plan.GlobalAccumulators:
		err = w.orGlobal(ctx, p)
	default:
		err = w.or(ctx, r.src, b.K, p)
	}
	if err != nil {
		clear(w.scores[:])
		return err
	}
	w.best.cut()
	p.keys = appendSorted(p.keys[:0], w.best.keys)
	return nil
}
