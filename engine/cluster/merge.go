package cluster

import (
	"fmt"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/layout"
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

// merger merges the answers of shards, one query after the other.
type merger struct {
	shards   []layout.Shard
	answers  []*api.ShardSearchResponse // nil for a missing shard
	at, ends []uint64                   // of the present query in the documents of each shard
	query    int

	ids    []uint64 // memory of all answers
	scores []float64
	names  []string
}

func newMerger(shards []layout.Shard, answers []*api.ShardSearchResponse, k int) *merger {
	m := &merger{shards: shards, answers: answers, at: make([]uint64, len(answers)), ends: make([]uint64, len(answers))}
	docs, queries := 0, 0
	for _, a := range answers {
		docs, queries = docs+len(a.GetDocs()), max(queries, len(a.GetCounts()))
	}
	if k > 0 {
		docs = min(docs, k*queries)
		m.scores = make([]float64, 0, docs)
	}
	m.ids = make([]uint64, 0, docs)
	return m
}

// next moves to query n.
func (m *merger) next(n int) {
	m.query = n
	for i, a := range m.answers {
		if a != nil {
			if m.at[i] = 0; n > 0 {
				m.at[i] = a.Ends[n-1]
			}
			m.ends[i] = a.Ends[n]
		}
	}
}

// comparable returns an error unless all shards give the scores of the present query in one unit.
func (m *merger) comparable(collection string) error {
	first := -1
	for i, a := range m.answers {
		switch {
		case a == nil:
		case first < 0:
			first = i
		case a.Units[m.query] != m.answers[first].Units[m.query]:
			return &engine.Error{Code: engine.Corrupt, Op: "search", Err: &ScaleError{collection, [2]int{first, i}, [2]float64{m.answers[first].Units[m.query], a.Units[m.query]}}}
		}
	}
	return nil
}

// merge joins the answers of the present query.
func (m *merger) merge(h *api.Hits, k int, count bool, ask api.Ask) {
	total := uint64(0)
	for i, a := range m.answers {
		if a != nil {
			h.Count += a.Counts[m.query]
			total += m.ends[i] - m.at[i]
		}
	}
	switch {
	case count:
		return
	case k > 0:
		m.best(h, int(min(uint64(k), total)), ask)
		return
	case ask.Limit > 0:
		total = min(total, ask.Limit)
	}
	from := len(m.ids)
	for i := range m.answers {
		for ; m.at[i] < m.ends[i] && uint64(len(m.ids)-from) < total; m.at[i]++ {
			m.take(i, ask)
		}
	}
	m.give(h, from, ask)
}

// take adds the present document of shard i.
func (m *merger) take(i int, ask api.Ask) {
	a, at := m.answers[i], m.at[i]
	m.ids = append(m.ids, m.shards[i].First+uint64(a.Docs[at]))
	if ask.Names {
		m.names = append(m.names, a.Names[at])
	}
}

// give sets h to the documents from some place on.
func (m *merger) give(h *api.Hits, from int, ask api.Ask) {
	h.IDs = slices.Clip(m.ids[from:])
	if ask.Names && len(h.IDs) > 0 {
		h.Names = slices.Clip(m.names[from:])
	}
}

// best adds the best k documents. The documents of a shard are in order already; of equal scores
// the earlier shard has the smaller numbers.
func (m *merger) best(h *api.Hits, k int, ask api.Ask) {
	from := len(m.ids)
	for range k {
		best, score := -1, 0.0
		for i, at := range m.at {
			if at < m.ends[i] {
				if next := m.answers[i].Scores[at]; best < 0 || next > score {
					best, score = i, next
				}
			}
		}
		m.take(best, ask)
		m.scores = append(m.scores, score)
		m.at[best]++
	}
	m.give(h, from, ask)
	h.Count, h.Scores = uint64(k), slices.Clip(m.scores[from:])
}
