package cluster

import (
	"context"
	"slices"

	"heddle/engine/api"
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
	m := s.x.layout
	docs, first := make([][]uint32, len(m.Shards)), make([]int, len(m.Shards)) // by shard: documents, and place of the first one in ids
	t := task{times: &s.x.times.names, size: queries, groups: true, shards: []int{}}
	for i, id := range ids {
		n := m.Find(id)
		if docs[n] == nil {
			t.shards, first[n] = append(t.shards, n), i
		}
		docs[n] = append(docs[n], uint32(id-m.Shards[n].First))
	}
	all := s.reach
	all.partial = false // a document without a name is no answer
	pieces, err := spread(ctx, &all, t, func(ctx context.Context, n *node, shards []int) ([]string, []int, error) {
		r := &api.ShardDocumentsRequest{Target: target(m, shards[0]), Docs: docs[shards[0]]}
		for _, i := range shards[1:] {
			r.More = append(r.More, &api.DocumentsPart{Shard: uint32(i), Docs: docs[i]})
		}
		a, err := n.client.ShardDocuments(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), r.Target)
		want := 0
		for _, i := range have {
			want += len(docs[i])
		}
		if err == nil && len(a.GetNames()) != want {
			err = wrongReply(r.Target, "%d names for %d documents", len(a.GetNames()), want)
		}
		return a.GetNames(), have, err
	})
	names := make([]string, len(ids))
	for _, p := range pieces {
		rest := p.answer
		for _, i := range p.shards {
			n := copy(names[first[i]:], rest[:len(docs[i])])
			rest = rest[n:]
		}
	}
	return names, err
}
