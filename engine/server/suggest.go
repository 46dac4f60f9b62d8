package server

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/problem"
)

// Suggest implements api.IndexServiceHandler.
func (i indexService) Suggest(ctx context.Context, r *api.SuggestRequest) (*api.SuggestResponse, error) {
	terms, err := answer(i.s, r.GetIndex(),
		func(x Remote) ([]engine.Suggestion, error) {
			return x.Suggest(ctx, r.GetIndex(), r.GetPrefix(), int(r.GetLimit()))
		},
		func(x *engine.Snapshot) ([]engine.Suggestion, error) {
			return x.Suggest(ctx, r.GetPrefix(), int(r.GetLimit()))
		})
	if err != nil {
		return nil, err
	}
	out := &api.SuggestResponse{Terms: suggestions(terms)}
	return out, problem.Take(ctx, messageBytes*int64(len(terms)))
}

func suggestions(terms []engine.Suggestion) (all []*api.Suggestion) {
	for _, t := range terms {
		all = append(all, &api.Suggestion{Term: t.Term, Documents: t.Documents})
	}
	return all
}

// corrections returns similar terms in place of the words of a query that no document has.
func (i indexService) corrections(ctx context.Context, index string, q engine.Query) (out *api.Suggestions, err error) {
	all, err := answer(i.s, index,
		func(x Remote) ([]engine.Correction, error) { return x.Corrections(ctx, index, q) },
		func(x *engine.Snapshot) ([]engine.Correction, error) { return x.Corrections(ctx, q) })
	out = &api.Suggestions{}
	for _, c := range all {
		out.Words = append(out.Words, &api.Correction{Word: c.Word, Terms: suggestions(c.Terms)})
	}
	return out, err
}
