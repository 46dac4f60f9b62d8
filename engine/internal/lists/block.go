package lists

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// Block is consecutive queries of a call with their answers. Queries of equal kinds form a
// batch, wherever they stand in the block.
type Block struct {
	g     *Generation
	n     int
	load  uint64 // sum of the loads of all queries
	parts []*query.Batch
	kinds []query.Settings // by part
	place []place          // by query; empty if there is one part
	wrong []query.Error    // invalid queries, in their order; empty queries stand in the parts
	query query.Query
	spare []*query.Batch // memory of parts, for the next block of the call
}

// place is a query in the parts of a block.
type place struct{ part, query uint32 }

var blocks = sync.Pool{New: func() any { return new(Block) }}

// empty drops the answers and keeps their memory.
func (b *Block) empty() {
	for _, p := range b.parts {
		p.Return()
	}
	b.spare = append(b.spare, b.parts...)
	clear(b.parts)
	clear(b.kinds)
	clear(b.wrong)
	b.query = query.Query{}
	b.parts, b.kinds = b.parts[:0], b.kinds[:0]
}

// put gives an empty block of g back.
func (b *Block) put(g *Generation) {
	for i, p := range b.spare {
		g.Put(p)
		b.spare[i] = nil
	}
	b.g, b.spare = nil, b.spare[:0]
	blocks.Put(b)
}

// Len returns the number of queries.
func (b *Block) Len() int { return b.n }

// Hits returns the answer of query i of the block: see query.Batch.Hits.
func (b *Block) Hits(i int) (count uint64, docs []uint32, scores []float64) {
	if len(b.place) == 0 {
		return b.parts[0].Hits(i)
	}
	at := b.place[i]
	return b.parts[at.part].Hits(int(at.query))
}

// Unit returns the unit of the scores of query i of the block: see query.Batch.Unit.
func (b *Block) Unit(i int) float64 {
	if len(b.place) == 0 {
		return b.parts[0].Unit(i)
	}
	at := b.place[i]
	return b.parts[at.part].Unit(int(at.query))
}

// Total returns the total of query i of the block: see query.Batch.Total.
func (b *Block) Total(i int) plan.Total {
	if len(b.place) == 0 {
		return b.parts[0].Total(i)
	}
	at := b.place[i]
	return b.parts[at.part].Total(int(at.query))
}

// Err returns the error of query i of the block, whose answer is empty then; nil if it is
// valid.
func (b *Block) Err(i int) error {
	at, found := slices.BinarySearchFunc(b.wrong, i, func(e query.Error, i int) int { return cmp.Compare(e.Query, i) })
	if !found {
		return nil
	}
	return b.wrong[at].Err
}

// resolve fills the block with n queries of s.
func (b *Block) resolve(s *stream, first, n int) error {
	b.g, b.n, b.load, b.place, b.wrong = s.g, n, 0, b.place[:0], b.wrong[:0]
	part := 0
	q := &b.query
	for i := range n {
		changed := true
		if i == 0 {
			s.qs.Get(first, q)
			q.Until = s.until
		} else {
			changed = s.qs.Next(first+i, q)
		}
		if changed && (i == 0 || b.kinds[part].Options != q.Options) {
			var err error
			if part, err = b.part(q, i); err != nil {
				return &query.Error{Query: first + i, Err: err}
			}
		}
		p := b.parts[part]
		if len(b.place) > 0 {
			b.place = append(b.place, place{uint32(part), uint32(p.Queries())})
		}
		load, err := p.Add(s.g.Index, q, &b.kinds[part])
		if err != nil && query.Invalid(err) {
			b.wrong = append(b.wrong, query.Error{Query: i, Err: err})
			load, err = p.Add(s.g.Index, &query.Query{Options: q.Options}, &b.kinds[part])
		}
		if err != nil {
			return &query.Error{Query: first + i, Err: err}
		}
		b.load += load
	}
	return nil
}

// part returns the part for the options of q, which is query i of the block: an existing one
// with equal options, or a new one.
func (b *Block) part(q *query.Query, i int) (int, error) {
	for p := range b.kinds {
		if b.kinds[p].Options == q.Options {
			return p, nil
		}
	}
	var s query.Settings
	if err := b.g.Settle(&s, &q.Options); err != nil {
		return 0, err
	}
	if len(b.parts) == 1 && len(b.place) == 0 {
		for j := range i {
			b.place = append(b.place, place{0, uint32(j)})
		}
	}
	var p *query.Batch
	if n := len(b.spare) - 1; n >= 0 {
		p, b.spare = b.spare[n], b.spare[:n]
	} else {
		p = b.g.Batch()
	}
	p.Reset(&s.Kind)
	b.parts, b.kinds = append(b.parts, p), append(b.kinds, s)
	return len(b.parts) - 1, nil
}

// run answers all parts on a store of a processor, with query.Batch.Threads. The docIDs may lie in memory of the store until empty is called.
func (b *Block) run(ctx context.Context, s plan.Store, processor, threads int) error {
	for _, p := range b.parts {
		p.Borrow()
		p.Threads = threads
		if err := p.Run(ctx, s, processor); err != nil {
			return err
		}
	}
	return nil
}
