package rank

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// table is the data kept for ranking with one list under one Norm. A published table is
// immutable.
type table struct {
	// Plain postings, which save decoding; nil without memory for them.
	docs, tfs []uint32
	buckets   lookup.Buckets // hash buckets over docs

	// blockMaxima[i] is the greatest component of the documents x with x>>blockShift = i, the block-max
	// of Ding and Suel 2011. Documents behind the last entry have no postings.
	blockMaxima []uint32
	blockShift  uint8
	// fineMaxima[i] bounds the components of the documents x with x>>fineShift = i, in units of
	// 2^24: greatestFine for any greater component, 0 without such documents.
	fineMaxima []uint8
	fineShift  uint8
	// greatest is the greatest component. floors[i] is a component that at least 2^i
	// documents reach, 0 if the list is shorter: a query for the best 2^i documents needs
	// no document with a score below the contribution of floors[i].
	greatest uint32
	floors   [floorLevels]uint32
	// top holds the greatest components of a long list with their documents, the greatest first; nil
	// for short lists and without plain postings.
	top []key
}

const (
	floorLevels   = 15 // up to 2^14, which is above plan.MaxK
	levelBits     = 10 // leading bits of a component that tell floors apart
	blockPostings = 16 // wanted mean number of postings for each entry of blockMaxima and fineMaxima
	minFineShift  = 6  // least shift of fineMaxima
	greatestFine  = 255
	topLen        = 256      // entries of top
	topShare      = 16       // the least number of postings for each entry of top
	rankBucket    = plan.HS8 // buckets of docIDs
	_             = uint(1<<(floorLevels-1) - plan.MaxK)
)

// usedOnce stands for the table of a list that one query has used under a Norm: the next query builds the
// table. The bounds of usedOnce hold for every list.
var usedOnce = &table{greatest: math.MaxUint32}

// blockShifts returns table.blockShift and table.fineShift of list h.
func blockShifts(src *plan.Source, h plan.Handle) (block, fine uint8) {
	block = codec.BucketShift(src.Lists[h].Len, src.Docs, blockPostings)
	return max(block, minRangeShift), max(block, minFineShift)
}

// boundsBytes returns the size of the bounds of all lists of src under one Norm, at most this size
// for a lazy source.
func boundsBytes(src *plan.Source) (size int64) {
	if src.Freqs == nil {
		return 0
	}
	if src.Lazy != nil { // a list has at most twice the buckets that it needs, rounded up
		size = 5 * 2 * (int64(src.Postings())/blockPostings + int64(len(src.Lists)))
	} else {
		for h := range src.Lists {
			step, fine := blockShifts(src, plan.Handle(h))
			size += 4*(int64(src.Docs>>step)+1) + int64(src.Docs>>fine) + 1
		}
	}
	return size + commonSize(src)
}

// commonSize returns the size of the table of common components of a source. A source of few postings has
// none: to clear it would take longer than to compute the components.
func commonSize(src *plan.Source) int64 {
	if src.Impacts > 0 || src.Postings() < commonLengths*smallFreqs {
		return 0
	}
	return commonBytes
}

