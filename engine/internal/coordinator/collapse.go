package coordinator

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
)

// collapse answers query i of a kind that collapses. A part leaves out the documents that are not among the first ones
// of their value in the part, and the rest are merged until the answer is full. Where a part has documents behind the
// ones that it gave, because other parts had the first ones of their values, collapse reads on.
func (s *search) collapse(ctx context.Context, k kind, i int) error {
	h, begin, at := &s.hits[i], k.order, []int{i}
	before := map[string]int{} // documents of the values so far, by order.Value.Key
	late := s.namesLast(k, 1)
	if s.missing == nil {
		s.missing = map[int]error{} // asked shares it
	}
	asked := *s
	*h = Hits{}
	for own := *begin; ; {
		k.order = &own
		pieces, wrong, err := asked.request(ctx, k, at, nil)
		if err != nil {
			return err
		}
		if wrong[0] != nil {
			*h = Hits{Err: wrong[0]}
			return nil
		}
		m := newMerger(s.Layout.Shards, pieces, k.k)
		m.sort(&own)
		if err := m.comparable(s.Layout.Name); err != nil {
			return err
		}
		if begin.After == own.After {
			s.explain(i, pieces)
			m.totals(h, &k)
		}
		asked.Partial = false // a part that has answered must go on
		if begin.After != nil {
			if err := asked.seen(ctx, k, at, begin, pieces, before); err != nil {
				return err
			}
		}
		if own.After = m.collapse(h, &k, before, s.ask.Names && !late); own.After == nil {
			break
		}
	}
	if h.Count = uint64(len(h.IDs)); late {
		return s.names(ctx, at)
	}
	return nil
}

// collapse adds the documents of the answers that are among the first ones of their value. It returns the place at which
// the documents of a part end, if the answer is not full and the part may have more; nil if the answer is complete.
func (m *merger) collapse(h *Hits, k *kind, before map[string]int, names bool) (more *order.Place) {
	for range m.Query(0) {
		answer, at, number, score := m.Next()
		a := m.pieces[answer].Answer
		place := m.place(answer, at, number)
		if key := a.Groups[at].Key(); before[key] < k.order.Most {
			before[key]++
			h.IDs, h.Scores, h.last = append(h.IDs, number), append(h.Scores, score), &place
			if names {
				h.Names = append(h.Names, a.Names[at])
			}
		}
		if len(h.IDs) == k.k {
			return nil
		}
		if n := uint64(len(a.Docs)); at == n-1 && n == uint64(k.k) {
			return &place
		}
	}
	return nil
}

// seen adds to before the documents up to the cursor of a query, of the values that the answers have and before lacks.
func (s *search) seen(ctx context.Context, k kind, at []int, begin *order.Spec, pieces []Piece[*part.Answer], before map[string]int) error {
	var values []order.Value
	for _, p := range pieces {
		for _, v := range p.Answer.Groups {
			key := v.Key()
			if _, known := before[key]; !known {
				before[key], values = 0, append(values, v)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	k.order = begin
	answers, wrong, err := s.request(ctx, k, at, values)
	if err == nil {
		err = wrong[0]
	}
	if err != nil {
		return failure.Wrap("search", err)
	}
	for _, p := range answers {
		for n, seen := range p.Answer.Seen {
			before[values[n].Key()] += int(seen)
		}
	}
	return nil
}
