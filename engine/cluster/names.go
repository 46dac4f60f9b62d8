package cluster

import (
	"context"

	"heddle/engine/api"
)

// names sets the names of the documents of queries.
func (s *search) names(ctx context.Context, at []int) error {
	m := s.x.layout
	asked := make([]*api.ShardDocumentsRequest, len(m.Shards))
	for _, i := range at {
		for _, id := range s.hits[i].IDs {
			n := m.Find(id)
			if asked[n] == nil {
				asked[n] = &api.ShardDocumentsRequest{Target: target(m, n)}
			}
			asked[n].Docs = append(asked[n].Docs, uint32(id-m.Shards[n].First))
		}
	}
	all := s.reach
	all.partial = false // a document without a name is no answer
	answers, err := each(ctx, &all, len(at), func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.ShardDocumentsResponse, error) {
		r := asked[target.GetShard()]
		if r == nil {
			return nil, nil
		}
		a, err := node.ShardDocuments(ctx, r)
		if err == nil && len(a.GetNames()) != len(r.Docs) {
			err = wrongReply(target, "%d names for %d documents", len(a.GetNames()), len(r.Docs))
		}
		return a, err
	})
	if err != nil {
		return err
	}
	names := make([][]string, len(m.Shards))
	for n, a := range answers {
		names[n] = a.GetNames()
	}
	for _, i := range at {
		h := &s.hits[i]
		if len(h.IDs) > 0 {
			h.Names = make([]string, len(h.IDs))
		}
		for j, id := range h.IDs {
			n := m.Find(id)
			h.Names[j], names[n] = names[n][0], names[n][1:]
		}
	}
	return nil
}