// build returns the table of list h, as far as memory allows, and adds its bytes to c. It
// reads the whole list.
func (t *tables) build(ctx context.Context, h plan.Handle, c *claim) (built *table, err error) {
	built = new(table)
	aux, memory := t.norms.aux, t.norms.memory
	src := aux.Source
	n, universe := src.Lists[h].Len, src.Docs
	l := new(reader)
	if err := l.open(aux, &t.components, plan.Term{List: h, Weight: 1}, nil, 0); err != nil {
		return nil, err
	}
	built.blockShift, built.fineShift = blockShifts(src, h)
	if entries := int(universe>>built.blockShift) + 1; c.takeBounds(memory, 4*int64(entries)) {
		built.blockMaxima = make([]uint32, entries)
	}
	if entries := int(universe>>built.fineShift) + 1; c.takeBounds(memory, int64(entries)) {
		built.fineMaxima = make([]uint8, entries)
	}
	shift := codec.BucketShift(n, universe, rankBucket.Bucket())
	buckets := int64(universe>>shift) + 2
	docs := aux.Plain(h)
	room := 4*int64(n) + 4*buckets
	if docs == nil {
		room += 4 * int64(n)
	}
	plain := c.take(memory, room)
	if plain {
		if built.docs = docs; docs == nil {
			built.docs = make([]uint32, 0, n)
		}
		built.tfs = make([]uint32, 0, n)
	}
	var top best
	if plain && n >= topLen*topShare && c.take(memory, 8*topLen) {
		top.open(topLen)
	}
	var levels [1 << levelBits]uint32 // postings by component, in steps of 2^(32-levelBits)
	for more := len(l.docs) > 0; more; {
		var part, tfs []uint32
		if part, tfs, more, err = l.take(math.MaxUint32); err != nil {
			return nil, err
		}
		for i, x := range part {
			tf := tfs[i]
			levels[tf>>(32-levelBits)]++
			built.greatest = max(built.greatest, tf)
			if top.k > 0 {
				top.add(makeKey(tf, x))
			}
			if at := int(x >> built.blockShift); at < len(built.blockMaxima) {
				built.blockMaxima[at] = max(built.blockMaxima[at], tf)
			}
			if at := int(x >> built.fineShift); at < len(built.fineMaxima) {
				built.fineMaxima[at] = max(built.fineMaxima[at], uint8(min(tf>>24+1, greatestFine)))
			}
		}
		if plain {
			built.tfs = append(built.tfs, tfs...)
			if docs == nil {
				built.docs = append(built.docs, part...)
			}
		}
		if err := cmp.Or(ctx.Err(), l.decode()); err != nil {
			return nil, err
		}
	}
	if plain {
		built.buckets.Shift = shift
		built.buckets.First = codec.AppendBuckets(make([]uint32, 0, buckets), built.docs, shift)
	}
	built.setFloors(&levels)
	if top.k > 0 {
		top.cut()
		slices.SortFunc(top.keys, func(a, b key) int { return cmp.Compare(b, a) })
		built.top = slices.Clone(top.keys)
	}
	return built, nil
}

// setFloors derives floors from the numbers of postings by level.
func (t *table) setFloors(levels *[1 << levelBits]uint32) {
	total, i := uint64(0), 0
	for level, n := range slices.Backward(levels[:]) {
		total += uint64(n)
		for i < len(t.floors) && total >= 1<<i {
			t.floors[i] = uint32(level) << (32 - levelBits)
			i++
		}
	}
}

// floor returns a component that at least k documents reach, 0 if the list is shorter.
func (t *table) floor(k int) uint32 { return t.floors[bits.Len(uint(k-1))] }

// blockMax returns an upper bound of the components of documents from base to last.
func (t *table) blockMax(base, last uint32) (tf uint32) {
	from, to := int(base>>t.blockShift), int(last>>t.blockShift)
	for _, m := range t.blockMaxima[min(from, len(t.blockMaxima)):min(to+1, len(t.blockMaxima))] {
		tf = max(tf, m)
	}
	return tf
}

// find returns the component of document x, 0 if the list lacks it.
func (t *table) find(x uint32) uint32 {
	const window = 16 // wider than nearly all buckets
	lo, hi := t.buckets.Find(x)
	if hi-lo > window || len(t.docs) < window {
		i := int(lo) + docset.LowerBound(t.docs[lo:hi], x)
		if i < int(hi) && t.docs[i] == x {
			return t.tfs[i]
		}
		return 0
	}
	// The window may reach beyond the bucket, because docs ascend.
	at := min(int(lo), len(t.docs)-window)
	docs := (*[window]uint32)(t.docs[at:])
	i, above := 0, int64(x)+1
	i += 8 & docset.Below(docs[8], above)
	i += 4 & docset.Below(docs[i&8+4], above)
	i += 2 & docset.Below(docs[i&12+2], above)
	i += 1 & docset.Below(docs[i&14+1], above)
	return t.tfs[at+i] & -uint32(docset.Equal(docs[i&15], x))
}
