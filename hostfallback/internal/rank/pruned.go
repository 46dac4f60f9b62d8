package rank

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
)

// pruned ranks a query by block-max pruning: it adds up the levels of all blocks, and reads the postings
// of blocks in descending order of the sums, until no sum can pass the threshold.
//
// Sums have 16 bits, four in a word, so that one multiplication serves four blocks. The weights are scaled
// to coarseTotal and rounded up, so a sum is an upper bound.
type pruned struct {
	lists []prunedList
	total uint64 // sum of the weights

	first  uint32      // the first block of the part
	sums   [][2]uint64 // for eight blocks: the sums of the even and of the odd ones
	dense  []dense
	counts [1 << (16 - sumShift)]uint32
	live   []uint32 // blocks that are read, ascending
}

type prunedList struct {
	*blocks
	weight, coarse uint64
	at             int // the next entry of a sparse list
}

// dense is the levels of a list with an entry for each block, from the part on, and its coarse weight.
type dense struct {
	levels []uint64
	coarse uint64
}

const (
	// coarseTotal is the greatest sum of coarse weights: 16 bits hold its product with the greatest level.
	coarseTotal = 1<<16/(256>>levelShift) - 1
	evenLevels  = 0x00ff00ff00ff00ff
	sumShift    = 6   // sums that are counted together
	batchBlocks = 256 // blocks whose postings are added up together
	firstBlocks = 16  // blocks of the first round, at least
	roundGrowth = 4
)

// mostPruned is the greatest number of terms: half of the coarse weights is for rounding up.
const mostPruned = coarseTotal / 2

// open opens the lists of a query, which have blocks.
func (q *pruned) open(t *tables, terms []plan.Term) {
	q.lists, q.total = q.lists[:0], 0
	for _, term := range terms {
		b := t.blocks.At(term.List, len(t.norms.aux.Source.Lists)).Load()
		q.lists = append(q.lists, prunedList{blocks: b, weight: uint64(term.Weight)})
		q.total += uint64(term.Weight)
	}
}

// scale is the sum of the coarse weights before they are rounded up.
func (q *pruned) scale() uint64 { return coarseTotal - uint64(len(q.lists)) }

// least returns the least sum of a block that can have a document with a score. With the coarse weight c and
// the level v of each list, weight < c*total/scale and impact <= v<<levelShift. A score is the sum of
// weight*impact/256, each rounded up.
func (q *pruned) least(score uint32) uint64 {
	n := uint64(len(q.lists))
	if uint64(score) <= n {
		return 1
	}
	return max(((uint64(score)-n)*(256>>levelShift)*q.scale()+q.total-1)/q.total, 1)
}

// addUp sets the sums of n blocks.
func (q *pruned) addUp(n int) {
	words := (n + 7) / 8 // all of the part: only the last part ends inside a word
	q.sums = slices.Grow(q.sums[:0], words)[:words]
	clear(q.sums)
	q.dense = q.dense[:0]
	for i := range q.lists {
		l := &q.lists[i]
		l.coarse = l.weight*q.scale()/q.total + 1
		if l.levels != nil {
			q.dense = append(q.dense, dense{l.levels[q.first/8:], l.coarse})
			continue
		}
		l.at = docset.LowerBound(l.places, q.first<<8)
		for _, x := range l.places[l.at:] {
			block := x>>8 - q.first
			if int(block) >= n {
				break
			}
			q.sums[block/8][block%2] += l.coarse * uint64(x&255) << (block % 8 / 2 * 16)
		}
	}
	d := q.dense
	for ; len(d) >= 4; d = d[4:] {
		addFour(q.sums, d)
	}
	for i := range d {
		for j, x := range d[i].levels[:words] {
			q.sums[j][0] += x & evenLevels * d[i].coarse
			q.sums[j][1] += x >> 8 & evenLevels * d[i].coarse
		}
	}
}

// addFour adds the levels of four lists to sums, in one pass over the sums.
func addFour(sums [][2]uint64, d []dense) {
	n := len(sums)
	a, b, c, e := d[0].levels[:n], d[1].levels[:n], d[2].levels[:n], d[3].levels[:n]
	wa, wb, wc, we := d[0].coarse, d[1].coarse, d[2].coarse, d[3].coarse
	for j := range sums {
		s := &sums[j]
		s[0] += a[j]&evenLevels*wa + b[j]&evenLevels*wb + c[j]&evenLevels*wc + e[j]&evenLevels*we
		s[1] += a[j]>>8&evenLevels*wa + b[j]>>8&evenLevels*wb + c[j]>>8&evenLevels*wc + e[j]>>8&evenLevels*we
	}
}

// count counts the sums.
func (q *pruned) count() {
	clear(q.counts[:])
	for _, s := range q.sums {
		for shift := 0; shift < 64; shift += 16 {
			q.counts[uint16(s[0]>>shift)>>sumShift]++
			q.counts[uint16(s[1]>>shift)>>sumShift]++
		}
	}
}

