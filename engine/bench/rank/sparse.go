package rank

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"heddle/codec"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Parameters of the workload of learned sparse retrieval. The documentation of package bench gives
// the model and the source of the numbers.
const (
	SparseDocs    = 8_841_823
	sparseTerms   = 28_131
	sparseLength  = 43.0 // mean number of terms of a query
	sparseSpread  = 14.0 // standard deviation of this number
	sparseLeast   = 8    // bounds of this number
	sparseMost    = 100
	sparseImpacts = 8    // bits per impact
	sparseStrays  = 0.25 // share of the documents that lie apart from their topic
)

// level is one level of the model: all documents, or runs of neighbours in the order of topics. A node is
// one of these runs. Its terms are drawn by Zipf's law. A document of the node has the term at rank j of the
// node with probability top·(1-j/terms).
type level struct {
	docs   int     // mean number of documents of a node; 0: all documents are one node, whose terms follow Zipf's law
	terms  int     // terms of a node
	corner float64 // Zipf's law of the terms is flat above this rank: terms of small nodes are rarer
	top    float64 // probability of the first term of a node in a document
	impact float64 // mean impact of a posting of the first term of a node; the last one has a third of it
	asked  float64 // share of the terms of a query that are drawn from its node
	weight float64 // mean weight of these terms in a query, in any unit
}

var sparseLevels = [...]level{
	{0, sparseTerms, 62, 0.081, 32, 0.15, 0.5},
	{20_000, 1500, 110, 0.044, 42, 0.25, 0.9},
	{1500, 110, 400, 0.66, 78, 0.35, 1.8},
	{28, 50, 2000, 0.9, 96, 0.25, 1.8},
}

// share is the probability of the term at rank j of a node in a document of the node.
func (l *level) share(j int) float64 {
	if l.docs == 0 {
		return l.top / (1 + float64(j)/l.corner)
	}
	return l.top * (1 - float64(j)/float64(l.terms))
}

// meanImpact is the mean impact of the postings of the term at rank j of a node.
func (l *level) meanImpact(j int) float64 {
	return l.impact * (1 - float64(float64(j)/float64(l.terms))*0.85)
}

// zipf draws the rank of a term by Zipf's law.
func (l *level) zipf(r *workload.Random) int {
	whole := log2(1 + float64(sparseTerms)/l.corner)
	return min(int(l.corner*(exp2(float64(r.Unit()*whole))-1)), sparseTerms-1)
}

// sparseModel holds the nodes of all levels for a number of documents.
type sparseModel struct {
	seed uint64
	ends [len(sparseLevels)][]uint32 // the first place after each node
}

func newSparseModel(seed uint64, docs uint32) *sparseModel {
	m := &sparseModel{seed: seed}
	for i, l := range sparseLevels {
		n := 1
		if l.docs > 0 {
			n = max(int(docs)/l.docs, 1)
		}
		r := workload.NewRandom(seed, workload.StreamSites, 2+uint64(i))
		ends := make([]uint32, n)
		for j := range ends {
			ends[j] = uint32(r.Below(uint64(docs)))
		}
		ends[0] = docs
		slices.Sort(ends)
		m.ends[i] = ends
	}
	return m
}

// node returns the places of a node of a level.
func (m *sparseModel) node(level, i int) (from, to uint32) {
	if i > 0 {
		from = m.ends[level][i-1]
	}
	return from, m.ends[level][i]
}

// appendTerms appends the terms of a node, distinct, by rank. known is all false, and false again afterwards.
func (m *sparseModel) appendTerms(dst []uint16, level, i int, known []bool) []uint16 {
	l := &sparseLevels[level]
	start := len(dst)
	r := workload.NewRandom(m.seed, workload.StreamNodes, uint64(level)<<40|uint64(i))
	for len(dst) < start+l.terms {
		t := uint16(len(dst) - start)
		if l.docs > 0 {
			if t = uint16(l.zipf(r)); known[t] {
				continue
			}
			known[t] = true
		}
		dst = append(dst, t)
	}
	for _, t := range dst[start:] {
		known[t] = false
	}
	return dst
}

