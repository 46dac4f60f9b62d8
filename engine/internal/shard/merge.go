package shard

import (
	"fmt"
	"slices"
	"strings"

	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// copyLoad is how many documents are worth a goroutine to copy.
const copyLoad = 1 << 17

// gather puts the parts' answers to queries one behind the other.
func (s *store) gather(r *run, queries int, countOnly bool, candidates uint64, out *plan.Results) {
	out.Reset()
	for i := range r.results {
		out.Stats.Add(r.results[i].Stats)
	}
	total := uint64(0)
	for q := range queries {
		for i := range r.results {
			total += r.results[i].Count(q)
		}
		out.Offsets = append(out.Offsets, total)
	}
	out.Stats.Queries, out.Stats.Candidates, out.Stats.Matches = uint64(queries), candidates, total
	if countOnly {
		return
	}
	out.Docs = slices.Grow(out.Docs, int(total))[:total]
	copies := func(from, to uint64) error {
		for q := from; q < to; q++ {
			dst := out.Query(int(q))
			for i := range r.results {
				docs, first := r.results[i].Query(int(q)), s.parts[i].First
				for j, d := range docs {
					dst[j] = d + first
				}
				dst = dst[len(docs):]
			}
		}
		return nil
	}
	pieces := 1 + total/copyLoad
	if pieces == 1 {
		_ = copies(0, uint64(queries)) // never fails
		return
	}
	_ = container.ParallelRanges(uint64(queries), 1+uint64(queries)/pieces, copies)
}

// merge takes the best k of all parts. The documents of a part are in order; of equal
// scores, documents of earlier parts come first.
func (s *store) merge(r *run, queries, k int, out *plan.TopK) {
	out.Reset()
	for i := range r.best {
		out.Stats.Add(r.best[i].Stats)
	}
	for q := range queries {
		clear(r.places)
		for range k {
			from, most := -1, uint32(0)
			for i := range r.best {
				if _, scores := r.best[i].Query(q); r.places[i] < len(scores) && (from < 0 || scores[r.places[i]] > most) {
					from, most = i, scores[r.places[i]]
				}
			}
			if from < 0 {
				break
			}
			docs, _ := r.best[from].Query(q)
			out.Docs, out.Scores = append(out.Docs, docs[r.places[from]]+s.parts[from].First), append(out.Scores, most)
			r.places[from]++
		}
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
}

// Explain implements plan.Store.
func (s *store) Explain(a plan.Algorithm, h plan.Handle) string {
	return s.explain(func(i int) string { return s.stores[i].Explain(a, h) })
}

// ExplainBatch implements plan.Store.
func (s *store) ExplainBatch(b *plan.MatchBatch) string {
	if err := b.Validate(s.src); err != nil {
		return err.Error()
	}
	return s.explain(func(i int) string {
		var mine plan.MatchBatch
		s.batch(&mine, i, b)
		return s.stores[i].ExplainBatch(&mine)
	})
}

// explain joins the explanations of the parts, or returns one if they agree.
func (s *store) explain(say func(i int) string) string {
	texts := make([]string, len(s.stores))
	for i := range texts {
		texts[i] = say(i)
	}
	if len(slices.Compact(slices.Clone(texts))) == 1 {
		return fmt.Sprintf("%d parts: %s", len(texts), texts[0])
	}
	for i := range texts {
		texts[i] = fmt.Sprintf("part %d: %s", i, texts[i])
	}
	return strings.Join(texts, "; ")
}
