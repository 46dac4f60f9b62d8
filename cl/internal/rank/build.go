package rank

import (
	"context"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank/packets"
	"heddle/engine/plan"
)

// buildWords is the number of words of an upload for a list, without ranges.
const buildWords = 4 * (listUnits + 1)

// buildPackets makes packets of the lists of the batch that have none yet, as long as there
// is room.
func (x *slot) buildPackets(ctx context.Context, c *cut, p *packets.Store, st *plan.Stats) (err error) {
	if !c.lacks(p) {
		return nil
	}
	select {
	case <-p.Building:
	case <-ctx.Done():
		return ctx.Err()
	}
	filled := p.Filled()
	defer func() {
		if err == nil {
			p.Building <- struct{}{}
			return
		}
		x.settle(ctx, func() {
			p.Undo(filled)
			p.Building <- struct{}{}
		})
	}()
	c.queries, c.first, c.end, c.ranges = c.queries[:0], 0, 0, packets.Ranges(c.set.Src.Docs)
	span := c.span
	c.span = packets.Range
	defer func() { c.span = span }()
	for c.lacking(p) {
		if err := x.buildRound(ctx, c, p, st); err != nil {
			return err
		}
		filled = p.Filled()
	}
	return nil
}

// lacks tells whether a list of the batch may get packets.
func (c *cut) lacks(p *packets.Store) bool {
	for _, t := range c.batch.Terms {
		if _, known := p.Place(t.List); !known && c.mayHave(t.List) {
			return true
		}
	}
	return false
}

// mayHave tells whether a list may get packets: it has postings, random access, and fits a
// round.
func (c *cut) mayHave(h plan.Handle) bool {
	l, ranges := &c.set.Src.Lists[h], packets.Ranges(c.set.Src.Docs)
	return packets.Fits(l.Codec) && l.Len > 0 && roundUp(int(l.Len), lists.DecodeRound) <= c.shape.postings &&
		ranges+buildWords <= min(c.shape.starts, uploadWords)
}

// lacking makes a round of lists to build. It reports false if there are none.
func (c *cut) lacking(p *packets.Store) bool {
	c.parts = c.parts[:0]
	clear(c.known)
	elements := 0
	for _, t := range c.batch.Terms {
		if _, known := p.Place(t.List); known || !c.mayHave(t.List) {
			continue
		}
		if _, known := c.known[t.List]; known {
			continue
		}
		n := int(c.set.Src.Lists[t.List].Len)
		all := elements + roundUp(n, lists.DecodeRound)
		if len(c.parts) > 0 && (all > c.shape.postings || (len(c.parts)+1)*(c.ranges+buildWords) > min(c.shape.starts, uploadWords)) {
			break
		}
		c.known[t.List] = len(c.parts)
		c.parts = append(c.parts, part{list: t.List, count: uint32(n)})
		elements = all
	}
	return len(c.parts) > 0
}

// buildRound decodes the lists of a round, counts their packets, places them and fills them.
func (x *slot) buildRound(ctx context.Context, c *cut, p *packets.Store, st *plan.Stats) error {
	defer x.ReleaseEvents()
	c.first, c.end = 0, c.ranges
	if err := c.place(); err != nil {
		return err
	}
	if err := x.roomForLists(c, c.elements); err != nil {
		return err
	}
	n, src := len(c.parts), c.set.Src
	if err := x.rooms([]need{{&x.state, n * c.ranges, 0, "numbers of packets"}, {&x.counts, n * c.ranges, 0, "numbers of packets"},
		{&x.cells, n * (c.ranges + 5), 0, "places of packets"}}); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Down, n*c.ranges); err != nil {
		return err
	}
	if err := x.Prepare(packetsCount.KernelID); err != nil {
		return err
	}
	args := packetsArguments{batch: x.batch.Buffer, lists: n, docs: x.docs.Buffer, components: x.components.Buffer, starts: x.starts.Buffer,
		ranges: c.ranges, places: x.cells.Buffer}
	places := make([]packets.Place, n)
	writePlaces := func() {
		for i, h := range places {
			dense := uint32(0)
			if places[i].Dense = packets.Dense(src.Lists[c.parts[i].list].Len, src.Docs); places[i].Dense {
				dense = 1
			}
			copy(x.Up.Words[4*i:], []uint32{h.Off, h.Buffer, dense, 0})
		}
	}
	do := func(send func() error) error { return x.Run(ctx, "making packets of postings", send) }
	c.write(x.Up.Words)
	if err := do(func() error {
		if err := x.sendLists(c, false); err != nil {
			return err
		}
		return x.sendComponents(c)
	}); err != nil {
		return err
	}
	writePlaces()
	if err := do(func() error {
		if err := x.Write(x.cells.Buffer, 4*n); err != nil {
			return err
		}
		if err := packetsCount.Launch(&x.Flight, packetsCountArguments{args, x.counts.Buffer}, groupsOf(n*c.ranges), eachLocal, device.DecodeTime); err != nil {
			return err
		}
		return x.Read(x.counts.Buffer, n*c.ranges)
	}); err != nil {
		return err
	}
	firsts := x.Up.Words[4*n:]
	for i := range places {
		at, row := uint32(0), firsts[i*(c.ranges+1):]
		for r, packets := range x.Down.Words[i*c.ranges : (i+1)*c.ranges] {
			row[r] = at
			at += packets
		}
		row[c.ranges] = at
		places[i] = packets.Place{Buffer: noBuffer}
		if place, ok := p.Take(packets.Heads(c.ranges) + int(at)); ok {
			place.Packets = at
			places[i] = place
		}
	}
	writePlaces()
	if err := do(func() error {
		if err := x.Write(x.cells.Buffer, 4*n+n*(c.ranges+1)); err != nil {
			return err
		}
		return packetsFill.Launch(&x.Flight, packetsFillArguments{args, p.Buffers()}, groupsOf(n*c.ranges), eachLocal, device.DecodeTime)
	}); err != nil {
		return err
	}
	for i, place := range places {
		p.Put(c.parts[i].list, place)
	}
	return x.AddTimes(st)
}

// noBuffer marks a list that packets_fill passes over, for want of room.
const noBuffer = lists.MaxArenas