// sparseQuery is a query on terms of the vocabulary.
type sparseQuery struct {
	terms   []uint16
	weights []float64
}

// queries draws n queries. Each is about a document: its terms are terms of the nodes of the document, drawn as often
// as documents there have them, more of them from small nodes, and with greater weights. A weight is a power
// of 1.5 of an exponential draw: few terms have most of the weight.
func (m *sparseModel) queries(n int, docs uint32) []sparseQuery {
	all := make([]sparseQuery, n)
	r := workload.NewRandom(m.seed, workload.StreamRankLog, 1)
	known := make([]bool, sparseTerms)
	var terms []uint16
	for i := range all {
		place := uint32(r.Below(uint64(docs)))
		normal := -6.0
		for range 12 {
			normal += r.Unit()
		}
		length := min(max(int(sparseLength+0.5+float64(sparseSpread*normal)), sparseLeast), sparseMost)
		q := &all[i]
		asked := 0.0
		for level := range sparseLevels {
			l := &sparseLevels[level]
			node, _ := slices.BinarySearch(m.ends[level], place+1)
			terms = m.appendTerms(terms[:0], level, node, known)
			asked += l.asked
			for len(q.terms) < int(float64(asked*float64(length))+0.5) {
				j := l.zipf(r)
				if l.docs > 0 { // the lesser of two draws has the density of level.share
					j = int(min(r.Below(uint64(l.terms)), r.Below(uint64(l.terms))))
				}
				if t := terms[j]; !slices.Contains(q.terms, t) {
					x := -workload.Ln(r.Unit())
					q.terms = append(q.terms, t)
					q.weights = append(q.weights, 0.01+float64(l.weight*float64(x*math.Sqrt(x))))
				}
			}
		}
	}
	return all
}

// origin is a node whose documents have a term: at rank of the node.
type origin struct {
	level uint8
	rank  uint16
	node  uint32
}

