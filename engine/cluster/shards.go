package cluster

import (
	"context"

	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

var _ coordinator.Shards = (*network)(nil)

// target names a shard of a map in requests.
func target(m *layout.Map, shard int) *api.ShardTarget {
	return &api.ShardTarget{Collection: m.Name, Epoch: m.Epoch, Shard: uint32(shard)}
}

// Terms implements coordinator.Shards.
func (m *network) Terms(ctx context.Context, f *coordinator.Fan, r *part.TermsRequest) ([]coordinator.Piece[*part.Terms], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).terms, f, func(ctx context.Context, n *node, shards []int) (*part.Terms, []int, error) {
		mine := &api.ShardTermsRequest{Target: target(f.Layout, shards[0]), Texts: r.Texts, Literal: r.Literal, Terms: r.Terms, Analysis: r.Analysis, QueryFields: r.Fields}
		for _, i := range shards[1:] {
			mine.More = append(mine.More, uint32(i))
		}
		a, err := n.client.ShardTerms(ctx, mine)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), mine.Target)
		if err == nil {
			err = checkTerms(a, mine.Target, len(r.Texts))
		}
		if err != nil {
			return nil, nil, err
		}
		return shard.TermsOf(a, described), have, nil
	})
}

// Search implements coordinator.Shards.
func (m *network) Search(ctx context.Context, f *coordinator.Fan, r *part.Request, filters []*filter.Filter) ([]coordinator.Piece[*part.Answer], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).searches, f, func(ctx context.Context, n *node, shards []int) (*part.Answer, []int, error) {
		mine := shard.SearchMessage(r, timeLeft(ctx))
		mine.Target, mine.Filters = target(f.Layout, shards[0]), filtersOf(filters, f.Layout, shards[0])
		mine.First = f.Layout.Shards[shards[0]].First
		for _, i := range shards[1:] {
			mine.More = append(mine.More, &api.ShardPart{Shard: uint32(i), Filters: filtersOf(filters, f.Layout, i)})
		}
		a, err := n.client.ShardSearch(ctx, mine)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), mine.Target)
		if err == nil {
			err = check(a, mine.Target, f.Layout, have, f.Size, mine)
		}
		if err != nil {
			return nil, nil, err
		}
		return shard.AnswerOf(a, described), have, nil
	})
}

// Facets implements coordinator.Shards.
func (m *network) Facets(ctx context.Context, f *coordinator.Fan, r *part.Request, filters []*filter.Filter, columns []string) ([]coordinator.Piece[*coordinator.Counts], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).facets, f, alone(f.Layout, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*coordinator.Counts, error) {
		q := shard.SearchMessage(r, timeLeft(ctx))
		q.Filters = filtersOf(filters, f.Layout, int(target.Shard))
		a, err := node.ShardFacets(ctx, &api.ShardFacetsRequest{Target: target, Query: q, Columns: columns})
		if err != nil {
			return nil, err
		}
		if a.GetEpoch() != target.GetEpoch() || len(a.GetColumns()) != len(columns) {
			return nil, wrongReply(target, "epoch %d and %d facets for %d columns", a.GetEpoch(), len(a.GetColumns()), len(columns))
		}
		out := &coordinator.Counts{Matches: a.GetMatches()}
		for _, column := range a.GetColumns() {
			s, err := shard.StateOf(column)
			if err != nil {
				return nil, wrongReply(target, "a facet: %v", err)
			}
			out.Columns = append(out.Columns, s)
		}
		return out, nil
	}))
}

// Score implements coordinator.Shards.
func (m *network) Score(ctx context.Context, f *coordinator.Fan, r *part.Request, doc uint32) ([]coordinator.Piece[*part.Scored], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).searches, f, alone(f.Layout, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*part.Scored, error) {
		q := shard.SearchMessage(r, timeLeft(ctx))
		q.Target = target
		a, err := node.ShardScore(ctx, &api.ShardScoreRequest{Query: q, Doc: doc})
		if err == nil && a.GetEpoch() != target.GetEpoch() {
			err = wrongReply(target, "a score of epoch %d", a.GetEpoch())
		}
		if err != nil {
			return nil, err
		}
		out, err := shard.ScoredOf(a.GetScore())
		if err != nil {
			return nil, wrongReply(target, "a score: %v", err)
		}
		return out, nil
	}))
}

