package phrase

import (
	"cmp"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

const (
	uploadWords = 1 << 19
	listUnits   = 4 // uint4 of a list in the upload
)

// cut cuts a part of a batch of phrases into rounds. It belongs to one goroutine.
type cut struct {
	set     *lists.Set
	data    *data
	phrases []*plan.Phrase
	made    []*plan.Made // by phrase; nil: the kernels do not make its list
	stats   plan.Stats

	tables     *lists.Tables
	freqs      [lists.MaxArenas]*ocl.MemObject
	freqPlaces []lists.Place // by list

	next  int    // the next phrase
	order []int  // its words, the one with the fewest documents first; empty: not sorted yet
	list  int    // the next list of its rarest word
	done  uint32 // documents of that list in earlier rounds

	// The fields below belong to one round.
	of             []int       // by query: its phrase
	parts, queries [][4]uint32 // see phrase.cl, whose parts are parts of lists; their lists count from 0
	lists          [][4]uint32
	runs           [len(lists.Decoders)][][lists.RunWords]uint32
	runsAt         [len(lists.Decoders)]int
	places         int
	queriesAt      int      // in uint4
	words          int      // of the upload
	moved          uint64   // bytes that decoding and phrase_find load and store; phrase_match adds its candidates, positions and results. No search in lists counts
	found          []uint32 // what phrase_match found, foundWords each, in any order
}

// nextRound makes the next round. It returns false if there is none.
func (c *cut) nextRound() bool {
	c.of, c.parts, c.queries, c.lists, c.places, c.moved = c.of[:0], c.parts[:0], c.queries[:0], c.lists[:0], 0, 0
	for d := range c.runs {
		c.runs[d] = c.runs[d][:0]
	}
	c.words = 0
	for ; c.next < len(c.phrases); c.next, c.order, c.list, c.done = c.next+1, c.order[:0], 0, 0 {
		p := c.phrases[c.next]
		if len(c.order) == 0 {
			if reason := refuses(c.set.Src, p); reason != "" {
				c.stats.PhraseReason = cmp.Or(c.stats.PhraseReason, reason)
				continue
			}
			c.made[c.next] = new(plan.Made)
			c.sort(p)
		}
		rarest := p.Slots[c.order[0]].Lists
		for asked := false; c.list < len(rarest); c.list, c.done = c.list+1, 0 {
			n := c.set.Src.Lists[rarest[c.list]].Len
			left := c.data.most - c.places
			take := min(n-c.done, uint32(left/lists.RunLen*lists.RunLen))
			if left < lists.RunLen || c.words+size(p, int(take)) > uploadWords {
				return true
			}
			if !asked {
				c.ask(p)
				asked = true
			}
			c.add(p, rarest[c.list], take)
			if c.done += take; c.done < n {
				return true
			}
		}
	}
	return len(c.queries) > 0
}

// sort sorts the words of a phrase.
func (c *cut) sort(p *plan.Phrase) {
	postings := func(i int) (n uint64) {
		for _, h := range p.Slots[i].Lists {
			n += uint64(c.set.Src.Lists[h].Len)
		}
		return n
	}
	for i := range p.Slots {
		c.order = append(c.order, i)
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(postings(i), postings(j)) })
}

// count is the number of lists of a phrase.
func count(p *plan.Phrase) (n int) {
	for _, s := range p.Slots {
		n += len(s.Lists)
	}
	return n
}

// size is the most words of an upload that a phrase takes with a part of so many places.
func size(p *plan.Phrase, places int) int {
	return 8 + 4*listUnits*count(p) + lists.RunWords*(places/lists.RunLen+1)
}

// add adds a part of the phrase that was asked last to the round: documents of list number c.list of its rarest word.
func (c *cut) add(p *plan.Phrase, h plan.Handle, take uint32) {
	r, query, at := &c.tables.Records[h], c.queries[len(c.queries)-1], uint32(c.places/4)
	c.parts = append(c.parts, [4]uint32{query[0] + uint32(listUnits*c.list), c.done, take, at})
	c.words += 4
	if d := lists.DecoderOf(r.Codec()); d != lists.NoDecoder {
		for done := uint32(0); done < take; done += lists.RunLen {
			c.runs[d] = append(c.runs[d], [lists.RunWords]uint32{r[0], r[1], r[2], r[3], c.done + done, min(take-done, lists.RunLen), at + done/4, 0})
			c.words += lists.RunWords
		}
		c.moved += 4 * uint64(take)
	}
	c.moved += 4*uint64(take)*uint64(count(p)) + 4*uint64(take)*uint64(r[2])/uint64(max(r[1], 1))
	c.places += int(take+lists.DecodeRound-1) / lists.DecodeRound * lists.DecodeRound
}

// ask adds a phrase and its lists to the round.
func (c *cut) ask(p *plan.Phrase) {
	src, last := c.set.Src, uint32(0)
	for _, s := range p.Slots {
		last = max(last, s.Offset)
	}
	number := uint32(len(c.queries))
	c.queries = append(c.queries, [4]uint32{uint32(len(c.lists)), uint32(count(p)), uint32(p.Kind) | uint32(len(p.Slots))<<8, p.Distance})
	c.of = append(c.of, c.next)
	c.words += 4 + 4*listUnits*count(p)
	for _, i := range c.order {
		s, more := p.Slots[i], uint32(0)
		if p.Kind == plan.Exact || p.Kind == plan.Sloppy {
			more = last - s.Offset
		}
		for _, h := range s.Lists {
			r, l, f, o := &c.tables.Records[h], &src.Lists[h], c.freqPlaces[h], src.Positions.Of(h)
			bits, words := uint32(0), uint32(0)
			if r.Probe() == lists.ProbeBits {
				bits, words = r.Table(), r.Entries()
			}
			once := uint32(0)
			if o.Count == uint64(o.Postings) || l.FreqWords == 0 {
				once = 1
			}
			c.lists = append(c.lists, [4]uint32(r[:4]), [4]uint32{bits, words, more, uint32(i)}, [4]uint32{f.Off, l.FreqWords, number, f.Rest | f.Buffer<<8},
				[4]uint32{uint32(o.First), uint32(o.First >> 32), uint32(o.RanksAt), uint32(plan.RankBits(o.Postings, o.Count)) | once<<8})
		}
	}
}

// write puts the records of the round into an upload.
func (c *cut) write(up []uint32) {
	c.queriesAt = len(c.parts)
	listsAt := uint32(c.queriesAt + len(c.queries))
	for _, records := range [][][4]uint32{c.parts, c.queries} {
		for i := range records {
			records[i][0] += listsAt
		}
	}
	at := 0
	for _, records := range [][][4]uint32{c.parts, c.queries, c.lists} {
		for _, r := range records {
			at += copy(up[at:], r[:])
		}
	}
	for d, runs := range c.runs {
		c.runsAt[d] = at / 4
		for _, r := range runs {
			at += copy(up[at:], r[:])
		}
	}
	c.words = at
}
