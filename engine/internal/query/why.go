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
	own, asked := b.ownedBy(0), b.asked
	w := &Why{Docs: s.whole.Docs, MeanLength: mean(s.whole.Length, s.whole.Docs)}
	if s.Kind.Norm.Impacts == 0 {
		w.Scoring = &s.params
	}
	if own != nil {
		if err := own.lists(ctx, x.Source); err != nil {
			return nil, err
		}
	}
	total := uint32(0)
	for _, group := range b.whyGroups(own) {
		leaves := make([][]sumPart, len(group.leaves))
		for i, leaf := range group.leaves {
			for _, t := range leaf.terms {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				of := b.asked
				if own != nil && own.groups != nil && t.List < own.base { // asked has their terms in the same order
					for asked[0].handle != t.List {
						asked = asked[1:]
					}
					of, asked = asked[:1], asked[1:]
				}
				p, err := b.sumPart(x, s, own, of, t, doc)
				if err != nil {
					return nil, err
				}
				leaves[i] = append(leaves[i], p)
			}
		}
		total += group.divide(leaves)
		for _, leaf := range leaves {
			for _, p := range leaf {
				p.Score = b.appendScores(nil, 0, []uint32{p.sum})[0]
				w.Parts = append(w.Parts, p.Part)
			}
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

// sumPart is a part and the integer behind its score.
type sumPart struct {
	Part
	sum uint32
}

// whyGroups is the groups of the only query of b; a query without them is one leaf.
func (b *Batch) whyGroups(own *phrased) []scoreGroup {
	if own != nil && own.groups != nil {
		return own.groups
	}
	terms := b.ranks.Query(0)
	if n := b.expressions.of[0]; n > 0 {
		terms = b.expressions.terms.Query(int(n) - 1)
	}
	terms = slices.Clone(terms)
	if own != nil {
		for _, p := range own.scored {
			terms = append(terms, plan.Term{List: own.base + plan.Handle(p.number), Weight: p.weight})
		}
	}
	return []scoreGroup{{leaves: []groupLeaf{{terms: terms}}}}
}

// divide sets the sums of the parts of the leaves of a group to what they add, and returns their sum.
func (g *scoreGroup) divide(leaves [][]sumPart) (sum uint32) {
	best, first := uint32(0), 0
	for i, parts := range leaves {
		if g.leaves[i].best {
			top := 0
			for j := range parts {
				if parts[j].sum > parts[top].sum {
					top = j
				}
			}
			for j := range parts {
				if j != top {
					parts[j].sum = 0
				}
			}
		}
		leaf := uint32(0)
		for _, p := range parts {
			leaf += p.sum
		}
		if leaf > best {
			best, first = leaf, i
		}
	}
	others, added := uint64(0), uint64(0) // all sums of the other leaves, and what they add
	for i, parts := range leaves {
		for j := range parts {
			if p := &parts[j]; i != first {
				others += uint64(p.sum)
				p.sum = uint32(others*uint64(g.tie)>>tieBits - added)
				added += uint64(p.sum)
			}
		}
	}
	return best + uint32(added)
}

// sumPart is the part of a term, or of a phrase, whose list is phrased.base and its number.
func (b *Batch) sumPart(x *Index, s *Settings, own *phrased, of []asked, t plan.Term, doc uint32) (p sumPart, err error) {
	first, phrase := t.List, -1
	if own != nil && t.List >= own.base {
		phrase = int(t.List - own.base)
		first = own.phrases[phrase].Slots[0].Lists[0]
	}
	norm, lengths := own.lengthRule(x.Source, first, b.kind.Norm)
	length := uint32(0)
	if norm.Impacts == 0 {
		length = lengths[doc]
	}
	var tf uint32
	if phrase < 0 {
		f, err := frequency(x.Source, t.List, doc)
		if err != nil {
			return p, err
		}
		p.Part, tf = part(of, s, x.Source, t.List), norm.TF(max(f, 1), length)
		p.Frequency = float64(f)
	} else {
		made := own.made[phrase]
		p.Part = b.phrasePart(phrase)
		p.Documents = uint64(len(made.Docs))
		if i, ok := slices.BinarySearch(made.Docs, doc); ok {
			tf = norm.TFOf(made.Freqs[i], length)
			p.Frequency = float64(made.Freqs[i]) / (1 << plan.FreqBits)
		}
	}
	p.Length, p.Weight = length, b.appendScores(nil, 0, []uint32{t.Weight})[0]
	if p.MeanLength = mean(s.whole.Length, s.whole.Docs); x.hasFields() {
		f := s.whole.Fields[x.Source.FieldOf(first)]
		p.MeanLength = mean(f.Length, f.Docs)
	}
	if p.Frequency > 0 {
		p.sum = plan.Contribution(t.Weight, tf)
		p.TF = float64(tf) / (1 << 32)
	}
	return p, nil
}

func mean(length, docs uint64) float64 {
	if docs == 0 {
		return 0
	}
	return float64(length) / float64(docs)
}

// part describes a list of the terms of a query.
func part(of []asked, s *Settings, src *plan.Source, list plan.Handle) (p Part) {
	for _, t := range of {
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