// Names implements coordinator.Shards.
func (m *network) Names(ctx context.Context, f *coordinator.Fan, docs [][]uint32) ([]coordinator.Piece[[]string], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).names, f, func(ctx context.Context, n *node, shards []int) ([]string, []int, error) {
		r := &api.ShardDocumentsRequest{Target: target(f.Layout, shards[0]), Docs: docs[shards[0]]}
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
}

// Documents implements coordinator.Shards.
func (m *network) Documents(ctx context.Context, f *coordinator.Fan, r *fetch.Request, docs []fetch.List) ([]coordinator.Piece[[]fetch.Document], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).documents, f, func(ctx context.Context, n *node, shards []int) ([]fetch.Document, []int, error) {
		mine := &api.ShardDocumentsRequest{Target: target(f.Layout, shards[0]), Docs: docs[shards[0]].Docs, Of: docs[shards[0]].Of, Fetch: shard.FetchMessage(r)}
		for _, i := range shards[1:] {
			mine.More = append(mine.More, &api.DocumentsPart{Shard: uint32(i), Docs: docs[i].Docs, Of: docs[i].Of})
		}
		a, err := n.client.ShardDocuments(ctx, mine)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), mine.Target)
		want := 0
		for _, i := range have {
			want += len(docs[i].Docs)
		}
		if err == nil && (len(a.GetNames()) != want || len(a.GetContents()) != want) {
			err = wrongReply(mine.Target, "%d names and the contents of %d documents, for %d documents", len(a.GetNames()), len(a.GetContents()), want)
		}
		if err != nil {
			return nil, nil, err
		}
		all := shard.DocumentsOf(a)
		for i := range all {
			if r.Take != nil && err == nil {
				err = r.Take(all[i].Bytes())
			}
		}
		return all, have, err
	})
}

// Find implements coordinator.Shards.
func (m *network) Find(ctx context.Context, f *coordinator.Fan, name string) ([]coordinator.Piece[coordinator.Found], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).documents, f, alone(f.Layout, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (coordinator.Found, error) {
		a, err := node.ShardFind(ctx, &api.ShardFindRequest{Target: target, Name: name})
		if err == nil && uint64(a.GetDoc()) >= f.Layout.Shards[target.GetShard()].Docs && a.Doc != nil {
			err = wrongReply(target, "document %d of %d", a.GetDoc(), f.Layout.Shards[target.GetShard()].Docs)
		}
		return coordinator.Found{Doc: a.GetDoc(), OK: a != nil && a.Doc != nil}, err
	}))
}

// List implements coordinator.Shards.
func (m *network) List(ctx context.Context, f *coordinator.Fan, from uint32, most int) (pieces []coordinator.Piece[[]part.Listed], errs []error) {
	docs := make([][]uint32, len(f.Layout.Shards))
	for _, i := range f.Shards {
		for d := uint64(from); d < min(f.Layout.Shards[i].Docs, uint64(from)+uint64(most)); d++ {
			docs[i] = append(docs[i], uint32(d))
		}
	}
	named, errs := m.Names(ctx, f, docs)
	for _, p := range named {
		var all []part.Listed
		for n, name := range p.Answer {
			all = append(all, part.Listed{Doc: from + uint32(n), Name: name})
		}
		pieces = append(pieces, coordinator.Piece[[]part.Listed]{Shards: p.Shards, Answer: all})
	}
	return pieces, errs
}

// Describe implements coordinator.Shards.
func (m *network) Describe(ctx context.Context, f *coordinator.Fan) ([]coordinator.Piece[part.Description], []error) {
	return spread(ctx, m, &m.timesOf(f.Layout.Name).descriptions, f, alone(f.Layout, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (part.Description, error) {
		a, err := node.DescribeShard(ctx, &api.DescribeShardRequest{Target: target})
		return shard.DescriptionOf(a), err
	}))
}

// filtersOf returns the filters for a shard.
func filtersOf(all []*filter.Filter, m *layout.Map, number int) (own []*api.Filter) {
	for _, f := range all {
		own = append(own, shard.FilterMessage(coordinator.FilterOf(f, &m.Shards[number])))
	}
	return own
}
