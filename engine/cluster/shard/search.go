package shard

import (
	"context"
	"slices"

	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/part"
)

// ShardSearch implements api.ShardServiceHandler.
func (h handler) ShardSearch(ctx context.Context, m *api.ShardSearchRequest) (*api.ShardSearchResponse, error) {
	if len(m.GetMore()) > 0 {
		return h.searchGroup(ctx, m)
	}
	return use(h, m.GetTarget(), func(x *pinned) (*api.ShardSearchResponse, error) {
		all, err := queriesOf(m)
		if err != nil {
			return nil, err
		}
		filters, err := filtersOf(m.GetFilters())
		if err != nil {
			return nil, err
		}
		x.First = m.GetFirst()
		a, err := x.Search(ctx, all, filters, all.Names)
		if err != nil {
			return nil, err
		}
		out := answerMessage(a)
		out.Epoch, out.Ordered = m.GetTarget().GetEpoch(), m.GetOrder() != nil
		return out, nil
	})
}

// found is the answer of a shard of a group, without names.
type found struct {
	shard  *pinned
	answer *part.Answer
}

// searchGroup answers for several shards. It leaves out a shard whose scores have another unit
// than the scores of the first shard, like a shard that fails.
func (h handler) searchGroup(ctx context.Context, m *api.ShardSearchRequest) (out *api.ShardSearchResponse, err error) {
	defer reply(&err)
	numbers, messages := make([]uint32, len(m.More)), [][]*api.Filter{m.GetFilters()}
	for i, one := range m.More {
		numbers[i], messages = one.GetShard(), append(messages, one.GetFilters())
	}
	targets, err := group(m.GetTarget(), numbers)
	if err != nil {
		return nil, err
	}
	all, err := queriesOf(m)
	if err == nil && all.Order != nil {
		err = invalidOption("search", "order: it is for one shard")
	}
	if err != nil {
		return nil, err
	}
	pins := make([]*pinned, len(targets))
	defer func() {
		for _, p := range pins {
			if p != nil {
				p.end()
			}
		}
	}()
	have, parts, err := together(targets, func(i int, t *api.ShardTarget) (f found, err error) {
		err = mapped.Run(func() error {
			var filters []*filter.Filter
			if filters, err = filtersOf(messages[i]); err == nil {
				pins[i], err = h.index(t)
			}
			if err == nil {
				f.shard = pins[i]
				f.answer, err = f.shard.Search(ctx, all, filters, false)
			}
			return err
		})
		return f, err
	})
	if err != nil {
		return nil, err
	}
	var answers []*part.Answer
	var shards []*pinned
	var kept []uint32
	for i, f := range parts {
		if slices.Equal(f.answer.Units, parts[0].answer.Units) {
			answers, shards, kept = append(answers, f.answer), append(shards, f.shard), append(kept, have[i])
		}
	}
	joined := merge(all, answers)
	if all.Names {
		joined.Names = make([]string, len(joined.Docs))
		for i, doc := range joined.Docs {
			if joined.Names[i], err = shards[joined.Places[i]].Name(doc); err != nil {
				return nil, err
			}
		}
	}
	out = answerMessage(joined)
	out.Epoch, out.Shards = m.GetTarget().GetEpoch(), kept
	return out, nil
}

// merge joins the answers of shards in ascending order.
func merge(q *part.Queries, answers []*part.Answer) *part.Answer {
	queries := len(answers[0].Ends)
	out := &part.Answer{Units: answers[0].Units, Counts: make([]uint64, queries), Ends: make([]uint64, queries)}
	if q.Total > 0 {
		out.Totals = make([]uint64, queries)
	}
	wrong := map[int]bool{}
	docs := 0
	for _, a := range answers {
		docs += len(a.Docs)
		out.Queued = max(out.Queued, a.Queued)
		for i, n := range a.Counts {
			out.Counts[i] += n
		}
		for i, n := range a.Totals {
			out.Totals[i] += n
		}
		for _, e := range a.Errors {
			if !wrong[e.Query] {
				wrong[e.Query] = true
				out.Errors = append(out.Errors, e)
			}
		}
	}
	most := uint64(docs)
	if q.K > 0 {
		most = uint64(q.K)
		docs = min(docs, queries*q.K)
		out.Scores = make([]float64, 0, docs)
	} else if q.Limit > 0 {
		most = q.Limit
	}
	out.Docs, out.Places = make([]uint32, 0, docs), make([]uint32, 0, docs)
	m := part.NewMerger(answers, func(answer int, at uint64) uint64 { return uint64(answer)<<32 | uint64(answers[answer].Docs[at]) })
	for n := range queries {
		for range min(m.Query(n), most) {
			answer, _, number, score := m.Next()
			out.Docs, out.Places = append(out.Docs, uint32(number)), append(out.Places, uint32(answer))
			if q.K > 0 {
				out.Scores = append(out.Scores, score)
			}
		}
		out.Ends[n] = uint64(len(out.Docs))
	}
	return out
}
