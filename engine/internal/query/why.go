package query

import (
	"cmp"
	"context"
	"slices"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Why is the score of a document in its parts. The fields have the meaning of the fields of engine.ScoreExplanation with
// the same names.
type Why struct {
	Score      float64
	Docs       uint64
	MeanLength float64
	Scoring    *bm25.Params // nil: the index has impacts
	Parts      []Part
}

// Part is what a term or a phrase adds to a score. The fields have the meaning of the fields of engine.ScorePart with the
// same names.
type Part struct {
	Term              string
	Boost             float64
	Documents         uint64
	Weight, Frequency float64
	Length            uint32
	MeanLength        float64
	TF, Score         float64
}

// Why returns the score of a document that matches the only query of b, which is ranked and has settings s.
func (b *Batch) Why(ctx context.Context, x *Index, s *Settings, doc uint32) (*Why, error) {
	own := b.ownedBy(0)
	terms := b.ranks.Query(0)
	if n := b.expressions.of[0]; n > 0 {
		terms = b.expressions.terms.Query(int(n) - 1)
	}
	w := &Why{Docs: s.whole.Docs, MeanLength: mean(s.whole.Length, s.whole.Docs)}
	if s.Kind.Norm.Impacts == 0 {
		w.Scoring = &s.params
	}
	var total uint32
	// add completes a part of a weight and a component, both of integers.
	add := func(p Part, list plan.Handle, weight, tf uint32) {
		if p.MeanLength = w.MeanLength; x.hasFields() {
			f := s.whole.Fields[x.Source.FieldOf(list)]
			p.MeanLength = mean(f.Length, f.Docs)
		}
		sum := uint32(0)
		if p.Frequency > 0 {
			sum = plan.Contribution(weight, tf)
			p.TF = float64(tf) / (1 << 32)
		}
		total += sum
		p.Weight, p.Score = b.appendScores(nil, 0, []uint32{weight})[0], b.appendScores(nil, 0, []uint32{sum})[0]
		w.Parts = append(w.Parts, p)
	}
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := b.part(s, x.Source, t.List)
		f, err := frequency(x.Source, t.List, doc)
		if err != nil {
			return nil, err
		}
		norm, lengths := own.lengthRule(x.Source, t.List, b.kind.Norm)
		if norm.Impacts == 0 {
			p.Length = lengths[doc]
		}
		p.Frequency = float64(f)
		add(p, t.List, t.Weight, norm.TF(max(f, 1), p.Length))
	}
	if own != nil {
		if err := own.lists(ctx, x.Source); err != nil {
			return nil, err
		}
		for _, scored := range own.scored {
			first := own.phrases[scored.number].Slots[0].Lists[0]
			norm, lengths := own.lengthRule(x.Source, first, b.kind.Norm)
			p, made := b.phrasePart(scored.number), own.made[scored.number]
			p.Documents, p.Length = uint64(len(made.Docs)), lengths[doc]
			f := uint64(1)
			if i, ok := slices.BinarySearch(made.Docs, doc); ok {
				f = made.Freqs[i]
				p.Frequency = float64(f) / (1 << plan.FreqBits)
			}
			add(p, first, scored.weight, norm.TFOf(f, p.Length))
		}
	}
	for _, t := range b.asked { // no document has them
		if t.handle == unknown {
			w.Parts = append(w.Parts, Part{Term: t.term, Boost: t.weight})
		}
	}
	w.Score = b.appendScores(nil, 0, []uint32{total})[0]
	slices.SortStableFunc(w.Parts, func(p, q Part) int {
		return cmp.Or(cmp.Compare(q.Score, p.Score), cmp.Compare(q.Weight, p.Weight), cmp.Compare(p.Term, q.Term))
	})
	return w, nil
}

func mean(length, docs uint64) float64 {
	if docs == 0 {
		return 0
	}
	return float64(length) / float64(docs)
}

// part describes a list of the query.
func (b *Batch) part(s *Settings, src *plan.Source, list plan.Handle) (p Part) {
	for _, t := range b.asked {
		if t.handle != list {
			continue
		}
		p.Term, p.Documents = t.term, uint64(src.Lists[list].Len)
		if s.df != nil {
			p.Documents = s.df[t.term]
		}
		p.Boost, p.Documents = p.Boost+t.weight, cmp.Or(t.df, p.Documents)
	}
	return p
}

// phrasePart describes a phrase of the query.
func (b *Batch) phrasePart(number int) Part {
	i := slices.IndexFunc(b.scoredPhrases, func(r *resolved) bool { return r.number == number })
	phrase := *b.scoredPhrases[i].of
	p := Part{Boost: cmp.Or(phrase.Weight, 1)}
	phrase.Weight = 0
	p.Term = phrase.String()
	return p
}

// frequency is the frequency, or the impact, of a list in a document; 0 for a document that it lacks.
func frequency(src *plan.Source, list plan.Handle, doc uint32) (uint32, error) {
	docs, err := src.List(list).AppendTo(nil)
	if err != nil {
		return 0, err
	}
	i, ok := slices.BinarySearch(docs, doc)
	if !ok {
		return 0, nil
	}
	freqs, err := src.Freq(list)
	if err != nil {
		return 0, err
	}
	all, err := freqs.AppendTo(nil)
	if err != nil {
		return 0, err
	}
	return all[i] + 1, nil
}
