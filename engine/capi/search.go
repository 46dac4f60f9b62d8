//go:build cgo

package main

// #include "const.h"
import "C"

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"heddle/engine"
	"heddle/engine/capi/handle"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
)

// searcher answers batches: an index, a collection or a snapshot.
type searcher interface {
	SearchAll(ctx context.Context, qs []engine.Query, deliver func(first int, hits []engine.Hits) error) error
}

// mostBatch is the greatest number of queries or predicates of a call. A wrong count must not end the process of the
// caller for want of memory.
const mostBatch = 1 << 24

// heddle_search answers a batch of at most 2^24 queries into memory of the caller. `source` is an index, a collection
// or a snapshot of them. Ranked documents come by descending score, then ascending docID; HEDDLE_NO_DOCUMENT and the score -infinity
// fill the room behind them. Matching documents (k is 0) come by ascending docID.
//
// Errors: the code of the first query that is wrong, when all others have answers (hits.codes tells them apart);
// HEDDLE_SHORT_BUFFER before a ranked batch runs, or after a batch with k = 0 of which a query has more documents than
// room: hits.counts then has their numbers.
//
//export heddle_search
func heddle_search(source C.heddle_handle, queries *C.const_queries, hits *C.heddle_hits, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return use(source, control, fault, func(ctx context.Context, s searcher) error {
		if queries == nil || hits == nil || hits.counts == nil && queries.count > 0 {
			return invalid("queries, hits and hits.counts must not be NULL")
		}
		if queries.count > mostBatch {
			return invalid("%d queries, at most %d are possible", uint64(queries.count), mostBatch)
		}
		a, err := answersOf(queries, hits)
		if err != nil {
			return err
		}
		qs, done, err := queriesOf(queries, hits.docs == nil)
		if err != nil {
			return err
		}
		defer done()
		if err := s.SearchAll(ctx, qs, a.take); err != nil {
			return err
		}
		if i := a.lacks.Load(); i != 0 {
			return short("query %d has more documents than room: see hits.counts", i-1)
		}
		return nil
	})
}

