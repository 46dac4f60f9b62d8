package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
)

// fewLists is the greatest number of lists of an OR that is evaluated like any other
// expression.
const fewLists = 2

// disjunction returns the lists of an expression whose only operator is OR. It returns
// false for any other expression and for at most fewLists lists.
func (s *stack) disjunction(ops []plan.Op) ([]plan.Handle, bool) {
	s.lists = s.lists[:0]
	for _, op := range ops {
		switch op.Code {
		case plan.OpList:
			s.lists = append(s.lists, op.List)
		case plan.OpOr:
		default:
			return nil, false
		}
	}
	return s.lists, len(s.lists) > fewLists
}

// unite answers the OR of lists for the documents from from to to-1.
func (w *worker) unite(j *batch, lists []plan.Handle, from, to uint64, f *filter.Set) (int, error) {
	if w.stack.board == nil {
		w.stack.board = new(board)
	}
	if b := w.stack.board; b.pays(j.src, lists) {
		return b.unite(w, j, lists, from, to, f)
	}
	u, count := &w.stack.union, 0
	if err := u.open(j.aux, lists, int(from/chunkDocs), int((to+chunkDocs-1)/chunkDocs)); err != nil {
		return 0, err
	}
	for {
		if err := j.ended(); err != nil {
			return 0, err
		}
		if f != nil {
			u.seek(int(min(f.Next(uint64(u.nextChunk)*chunkDocs), to) / chunkDocs))
		}
		c, ok, err := u.next()
		if err != nil || !ok {
			return count, err
		}
		count += w.put(j, c.within(f))
	}
}

// put appends the docIDs of c to w.docs unless the batch is CountOnly, and returns their
// number.
func (w *worker) put(j *batch, c chunk) int {
	if j.queries.CountOnly {
		return c.count()
	}
	before := len(w.docs)
	w.docs = c.appendTo(w.docs)
	return len(w.docs) - before
}
