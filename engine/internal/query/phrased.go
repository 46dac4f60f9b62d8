package query

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"heddle/engine/plan"
	"heddle/hostfallback/phrase"
)

// phrased is a query with phrases or title:*, which pure Go answers.
type phrased struct {
	set       set // not simplified; the list of phrase i is base+i, and that of the documents in a field: see Index.phraseBase
	base      plan.Handle
	withField []func() []uint32 // documents with a word in each field
	phrases   []plan.Phrase
	scored    []weightedPhrase // phrases that add to scores
	groups    []scoreGroup     // in place of scored and of the terms of the query; nil: scores are sums
	best      *phrase.Best     // other documents may be missing; nil: none is
	fields    []plan.Norm      // by field, of a ranked query on an index with fields
	other     *set             // the documents if the set has fewer than K, of AllElseAny; nil: the set

	mu   sync.Mutex   // two processors may have the query, one of which hangs
	made []*plan.Made // lists of the phrases: empty, or nil where they are not made yet
}

type weightedPhrase struct {
	number int
	weight uint32
}

// load is the number of the documents of the shortest places of all phrases.
func (p *phrased) load(src *plan.Source) (n uint64) {
	for i := range p.phrases {
		least := uint64(src.Docs)
		for _, s := range p.phrases[i].Slots {
			sum := uint64(0)
			for _, h := range s.Lists {
				sum += uint64(src.Lists[h].Len)
			}
			least = min(least, sum)
		}
		n += least
	}
	return n
}

// realPhrase is a phrase that adds to scores, with its weight. Its number is -1 if a place has no documents in this index.
type realPhrase struct {
	number int
	weight float64
	of     int // its place in Batch.scoredPhrases
}

// weighPhrases weighs the phrases of the query: the weight of a phrase is the sum of the weights of its terms, as in
// Lucene. Terms without documents in the collection add nothing.
func (b *Batch) weighPhrases(x *Index, s *Settings) (all []realPhrase, err error) {
	for i, r := range b.scoredPhrases {
		sum := 0.0
		for t := range r.terms() {
			one := asked{term: t, handle: unknown, weight: cmp.Or(r.of.Weight, 1)}
			length := uint32(0)
			if h, ok := x.Dictionary.Lookup(t); ok {
				length = x.Source.Lists[h].Len
			}
			weight, ok, err := s.weight(x, &one, length)
			if err != nil {
				return nil, err
			}
			if ok {
				sum += weight
			}
		}
		if math.IsInf(sum, 1) {
			return nil, invalidf("ranking: weight %v of a phrase is too great", r.of.Weight)
		}
		if sum > 0 {
			all = append(all, realPhrase{r.number, sum, i})
		}
	}
	return all, nil
}

// own makes p the answer of the query that was added last; nil: the backend answers it.
func (b *Batch) own(p *phrased) {
	if p == nil && len(b.owned) == 0 {
		return
	}
	n := b.Queries()
	for len(b.owned) < n {
		b.owned = append(b.owned, nil)
	}
	b.owned[n-1] = p
}

// ownedBy returns what answers query i in pure Go; nil: the backend does.
func (b *Batch) ownedBy(i int) *phrased {
	if i >= len(b.owned) {
		return nil
	}
	return b.owned[i]
}

// alone tells whether the query is one phrase, which adds to scores.
func (p *phrased) alone() bool {
	return p.fields == nil && p.groups == nil && len(p.phrases) == 1 && len(p.scored) == 1 && !p.set.not && p.set.Op == plan.OpList && p.set.List == p.base
}

// lists makes the lists of the phrases, once.
func (p *phrased) lists(ctx context.Context, src *plan.Source) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(nil)
	for i := range p.phrases {
		if made := p.made[i]; made != nil {
			if len(made.Left) > 0 {
				if err := phrase.Complete(ctx, src, &p.phrases[i], made); err != nil {
					return err
				}
			}
			continue
		}
		made := new(plan.Made)
		if err := phrase.Make(ctx, src, &p.phrases[i], p.best, made); err != nil {
			return err
		}
		p.made[i] = made
	}
	return nil
}

// put notes the lists of the first phrases that are not made yet, as far as they are given. mu is held.
func (p *phrased) put(made []*plan.Made) {
	if len(p.made) == 0 {
		p.made = make([]*plan.Made, len(p.phrases))
	}
	for i, m := range made {
		if p.made[i] == nil { // else another batch may read it
			p.made[i] = m
		}
	}
}

// DeviceDocuments is the number of documents of the rarest words of the phrases of a batch from which on a store makes their lists. Tests set it.
var DeviceDocuments = plan.PhraseStore.PhraseDocuments

// makePhrases lets the store make lists of the phrases of the batch, if it can and that takes less time. Pure Go makes the lists that are
// missing then, and looks at the documents that are left.
func (b *Batch) makePhrases(ctx context.Context, s plan.Store, st *plan.Stats) error {
	maker, ok := s.(plan.PhraseStore)
	if !ok {
		return nil
	}
	all := make([]*plan.Phrase, 0, len(b.owned))
	load, least := uint64(0), DeviceDocuments(maker)
	for _, p := range b.owned {
		if p != nil {
			if load < least {
				load += p.load(b.source)
			}
			for i := range p.phrases {
				all = append(all, &p.phrases[i])
			}
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case load < least:
		st.PhraseReason = "it is faster there"
		return nil
	}
	made, err := maker.Phrases(ctx, all, st)
	if err != nil {
		return err
	}
	for _, p := range b.owned {
		if p != nil {
			p.mu.Lock()
			p.put(made[:len(p.phrases)])
			p.mu.Unlock()
			made = made[len(p.phrases):]
		}
	}
	return nil
}

// ready tells whether all lists of the phrases are made, up to documents that are left.
func (p *phrased) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.made) > 0 && !slices.Contains(p.made, nil)
}

