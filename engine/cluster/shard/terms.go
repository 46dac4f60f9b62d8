package shard

import (
	"context"
	"errors"

	"heddle/engine"
	"heddle/engine/api"
)

// ShardTerms implements api.ShardServiceHandler.
func (h handler) ShardTerms(ctx context.Context, r *api.ShardTermsRequest) (*api.ShardTermsResponse, error) {
	one := func(_ int, t *api.ShardTarget) (*api.ShardTermsResponse, error) {
		return use(h, t, func(x *pinned) (*api.ShardTermsResponse, error) { return x.terms(ctx, r) })
	}
	if len(r.GetMore()) == 0 {
		return one(0, r.GetTarget())
	}
	targets, err := group(r.GetTarget(), r.GetMore())
	if err != nil {
		return nil, err
	}
	have, all, err := together(targets, one)
	if err != nil {
		return nil, err
	}
	out := joinTerms(all)
	out.Shards = have
	return out, nil
}

// joinTerms joins the answers of shards. A text has the terms of the first shard that finds any, in their
// order, and then further ones that only other shards have.
func joinTerms(all []*api.ShardTermsResponse) *api.ShardTermsResponse {
	out := &api.ShardTermsResponse{Analysis: all[0].Analysis}
	number, wrong := map[string]uint32{}, map[uint32]bool{}
	numbers := make([][]uint32, len(all)) // in out, by the number in the answer
	for s, a := range all {
		out.Docs, out.Length = out.Docs+a.Docs, out.Length+a.Length
		for i, t := range a.Terms {
			n, ok := number[t]
			if !ok {
				n = uint32(len(out.Terms))
				number[t] = n
				out.Terms, out.Df = append(out.Terms, t), append(out.Df, 0)
			}
			out.Df[n] += a.Df[i]
			numbers[s] = append(numbers[s], n)
		}
		for _, e := range a.Errors {
			if !wrong[e.GetQuery()] {
				wrong[e.GetQuery()] = true
				out.Errors = append(out.Errors, e)
			}
		}
	}
	last := make([]int, len(out.Terms)) // text with the term, from 1
	for text := range all[0].Ends {
		first := len(out.Numbers)
		for s, a := range all {
			from, complete := uint32(0), len(out.Numbers) > first
			if text > 0 {
				from = a.Ends[text-1]
			}
			for _, n := range a.Numbers[from:a.Ends[text]] {
				if n = numbers[s][n]; !complete || last[n] != text+1 {
					out.Numbers, last[n] = append(out.Numbers, n), text+1
				}
			}
		}
		out.Ends = append(out.Ends, uint32(len(out.Numbers)))
	}
	return out
}

// terms returns the terms of a request, with their statistics.
func (p *pinned) terms(ctx context.Context, r *api.ShardTermsRequest) (*api.ShardTermsResponse, error) {
	out := &api.ShardTermsResponse{}
	numbers := map[string]uint32{}
	number := func(term string) uint32 {
		n, ok := numbers[term]
		if !ok {
			n = uint32(len(out.Terms))
			numbers[term] = n
			out.Terms = append(out.Terms, term)
		}
		return n
	}
	for i, text := range r.GetTexts() {
		terms, _, err := p.WeightedTerms(engine.Query{Text: text, Literal: r.GetLiteral(), K: 1})
		switch code := engine.CodeOf(err); {
		case code == engine.InvalidQuery || code == engine.Unsupported:
			wrong := api.ErrorOf(&engine.Error{Code: code, Op: "search", Err: cause(err)})
			out.Errors = append(out.Errors, &api.BatchError{Query: uint32(i), Error: wrong})
		case err != nil:
			return nil, err
		}
		for _, t := range terms {
			out.Numbers = append(out.Numbers, number(t))
		}
		out.Ends = append(out.Ends, uint32(len(out.Numbers)))
	}
	for _, t := range r.GetTerms() {
		number(t)
	}
	if r.GetAnalysis() {
		s := p.File().Meta().Analysis
		out.Analysis = &api.Analysis{Rules: uint32(s.Rules), Tokens: s.Tokens, Cjk: s.CJK, Fold: s.Fold, Stemmer: s.Stemmer, StopWords: s.StopWords}
	}
	s, err := p.statistics(ctx, out.Terms)
	if err != nil {
		return nil, err
	}
	out.Docs, out.Length, out.Df = s.Docs, s.Length, make([]uint64, len(out.Terms))
	for i, t := range out.Terms {
		out.Df[i] = s.DF[t]
	}
	return out, nil
}

// cause returns the error inside of an engine.Error.
func cause(err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Err
	}
	return err
}