// queriesOf reads a batch, of which counting wants the numbers of documents alone. The caller calls done when it has run.
func queriesOf(c *C.const_queries, counting bool) (qs []engine.Query, done func(), err error) {
	n := uint64(c.count)
	switch {
	case n > 0 && (c.texts == nil) == (c.first == nil):
		return nil, nil, invalid("either texts or terms with first must be given")
	case c.match < C.HEDDLE_OR || c.match > C.HEDDLE_AND_OR:
		return nil, nil, invalid("match is %d", int32(c.match))
	}
	common := engine.Query{K: int(c.k), CountOnly: c.k == 0 && counting, Literal: c.literal != 0, Match: engine.Match(c.match)}
	if c.variant != nil {
		v, err := bm25.ParseVariant(text(c.variant))
		if err != nil {
			return nil, nil, invalid("%v", err)
		}
		common.Scoring = &bm25.Params{Variant: v, K1: float64(c.k1), B: float64(c.b)}
	}
	done = func() {}
	if c.where != nil {
		common.Filter = &engine.Filter{Where: text(c.where)}
		if c.table != 0 {
			t, release, err := handle.Use[*engine.Table](&open, uint64(c.table))
			if err != nil {
				return nil, nil, fmt.Errorf("table: %w", err)
			}
			common.Filter.Table, done = t, release
		}
	}
	qs = make([]engine.Query, n)
	for i := range qs {
		qs[i] = common
	}
	switch {
	case n == 0:
	case c.texts != nil:
		err = readTexts(c, qs)
	default:
		err = readTerms(c, qs)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return qs, done, nil
}

func readTexts(c *C.const_queries, qs []engine.Query) error {
	for i, s := range array[*C.const_char](c.texts, uint64(c.count)) {
		if s == nil {
			return invalid("texts[%d] is NULL", i)
		}
		qs[i].Text = text(s)
	}
	return nil
}

func readTerms(c *C.const_queries, qs []engine.Query) error {
	first := array[uint64](c.first, uint64(c.count)+1)
	for i := range qs {
		if first[i] > first[i+1] || first[i+1] > math.MaxInt32 || first[0] != 0 {
			return invalid("first[%d] is %d, first[%d] is %d: they must ascend from 0", i, first[i], i+1, first[i+1])
		}
	}
	n := first[len(qs)]
	if n > 0 && c.terms == nil {
		return invalid("terms is NULL")
	}
	terms := make([]string, n)
	for i, s := range array[*C.const_char](c.terms, n) {
		if s == nil {
			return invalid("terms[%d] is NULL", i)
		}
		terms[i] = text(s)
	}
	var weights []float64
	if c.weights != nil {
		weights = append(weights, array[float64](c.weights, n)...)
	}
	for i := range qs {
		qs[i].Terms = terms[first[i]:first[i+1]:first[i+1]]
		if weights != nil {
			qs[i].Weights = weights[first[i]:first[i+1]:first[i+1]]
		}
	}
	return nil
}

// answers are the memory of the caller.
type answers struct {
	docs    []uint32
	scores  []float64
	offsets []uint64
	counts  []uint64
	codes   []int32
	k       uint64
	lacks   atomic.Int64 // 1 + a query without enough room; 0: none
}

func answersOf(c *C.const_queries, h *C.heddle_hits) (*answers, error) {
	n := uint64(c.count)
	a := &answers{k: uint64(c.k), counts: array[uint64](h.counts, n)}
	room := uint64(h.room)
	if h.codes != nil {
		a.codes = array[int32](h.codes, n)
	}
	if h.docs == nil {
		if a.k > 0 && n > 0 {
			return nil, invalid("docs is NULL, and k is %d", a.k)
		}
		return a, nil
	}
	if room > math.MaxInt64/8 {
		return nil, invalid("room is %d", room)
	}
	a.docs = array[uint32](h.docs, room)
	if h.scores != nil && a.k > 0 {
		a.scores = array[float64](h.scores, room)
	}
	if h.offsets == nil {
		if a.k == 0 && n > 0 {
			return nil, invalid("offsets is NULL, and k is 0")
		}
		if n*a.k > room {
			return nil, short("%d queries with k = %d need room for %d documents, there is room for %d", n, a.k, n*a.k, room)
		}
		return a, nil
	}
	a.offsets = array[uint64](h.offsets, n+1)
	for i, o := range a.offsets {
		if o > room {
			return nil, short("offsets[%d] is %d, there is room for %d documents", i, o, room)
		}
		if i > 0 && (o < a.offsets[i-1] || o-a.offsets[i-1] < a.k) {
			return nil, short("query %d has room for less than k = %d documents, or its offset descends", i-1, a.k)
		}
	}
	return a, nil
}

// span is the room of a query.
func (a *answers) span(i int) (from, to uint64) {
	if a.offsets != nil {
		return a.offsets[i], a.offsets[i+1]
	}
	return uint64(i) * a.k, (uint64(i) + 1) * a.k
}

// take copies answers of consecutive queries. Several goroutines call it for disjoint queries.
func (a *answers) take(first int, hits []engine.Hits) error {
	for j := range hits {
		h, i := &hits[j], first+j
		a.counts[i] = h.Count
		if a.codes != nil {
			a.codes[i] = int32(codeOf(h.Err))
		}
		if a.docs == nil {
			continue
		}
		from, to := a.span(i)
		n := copy(a.docs[from:to], h.Docs)
		if n < len(h.Docs) {
			a.lacks.Store(int64(i) + 1)
		}
		if a.k == 0 {
			continue
		}
		for d := from + uint64(n); d < to; d++ {
			a.docs[d] = C.HEDDLE_NO_DOCUMENT
		}
		if a.scores != nil {
			copy(a.scores[from:to], h.Scores)
			for d := from + uint64(n); d < to; d++ {
				a.scores[d] = math.Inf(-1)
			}
		}
	}
	return nil
}

// heddle_names looks up the names of documents. `names` receives the names one behind another, without separators,
// and ends[i] the end of name i in them. `source` is an index or a snapshot: numbers of a collection need a snapshot,
// since a merge changes them. HEDDLE_NO_DOCUMENT has an empty name.
//
//export heddle_names
func heddle_names(source C.heddle_handle, docs *C.const_uint32, count C.uint64_t, ends *C.uint64_t, names *C.heddle_bytes, fault *C.heddle_error) C.int32_t {
	return use(source, nil, fault, func(_ context.Context, v io.Closer) error {
		if count > 0 && (docs == nil || ends == nil) || names == nil || count > math.MaxInt64/8 {
			return invalid("docs, ends and names must not be NULL")
		}
		var parts []*engine.Snapshot
		switch x := v.(type) {
		case *engine.Index:
			s, err := x.Snapshot()
			if err != nil {
				return err
			}
			defer s.Close()
			parts = []*engine.Snapshot{s}
		case *engine.Snapshot:
			parts = []*engine.Snapshot{x}
		case *engine.CollectionSnapshot:
			parts = x.Segments()
		default:
			return wrongKind()
		}
		files := make([]*hdl.File, len(parts))
		for i, p := range parts {
			if files[i] = p.File(); files[i] == nil {
				return invalid("the index has no names")
			}
		}
		var all []byte
		end := array[uint64](ends, uint64(count))
		for i, d := range array[uint32](docs, uint64(count)) {
			name, err := nameOf(files, d)
			if err != nil {
				return err
			}
			all = append(all, name...)
			end[i] = uint64(len(all))
		}
		give(names, all)
		return nil
	})
}

// nameOf finds the segment of a document.
func nameOf(files []*hdl.File, doc uint32) (string, error) {
	if doc == C.HEDDLE_NO_DOCUMENT {
		return "", nil
	}
	local := doc
	for _, f := range files {
		if local < f.Docs() {
			return f.DocName(local)
		}
		local -= f.Docs()
	}
	return "", invalid("there is no document %d", doc)
}
