package server

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/problem"
)

// Suggest implements api.IndexServiceHandler.
func (i indexService) Suggest(ctx context.Context, r *api.SuggestRequest) (*api.SuggestResponse, error) {
	terms, err := i.suggest(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &api.SuggestResponse{Terms: suggestions(terms)}
	return out, problem.Take(ctx, messageBytes*int64(len(terms)))
}

func (i indexService) suggest(ctx context.Context, r *api.SuggestRequest) ([]engine.Suggestion, error) {
	if remote := i.s.remoteOf(r.GetIndex()); remote != nil {
		return remote.Suggest(ctx, r.GetIndex(), r.GetPrefix(), int(r.GetLimit()))
	}
	x, err := i.s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Suggest(ctx, r.GetPrefix(), int(r.GetLimit()))
}

func suggestions(terms []engine.Suggestion) (all []*api.Suggestion) {
	for _, t := range terms {
		all = append(all, &api.Suggestion{Term: t.Term, Documents: t.Documents})
	}
	return all
}

// corrections returns similar terms in place of the words of a query that no document has.
func (i indexService) corrections(ctx context.Context, index string, q engine.Query) (out *api.Suggestions, err error) {
	var all []engine.Correction
	if remote := i.s.remoteOf(index); remote != nil {
		all, err = remote.Corrections(ctx, index, q)
	} else {
		x, wrong := i.s.snapshot(index)
		if wrong != nil {
			return nil, wrong
		}
		defer x.Close()
		all, err = x.Corrections(ctx, q)
	}
	out = &api.Suggestions{}
	for _, c := range all {
		out.Words = append(out.Words, &api.Correction{Word: c.Word, Terms: suggestions(c.Terms)})
	}
	return out, err
}
