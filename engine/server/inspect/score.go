package inspect

import (
	"context"

	"heddle/engine/api"
)

// scored is a request without a filter: the parts of a score do not depend on it.
type scored struct{ *api.ExplainScoreRequest }

func (scored) GetFilter() *api.Filter { return nil }

// ExplainScore implements api.InspectServiceHandler.
func (s *Service) ExplainScore(ctx context.Context, r *api.ExplainScoreRequest) (*api.ScoreExplanation, error) {
	q, err := s.Query(ctx, scored{r}, r.GetTimeoutMs())
	if err != nil {
		return nil, err
	}
	if err := s.Rank(&q, 1, nil, r.GetScoring()); err != nil {
		return nil, err
	}
	if err := s.Combine(&q, r.Tie, r.GetExpandScore()); err != nil {
		return nil, err
	}
	return s.Score(ctx, r.GetIndex(), q, r.GetId())
}
