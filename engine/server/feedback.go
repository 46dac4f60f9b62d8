package server

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/feedback"
	"heddle/engine/index/analyze"
	"heddle/engine/plan"
	"heddle/engine/server/problem"
)

// mostFeedback bounds the documents of feedback, whose texts are in memory, each of at most feedbackBytes.
const mostFeedback, feedbackBytes = 100, 100_000

// feedback makes a query from documents, if the request asks for it.
func (s *Server) feedback(ctx context.Context, r *api.SearchRequest, q *engine.Query) (err error) {
	like, more := r.GetLike(), r.GetFeedback()
	docs := int64(1)
	switch {
	case like == nil && more == nil:
		return nil
	case like != nil && (more != nil || r.GetQuery() != "" || len(r.GetTerms()) > 0 || len(r.GetWeights()) > 0):
		return problem.BadRequest(errors.New("like excludes query, terms, weights and feedback"))
	case q.K == 0:
		return problem.BadRequest(errors.New("like and feedback rank documents: k must be at least 1"))
	case like != nil && (r.GetOffset() > 0 || r.GetAfter() != ""):
		return problem.BadRequest(errors.New("like has no pages: omit offset and after"))
	case more != nil:
		if docs = int64(more.GetDocuments()); docs > mostFeedback {
			return problem.BadRequest(fmt.Errorf("feedback.documents is %d, want at most %d", docs, mostFeedback))
		}
	}
	if err := problem.Take(ctx, feedbackBytes*max(docs, 10)); err != nil {
		return err
	}
	made := func(x feedback.Index) (engine.Query, error) {
		if like != nil {
			by := feedback.Like{Terms: int(like.GetTerms()), MinFrequency: int(like.GetFrequency()), MinDocuments: int(like.GetDocuments())}
			return by.Query(ctx, x, like.GetDoc(), *q)
		}
		first := *q
		first.Text, first.Literal = r.GetQuery(), r.GetLiteral() // without synonyms
		return feedback.RM3{Docs: int(docs), Terms: int(more.GetTerms()), Weight: more.Weight}.Expand(ctx, x, first)
	}
	*q, err = answer(s, r.GetIndex(),
		func(x Remote) (engine.Query, error) { return made(elsewhere{x, r.GetIndex()}) },
		func(x *engine.Snapshot) (engine.Query, error) { return made(feedback.Of(x)) })
	if like != nil {
		q.K = min(q.K+1, plan.MaxK) // the document itself is no hit
	}
	return err
}

// elsewhere is an index of a remote.
type elsewhere struct {
	Remote
	name string
}

func (x elsewhere) Analysis(ctx context.Context) (analyze.Settings, error) {
	s, _, err := x.Remote.Analysis(ctx, x.name)
	return s, err
}

func (x elsewhere) Search(ctx context.Context, q engine.Query) (h engine.Hits, err error) {
	all, _, err := x.SearchAll(ctx, x.name, []engine.Query{q}, api.Ask{Take: taking(ctx)})
	if err != nil {
		return h, err
	}
	return engine.Hits{Scores: all[0].Scores, Documents: all[0].Documents}, all[0].Err
}

func (x elsewhere) Document(ctx context.Context, name string, f engine.Fields) (engine.Contents, error) {
	ask := f.Internal()
	_, d, err := x.Remote.Document(ctx, x.name, name, &ask)
	return d, err
}

func (x elsewhere) Statistics(ctx context.Context, terms ...string) (engine.Statistics, error) {
	return x.Remote.Statistics(ctx, x.name, terms...)
}
