package query

import "heddle/engine/plan"

// scoredLeaf is a word, prefix, tolerant word or phrase that adds to scores.
type scoredLeaf struct {
	from, to        int  // its terms in Batch.terms
	phrase, phrases int  // its phrase in Batch.scoredPhrases, or none
	best            bool // the score of its best term is its score
	other           bool // the leaf before is the same one in another field, and the better one of both counts
}

// bested tells whether the scores of the present query are not sums of the scores of its terms.
func (b *Batch) bested() bool {
	for _, l := range b.scoredLeaves {
		if l.other || l.best && l.to-l.from > 1 {
			return true
		}
	}
	return false
}

// scoreGroup is leaves of which the best one counts, and a part of the others.
type scoreGroup struct {
	tie    uint32 // the part of the others, in units of 2^-tieBits
	leaves []groupLeaf
}

const tieBits = 30

// groupLeaf is a leaf with the weights of its terms: the list of a phrase is phrased.base and its number.
type groupLeaf struct {
	best  bool
	terms []plan.Term
}

// addGroups gives the present query groups. weights are the weights of Batch.terms, and behind them of Batch.scoredPhrases; the
// weight 0 adds nothing.
func (b *Batch) addGroups(weights []plan.Term, tie float64) {
	p := b.phrased
	for _, l := range b.scoredLeaves {
		leaf := groupLeaf{best: l.best}
		for _, t := range append(weights[l.from:l.to:l.to], weights[len(b.terms)+l.phrase:][:l.phrases]...) {
			if t.Weight > 0 {
				leaf.terms = append(leaf.terms, t)
			}
		}
		if !l.other {
			p.groups = append(p.groups, scoreGroup{tie: uint32(tie * (1 << tieBits))})
		}
		group := &p.groups[len(p.groups)-1]
		group.leaves = append(group.leaves, leaf)
	}
}
