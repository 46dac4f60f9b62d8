package coordinator

import (
	"fmt"
	"slices"

	"heddle/engine/failure"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
	"heddle/engine/plan"
)

// ScaleError is the error of shards whose scores have different units, so that they cannot be
// compared. The shards do not come from one split, or their nodes run different versions.
type ScaleError struct {
	Collection string
	Shards     [2]int     // the first pair that differs
	Units      [2]float64 // the value of 1 in the integer sums of each
}

func (e *ScaleError) Error() string {
	return fmt.Sprintf("%s: the scores of shard %d are multiples of %g, those of shard %d of %g: publish the shards of one split, on nodes of one version", e.Collection, e.Shards[0], e.Units[0], e.Shards[1], e.Units[1])
}

// merger merges the answers of groups of shards, one query after the other.
type merger struct {
	*part.Merger
	pieces []Piece[*part.Answer]
	query  int
	order  *order.Spec // nil: the descending score

	ids    []uint64 // memory of all answers
	scores []float64
	names  []string
}

func newMerger(shards []layout.Shard, pieces []Piece[*part.Answer], k int) *merger {
	m := &merger{pieces: pieces}
	answers := make([]*part.Answer, len(pieces))
	docs, queries := 0, 0
	for i, p := range pieces {
		answers[i] = p.Answer
		docs, queries = docs+len(p.Answer.Docs), max(queries, len(p.Answer.Counts))
	}
	m.Merger = part.NewMerger(answers, func(answer int, at uint64) uint64 {
		of, a := pieces[answer].Shards, answers[answer]
		if len(of) == 1 {
			return shards[of[0]].First + uint64(a.Docs[at])
		}
		return shards[of[a.Places[at]]].First + uint64(a.Docs[at])
	})
	if k > 0 {
		docs = min(docs, k*queries)
		m.scores = make([]float64, 0, docs)
	}
	m.ids = make([]uint64, 0, docs)
	return m
}

// sort merges by an order; nil is the descending score.
func (m *merger) sort(s *order.Spec) {
	if m.order = s; s == nil {
		return
	}
	m.Compare = func(a int, at uint64, b int, bt uint64) int {
		x, y := m.place(a, at, 0), m.place(b, bt, 0)
		return s.Compare(&x, &y)
	}
}

// place returns the place of a document of an answer, with its number in the whole.
func (m *merger) place(answer int, at, number uint64) order.Place {
	a, n := m.pieces[answer].Answer, uint64(len(m.order.Columns()))
	return order.Place{Values: a.Keys[at*n : (at+1)*n], Score: a.Scores[at], Doc: number}
}

// comparable returns an error unless all shards give the scores of the present query in one unit.
func (m *merger) comparable(collection string) error {
	for _, p := range m.pieces {
		if first := m.pieces[0]; p.Answer.Units[m.query] != first.Answer.Units[m.query] {
			return &failure.Error{Code: failure.Corrupt, Op: "search", Err: &ScaleError{collection, [2]int{first.Shards[0], p.Shards[0]}, [2]float64{first.Answer.Units[m.query], p.Answer.Units[m.query]}}}
		}
	}
	return nil
}

// totals sets the count and the total of the present query.
func (m *merger) totals(h *Hits, k *kind) {
	found := uint64(0)
	for _, p := range m.pieces {
		h.Count += p.Answer.Counts[m.query]
		if k.k > 0 && len(p.Answer.Totals) > 0 {
			found += p.Answer.Totals[m.query]
		}
	}
	if k.k == 0 {
		found = h.Count
	}
	if k.total > 0 {
		h.Total = plan.UpTo(found, k.total)
	}
}

// merge joins the answers of the present query.
func (m *merger) merge(h *Hits, k *kind, ask Ask) {
	total := m.Query(m.query)
	m.totals(h, k)
	switch {
	case k.count:
		return
	case k.k > 0:
		total = min(total, uint64(k.k))
	case ask.Limit > 0:
		total = min(total, ask.Limit)
	}
	from := len(m.ids)
	for range total {
		answer, at, number, score := m.Next()
		m.ids = append(m.ids, number)
		if k.k > 0 {
			m.scores = append(m.scores, score)
		}
		if m.order != nil {
			last := m.place(answer, at, number)
			h.last = &last
		}
		if ask.Names {
			m.names = append(m.names, m.pieces[answer].Answer.Names[at])
		}
	}
	h.IDs = slices.Clip(m.ids[from:])
	if ask.Names && total > 0 {
		h.Names = slices.Clip(m.names[from:])
	}
	if k.k > 0 {
		h.Count, h.Scores = total, slices.Clip(m.scores[from:])
	}
}
