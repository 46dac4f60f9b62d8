package coordinator

import (
	"context"
	"slices"
)

// names sets the names of the documents of queries. A name that several answers have is asked once.
func (s *search) names(ctx context.Context, at []int) error {
	var ids []uint64
	for _, i := range at {
		ids = append(ids, s.hits[i].IDs...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	names, err := s.namesOf(ctx, ids, len(at))
	if err != nil {
		return err
	}
	for _, i := range at {
		h := &s.hits[i]
		if len(h.IDs) > 0 {
			h.Names = make([]string, len(h.IDs))
		}
		for j, id := range h.IDs {
			n, _ := slices.BinarySearch(ids, id)
			h.Names[j] = names[n]
		}
	}
	return nil
}

// namesOf returns the names of documents, which ascend, for a number of queries.
func (s *search) namesOf(ctx context.Context, ids []uint64, queries int) ([]string, error) {
	m := s.Layout
	docs, first := make([][]uint32, len(m.Shards)), make([]int, len(m.Shards)) // by shard: documents, and place of the first one in ids
	f := Fan{Size: queries, Groups: true, Shards: []int{}}
	for i, id := range ids {
		n := m.Find(id)
		if docs[n] == nil {
			f.Shards, first[n] = append(f.Shards, n), i
		}
		docs[n] = append(docs[n], uint32(id-m.Shards[n].First))
	}
	all := s.Reach
	all.Partial = false // a document without a name is no answer
	pieces, err := Spread(ctx, &all, f, func(ctx context.Context, f *Fan) ([]Piece[[]string], []error) {
		return s.c.shards.Names(ctx, f, docs)
	})
	names := make([]string, len(ids))
	for _, p := range pieces {
		rest := p.Answer
		for _, i := range p.Shards {
			n := copy(names[first[i]:], rest[:len(docs[i])])
			rest = rest[n:]
		}
	}
	return names, err
}