// origins returns the nodes of each wanted term. handles has the handle of each term, and one less for terms that
// are not wanted.
func (m *sparseModel) origins(ctx context.Context, handles []int32, lists int) ([][]origin, error) {
	const block = 1 << 12 // nodes
	all := make([][]origin, lists)
	for level := range sparseLevels {
		nodes := len(m.ends[level])
		found := make([][][]origin, (nodes+block-1)/block)
		err := workload.EachWith(ctx, len(found), func(s *struct {
			known []bool
			terms []uint16
		}, b int) error {
			if s.known == nil {
				s.known = make([]bool, sparseTerms)
			}
			mine := make([][]origin, lists)
			for i := b * block; i < min((b+1)*block, nodes); i++ {
				s.terms = m.appendTerms(s.terms[:0], level, i, s.known)
				for j, t := range s.terms {
					if h := handles[t]; h >= 0 {
						mine[h] = append(mine[h], origin{uint8(level), uint16(j), uint32(i)})
					}
				}
			}
			found[b] = mine
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, mine := range found {
			for h := range mine {
				all[h] = append(all[h], mine[h]...)
			}
		}
	}
	return all, nil
}

// marks collects the postings of one list by docID.
type marks struct {
	impacts []uint8  // by docID; valid where set has a bit
	set     []uint64 // all 0 between lists
}

// drawSparse draws the list of a term from its nodes. A document that has the term from several nodes has the greatest
// impact.
func (s *postings) drawSparse(m *sparseModel, term uint16, from []origin, number []uint32) {
	k := &s.marks
	if len(k.set) == 0 {
		k.impacts, k.set = make([]uint8, len(number)), make([]uint64, (len(number)+63)/64)
	}
	r := workload.NewRandom(m.seed, workload.StreamRankList, 1<<40|uint64(term))
	for _, o := range from {
		l := &sparseLevels[o.level]
		first, end := m.node(int(o.level), int(o.node))
		s.positions = r.Sample(s.positions[:0], first, end, l.share(int(o.rank)))
		scale := 1 / workload.Ln(1-1/l.meanImpact(int(o.rank)))
		for _, p := range s.positions {
			d := number[p]
			x := float64(workload.Ln(float64(r.Unit()*r.Unit())*r.Unit())*scale) / 3
			impact := uint8(1 + min(uint32(x), 1<<sparseImpacts-2))
			if bit := uint64(1) << (d % 64); k.set[d/64]&bit == 0 {
				k.set[d/64] |= bit
				k.impacts[d] = impact
			} else {
				k.impacts[d] = max(k.impacts[d], impact)
			}
		}
	}
	s.positions, s.freqs = s.positions[:0], s.freqs[:0]
	for i, word := range k.set {
		for ; word != 0; word &= word - 1 {
			d := uint32(i*64 + bits.TrailingZeros64(word))
			s.positions, s.freqs = append(s.positions, d), append(s.freqs, uint32(k.impacts[d])-1)
		}
		k.set[i] = 0
	}
	if len(s.positions) == 0 {
		s.positions, s.freqs = append(s.positions, number[0]), append(s.freqs, 0)
	}
}

// sparseNumbers returns the docID of each place. Strays exchange their places at random.
func sparseNumbers(seed uint64, docs uint32, strays float64) []uint32 {
	number := make([]uint32, docs)
	for i := range number {
		number[i] = uint32(i)
	}
	r := workload.NewRandom(seed, workload.StreamOrder, 2)
	places := r.Sample(nil, 0, docs, min(strays, 1-1e-9))
	for i := len(places) - 1; i > 0; i-- {
		j := r.Below(uint64(i + 1))
		a, b := places[i], places[j]
		number[a], number[b] = number[b], number[a]
	}
	return number
}

// Sparse makes the workload of learned sparse retrieval of a seed with n queries. In workload.Reordered order,
// documents of a topic are neighbours but for a quarter of them, as after document reordering. In workload.Uniform
// order, all documents lie at random.
func Sparse(ctx context.Context, seed uint64, n int, docs uint32, id codec.ID, order workload.Order) (*Workload, error) {
	m := newSparseModel(seed, docs)
	asked := m.queries(n, docs)
	handles, terms := make([]int32, sparseTerms), []uint16(nil)
	for t := range handles {
		handles[t] = -1
	}
	queries := make([][]plan.Handle, n)
	for i, q := range asked {
		for _, t := range q.terms {
			if handles[t] < 0 {
				handles[t] = int32(len(terms))
				terms = append(terms, t)
			}
			queries[i] = append(queries[i], plan.Handle(handles[t]))
		}
	}
	from, err := m.origins(ctx, handles, len(terms))
	if err != nil {
		return nil, err
	}
	lengths := make([]float64, len(terms))
	for h := range from {
		for _, o := range from[h] {
			first, end := m.node(int(o.level), int(o.node))
			lengths[h] += float64(sparseLevels[o.level].share(int(o.rank)) * float64(end-first))
		}
	}
	strays, name := sparseStrays, "sparse"
	if order == workload.Uniform {
		strays, name = 1, "sparse uniform"
	}
	number := sparseNumbers(seed, docs, strays)
	w, err := newRanked(ctx, docs, queries, lengths, id, func(s *postings, h int) { s.drawSparse(m, terms[h], from[h], number) })
	if err != nil {
		return nil, err
	}
	w.Name = fmt.Sprintf("%s, %d documents, %d queries, seed %d", name, docs, n, seed)
	w.Source.Impacts = sparseImpacts
	for i := range w.Queries {
		w.Queries[i].Weights = asked[i].weights
	}
	return w, nil
}
