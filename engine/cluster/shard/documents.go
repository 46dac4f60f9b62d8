package shard

import (
	"context"
	"slices"

	"heddle/engine/api"
)

// ShardDocuments implements api.ShardServiceHandler.
func (h handler) ShardDocuments(_ context.Context, r *api.ShardDocumentsRequest) (*api.ShardDocumentsResponse, error) {
	numbers, docs := make([]uint32, len(r.GetMore())), [][]uint32{r.GetDocs()}
	for i, part := range r.GetMore() {
		numbers[i], docs = part.GetShard(), append(docs, part.GetDocs())
	}
	one := func(i int, t *api.ShardTarget) ([]string, error) {
		return use(h, t, func(x *pinned) ([]string, error) { return x.Names(docs[i]) })
	}
	if len(numbers) == 0 {
		names, err := one(0, r.GetTarget())
		return &api.ShardDocumentsResponse{Names: names}, err
	}
	targets, err := group(r.GetTarget(), numbers)
	if err != nil {
		return nil, err
	}
	have, all, err := together(targets, one)
	return &api.ShardDocumentsResponse{Names: slices.Concat(all...), Shards: have}, err
}
