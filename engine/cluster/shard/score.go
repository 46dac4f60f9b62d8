package shard

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
)

// ShardScore implements api.ShardServiceHandler.
func (h handler) ShardScore(ctx context.Context, m *api.ShardScoreRequest) (*api.ShardScoreResponse, error) {
	target := m.GetQuery().GetTarget()
	return use(h, target, func(x *pinned) (*api.ShardScoreResponse, error) {
		q, err := queriesOf(m.GetQuery())
		if err != nil {
			return nil, err
		}
		found, err := x.Score(ctx, q, m.GetDoc())
		if err != nil {
			return nil, err
		}
		out := &api.ShardScoreResponse{Epoch: target.GetEpoch()}
		if found.Why != nil {
			out.Score = api.ScoreMessage(engine.ScoreOf(found.Why), found.Name, uint64(m.GetDoc()))
		}
		return out, nil
	})
}

// ScoredOf is the score of a message.
func ScoredOf(m *api.ScoreExplanation) (*part.Scored, error) {
	if m == nil {
		return new(part.Scored), nil
	}
	w := &query.Why{Score: m.GetScore(), Docs: m.GetDocuments(), MeanLength: m.GetMeanLength()}
	if s := m.GetScoring(); s != nil {
		v, err := bm25.ParseVariant(s.GetVariant())
		if err != nil {
			return nil, err
		}
		w.Scoring = &bm25.Params{Variant: v, K1: s.GetK1(), B: s.GetB()}
	}
	for _, p := range m.GetParts() {
		w.Parts = append(w.Parts, query.Part{
			Term: p.GetTerm(), Boost: p.GetBoost(), Documents: p.GetDocuments(), Weight: p.GetWeight(), Frequency: p.GetFrequency(),
			Length: p.GetLength(), MeanLength: p.GetMeanLength(), TF: p.GetTf(), Score: p.GetScore(),
		})
	}
	return &part.Scored{Name: m.GetDoc(), Why: w}, nil
}
