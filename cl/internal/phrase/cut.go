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
	slotUnits   = 4 // uint4 of a slot in the upload
)

// cut cuts a batch of phrases into rounds.
type cut struct {
	set     *lists.Set
	data    *data
	most    int // places of a round
	phrases []*plan.Phrase

	tables     *lists.Tables
	freqs      [lists.MaxArenas]*ocl.MemObject
	freqPlaces []lists.Place // by list

	next int    // the next phrase
	done uint32 // documents of its rarest word in earlier rounds

	// The fields below belong to one round.
	of             []int       // by query: its phrase
	parts, queries [][4]uint32 // see phrase.cl; the first slot of a query counts from 0
	slots          [][4]uint32
	runs           [len(lists.Decoders)][][lists.RunWords]uint32
	runsAt         [len(lists.Decoders)]int
	places         int
	queriesAt      int    // in uint4
	words          int    // of the upload
	moved          uint64 // bytes that decoding and phrase_find load and store; phrase_match adds its candidates and results
	order          []int  // places of a phrase, the one with the fewest documents first
}

// nextRound makes the next round. At the end it has no queries.
func (c *cut) nextRound() error {
	c.of, c.parts, c.queries, c.slots, c.places, c.moved = c.of[:0], c.parts[:0], c.queries[:0], c.slots[:0], 0, 0
	for d := range c.runs {
		c.runs[d] = c.runs[d][:0]
	}
	c.words = 0
	src := c.set.Src
	for ; c.next < len(c.phrases); c.next, c.done = c.next+1, 0 {
		p := c.phrases[c.next]
		if !makes(src, p) {
			continue
		}
		postings := func(i int) uint32 { return src.Lists[p.Slots[i].Lists[0]].Len }
		c.order = c.order[:0]
		for i := range p.Slots {
			c.order = append(c.order, i)
		}
		slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(postings(i), postings(j)) })
		n := postings(c.order[0])
		left := c.most - c.places
		if left < lists.RunLen || c.words+c.size(left) > uploadWords {
			return nil
		}
		take := min(n-c.done, uint32(left/lists.RunLen*lists.RunLen))
		c.add(p, take)
		if c.done += take; c.done < n {
			return nil
		}
	}
	return nil
}

// size is the most words of an upload that a phrase with so many places takes.
func (c *cut) size(places int) int {
	return 8 + 4*slotUnits*len(c.order) + lists.RunWords*(places/lists.RunLen+1)
}

// add adds a part of a phrase to the round.
func (c *cut) add(p *plan.Phrase, take uint32) {
	records, src := c.tables.Records, c.set.Src
	first := &records[p.Slots[c.order[0]].Lists[0]]
	at := uint32(c.places / 4)
	c.parts = append(c.parts, [4]uint32{uint32(len(c.queries)), c.done, take, at})
	if d := lists.DecoderOf(first.Codec()); d != lists.NoDecoder {
		for done := uint32(0); done < take; done += lists.RunLen {
			c.runs[d] = append(c.runs[d], [lists.RunWords]uint32{first[0], first[1], first[2], first[3], c.done + done, min(take-done, lists.RunLen), at + done/4, 0})
			c.words += lists.RunWords
		}
		c.moved += 4 * uint64(take)
	}
	c.moved += 4*uint64(take)*uint64(len(c.order)) + 4*uint64(take)*uint64(first[2])/uint64(max(first[1], 1))
	c.places += int(take+lists.DecodeRound-1) / lists.DecodeRound * lists.DecodeRound
	last := uint32(0)
	for _, s := range p.Slots {
		last = max(last, s.Offset)
	}
	c.queries = append(c.queries, [4]uint32{uint32(len(c.slots)), uint32(len(c.order)), uint32(p.Kind), p.Distance})
	c.of = append(c.of, c.next)
	for _, i := range c.order {
		s := p.Slots[i]
		h, more := s.Lists[0], uint32(0)
		if p.Kind == plan.Exact || p.Kind == plan.Sloppy {
			more = last - s.Offset
		}
		r, l, f, o := &records[h], &src.Lists[h], c.freqPlaces[h], src.Positions.Of(h)
		bits, words := uint32(0), uint32(0)
		if r.Probe() == lists.ProbeBits {
			bits, words = r.Table(), r.Entries()
		}
		once := uint32(0)
		if o.Count == uint64(o.Postings) || l.FreqWords == 0 {
			once = 1
		}
		c.slots = append(c.slots, [4]uint32(r[:4]), [4]uint32{bits, words, more, uint32(i)}, [4]uint32{f.Off, l.FreqWords, 0, f.Rest | f.Buffer<<8},
			[4]uint32{uint32(o.First), uint32(o.First >> 32), uint32(o.RanksAt), uint32(plan.RankBits(o.Postings, o.Count)) | once<<8})
	}
	c.words += 8 + 4*slotUnits*len(c.order)
}

// write puts the records of the round into an upload.
func (c *cut) write(up []uint32) {
	c.queriesAt = len(c.parts)
	slotsAt := c.queriesAt + len(c.queries)
	for i := range c.queries {
		c.queries[i][0] += uint32(slotsAt)
	}
	at := 0
	for _, records := range [][][4]uint32{c.parts, c.queries, c.slots} {
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
