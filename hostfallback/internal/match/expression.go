package match

import (
	"math"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
)

// chunkDocs is the number of documents in a chunk, the range in which expressions are
// evaluated.
const (
	chunkDocs  = docset.ChunkDocs
	chunkWords = chunkDocs / 64
)

// chunks returns the number of chunks of docs documents.
func chunks(docs uint32) int { return int((uint64(docs) + chunkDocs - 1) / chunkDocs) }

// expression answers task t, a part of the expression ops, among the documents of filter f; nil
// stands for all documents. It appends the docIDs to w.docs unless the batch is CountOnly, and
// returns their number.
func (w *worker) expression(j *batch, ops []plan.Op, t *task, f *filter.Set) (int, error) {
	first, last := t.steps(chunks(j.src.Docs))
	from, to := uint64(first)*chunkDocs, min(uint64(last)*chunkDocs, uint64(j.src.Docs))
	if w.stack == nil {
		w.stack = new(stack)
	}
	if lists, ok := w.stack.disjunction(ops); ok {
		return w.unite(j, lists, from, to, f)
	}
	if isChain(j.aux, ops) {
		return w.chain(j, ops, from, to, f)
	}
	return w.evaluate(j, ops, from, to, f)
}

// evaluate answers an expression for the documents from from to to-1. Before each chunk it
// computes a lower bound of the next matching document, and skips the chunks below the bound.
func (w *worker) evaluate(j *batch, ops []plan.Op, from, to uint64, f *filter.Set) (count int, err error) {
	s := w.stack
	if err := s.compile(j.aux, ops, from, to); err != nil {
		return 0, err
	}
	for base := from; base < to; base += chunkDocs {
		for {
			if err := j.ended(); err != nil {
				return 0, err
			}
			next, err := s.bound(base)
			if f != nil && err == nil && next < to {
				next = f.Next(next)
			}
			if err != nil || next >= to {
				return count, err
			}
			if next < base+chunkDocs {
				break
			}
			base = next / chunkDocs * chunkDocs
		}
		if err := s.run(uint32(base)); err != nil {
			return 0, err
		}
		if !s.live[0] {
			continue
		}
		c := chunk{base: uint32(base), bits: s.sets[0][:min(uint64(chunkWords), (to-base+63)/64)]}
		if behind := to - base; behind < chunkDocs && behind%64 != 0 { // set in corrupt lists only
			c.bits[len(c.bits)-1] &= 1<<(behind%64) - 1
		}
		count += w.put(j, c.within(f))
	}
	return count, nil
}

// never is the next document of a list that has ended: it is behind all documents.
const never = math.MaxUint64