// find sets q.live to the blocks whose sums are at least from, and below to.
func (q *pruned) find(from, to uint64) {
	const ones, high = 0x0001000100010001, 0x8000800080008000
	q.live = q.live[:0]
	above := (0x8000 - from>>1) * ones // to half of a sum, sets the high bit if the sum may be at least from
	for i, s := range q.sums {
		if ((s[0]>>1&^high+above)|(s[1]>>1&^high+above))&high == 0 {
			continue
		}
		for j := range uint32(8) {
			if sum := s[j%2] >> (j / 2 * 16) & 0xffff; sum >= from && sum < to {
				q.live = append(q.live, q.first+uint32(i)*8+j)
			}
		}
	}
}

// orBlocks ranks the documents of p that any list contains.
func (w *worker) orBlocks(ctx context.Context, b *plan.RankBatch, t *tables, p *part) error {
	q := &w.pruned
	q.open(t, b.Query(p.query))
	for _, l := range q.lists {
		w.best.raise(impactContribution(l.weight, l.floor(b.K)))
	}
	q.first = uint32(p.from >> blockShift)
	q.addUp(int((p.to-1)>>blockShift) + 1 - int(q.first))
	q.count()
	to := uint64(1 << 16)
	for size := firstBlocks + b.K/firstBlocks; ; size *= roundGrowth {
		p.shareThreshold(&w.best)
		least := q.least(w.best.threshold.score())
		if least >= to {
			return nil
		}
		from, found := to, 0
		for found < size && from > least {
			from -= 1 << sumShift
			found += int(q.counts[from>>sumShift])
		}
		q.find(max(from, least), to)
		if err := w.readBlocks(ctx, p); err != nil {
			return err
		}
		to = from
		if from <= least {
			return nil
		}
	}
}

// readBlocks ranks the documents of the live blocks.
func (w *worker) readBlocks(ctx context.Context, p *part) error {
	q := &w.pruned
	for i := range q.lists {
		q.lists[i].at = 0
	}
	for live := q.live; len(live) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.shareThreshold(&w.best)
		threshold := w.best.threshold.score()
		batch := live[:min(batchBlocks, len(live))]
		live = live[len(batch):]
		for i := range q.lists {
			q.lists[i].score(batch, &w.scores)
		}
		for i, block := range batch {
			scores := (*[blockDocs]uint32)(w.scores[i*blockDocs:])
			for offset, score := range scores {
				if score >= threshold && score > 0 {
					w.best.add(makeKey(score, block<<blockShift|uint32(offset)))
				}
			}
		}
		clear(w.scores[:len(batch)*blockDocs])
	}
	return nil
}

// score adds the contributions of the list to the scores of the documents of some blocks, in ascending order.
func (l *prunedList) score(batch []uint32, scores *[maxRange]uint32) {
	for i, block := range batch {
		at := int(block)
		if l.levels == nil {
			l.at += docset.Gallop(l.places[l.at:], block<<8)
			if at = l.at; l.places[at]>>8 != block {
				continue
			}
		}
		here := (*[blockDocs]uint32)(scores[i*blockDocs:])
		for _, x := range l.postings[l.start(at):l.start(at+1)] {
			here[x>>8%blockDocs] += impactContribution(l.weight, uint32(x&255))
		}
	}
}

// impactContribution is plan.Contribution of the component of an impact of 8 bits.
func impactContribution(weight uint64, impact uint32) uint32 {
	return uint32((weight*uint64(impact) + 255) >> 8)
}

// plan.AutoAccumulators prune blocks for leastPruned terms and more, and for at most one of prunedShare documents: the
// best of a greater share lie in too many blocks.
const (
	leastPruned = 8
	prunedShare = 1 << 15
)

// canPrune tells whether query i of b is ranked by block-max pruning, if its lists have blocks.
func canPrune(src *plan.Source, b *plan.RankBatch, i int) bool {
	n := len(b.Query(i))
	if b.Mode != plan.Or || b.Norm.Impacts != 8 || b.Filter(i) != nil || n == 0 || n > mostPruned || src.Docs == 0 || src.Docs>>(blockShift+blockBits) > 0 {
		return false
	}
	return b.Accumulators == plan.BlockAccumulators ||
		b.Accumulators == plan.AutoAccumulators && n >= leastPruned && uint64(b.K)*prunedShare <= uint64(src.Docs)
}

// prunes tells whether query i of b is ranked by block-max pruning. t may be nil.
func (t *tables) prunes(src *plan.Source, b *plan.RankBatch, i int) bool {
	if t == nil || !canPrune(src, b, i) {
		return false
	}
	for _, term := range b.Query(i) {
		if x := t.blocks.At(term.List, len(src.Lists)).Load(); x == nil || x == noBlocks {
			return false
		}
	}
	return true
}