// addStats adds the cost of the lists, which are made.
func (p *phrased) addStats(s *plan.Stats) {
	for i := range p.made {
		s.PhraseCandidates += p.made[i].Candidates
		s.Positions += p.made[i].Positions
	}
}

// docs returns the documents of the set that permitted has; nil permits all. If there are fewer than k, it returns the
// documents of the other set, if there is one, and counts that.
func (p *phrased) docs(ctx context.Context, src *plan.Source, permitted []uint64, k int, s *plan.Stats) ([]uint32, error) {
	if err := p.lists(ctx, src); err != nil {
		return nil, err
	}
	docs, err := p.docsOf(ctx, src, &p.set, permitted)
	if err == nil && p.other != nil && len(docs) < k {
		docs, err = p.docsOf(ctx, src, p.other, permitted)
		s.Widened++
	}
	return docs, err
}

func (p *phrased) docsOf(ctx context.Context, src *plan.Source, of *set, permitted []uint64) ([]uint32, error) {
	docs, err := p.eval(ctx, src, &of.Expr)
	if err != nil {
		return nil, err
	}
	if permitted != nil {
		docs = slices.DeleteFunc(slices.Clone(docs), func(d uint32) bool { return permitted[d/64]>>(d%64)&1 == 0 })
	}
	if of.not {
		docs = complete(docs, src.Docs, permitted)
	}
	return docs, nil
}

// eval returns the documents of an expression. They must not be changed.
func (p *phrased) eval(ctx context.Context, src *plan.Source, e *plan.Expr) (docs []uint32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.Op == plan.OpList {
		switch lists := plan.Handle(len(src.Lists)); {
		case e.List >= p.base:
			return p.made[e.List-p.base].Docs, nil
		case e.List >= lists:
			return p.withField[e.List-lists](), nil
		}
		if docs, err = src.List(e.List).AppendTo(nil); err == nil && len(docs) > 0 && docs[len(docs)-1] >= src.Docs {
			err = fmt.Errorf("docID %d in a universe of %d", docs[len(docs)-1], src.Docs)
		}
		return docs, err
	}
	for i := range e.Args {
		more, err := p.eval(ctx, src, &e.Args[i])
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			docs = more
		case e.Op == plan.OpOr:
			docs = combine(docs, more, true, true, true)
		case e.Op == plan.OpAnd:
			docs = combine(docs, more, false, true, false)
		default:
			docs = combine(docs, more, true, false, false)
		}
	}
	return docs, nil
}

// combine returns the elements of two ascending sequences that are in the first alone, in both, in the second alone.
func combine(a, b []uint32, first, both, second bool) (out []uint32) {
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x < y:
			if a = a[1:]; first {
				out = append(out, x)
			}
		case x > y:
			if b = b[1:]; second {
				out = append(out, y)
			}
		default:
			if a, b = a[1:], b[1:]; both {
				out = append(out, x)
			}
		}
	}
	if first {
		out = append(out, a...)
	}
	if second {
		out = append(out, b...)
	}
	return out
}

// add adds the contributions of a phrase, whose list is made.
func (p *phrased) add(src *plan.Source, docs, sums []uint32, s weightedPhrase, norm plan.Norm) {
	made, i := p.made[s.number], 0
	norm, lengths := p.lengthRule(src, p.phrases[s.number].Slots[0].Lists[0], norm)
	for j, doc := range made.Docs {
		for i < len(docs) && docs[i] < doc {
			i++
		}
		if i == len(docs) {
			break
		}
		if docs[i] == doc {
			sums[i] += plan.Contribution(s.weight, norm.TFOf(made.Freqs[j], lengths[doc]))
		}
	}
}

// digest identifies the phrases of a query.
func (p *phrased) digest() *[32]byte {
	all := []byte("phrases")
	numbers := func(some ...uint64) {
		for _, n := range some {
			all = binary.AppendUvarint(all, n)
		}
	}
	for i := range p.phrases {
		one := &p.phrases[i]
		numbers(uint64(one.Kind), uint64(one.Distance), uint64(len(one.Slots)))
		for _, s := range one.Slots {
			numbers(uint64(s.Offset), uint64(len(s.Lists)))
			for _, h := range s.Lists {
				numbers(uint64(h))
			}
		}
	}
	var tree func(e *plan.Expr)
	tree = func(e *plan.Expr) {
		numbers(uint64(e.Op), uint64(e.List), uint64(len(e.Args)))
		for i := range e.Args {
			tree(&e.Args[i])
		}
	}
	tree(&p.set.Expr)
	if p.other != nil {
		tree(&p.other.Expr)
	}
	for _, f := range p.fields {
		all = fmt.Append(all, f)
	}
	numbers(uint64(len(p.scored)))
	for _, s := range p.scored {
		numbers(uint64(s.number), uint64(s.weight))
	}
	for _, g := range p.groups {
		all = fmt.Append(all, g)
	}
	if p.set.not {
		numbers(1)
	}
	sum := sha256.Sum256(all)
	return &sum
}
