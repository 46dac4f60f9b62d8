package inspect

import (
	"context"
	"fmt"
	"math"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
)

// scored is a request without a filter: the parts of a score do not depend on it.
type scored struct{ *api.ExplainScoreRequest }

func (scored) GetFilter() *api.Filter { return nil }

// ExplainScore implements api.InspectServiceHandler.
func (s *Service) ExplainScore(ctx context.Context, r *api.ExplainScoreRequest) (out *api.ScoreExplanation, err error) {
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
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	w, name, err := c.score(ctx, q, r.GetId())
	if err != nil {
		return nil, err
	}
	out = &api.ScoreExplanation{Doc: valid(name), Id: r.GetId(), Score: w.Score, Documents: w.Docs, MeanLength: w.MeanLength}
	if p := w.Scoring; p != nil {
		out.Scoring = &api.Scoring{Variant: p.Variant.String(), K1: &p.K1, B: &p.B}
	}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, &api.ScorePart{
			Term: valid(p.Term), Boost: p.Boost, Documents: p.Documents, Weight: p.Weight, Frequency: p.Frequency,
			Length: p.Length, MeanLength: p.MeanLength, Tf: p.TF, Score: p.Score,
		})
	}
	return out, nil
}

// score returns the parts of a score, and the name of the document.
func (c *content) score(ctx context.Context, q engine.Query, id uint64) (w *engine.ScoreExplanation, name string, err error) {
	x, doc := c.parts[0], uint32(min(id, math.MaxUint32))
	if c.all == nil {
		if w, err = x.ExplainScore(ctx, q, doc); engine.CodeOf(err) == engine.NotFound {
			err = &engine.Error{Code: engine.NotFound, Op: "explain score", Err: fmt.Errorf("the query does not match document %d", id)}
		}
	} else if w, err = c.all.ExplainScore(ctx, q, id); err == nil {
		segment := 0
		segment, doc = c.all.Internal().Find(id)
		x = c.parts[segment]
	}
	if err == nil {
		name, err = x.File().DocName(doc)
	}
	return w, name, err
}
