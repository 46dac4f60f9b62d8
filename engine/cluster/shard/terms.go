package shard

import (
	"context"

	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/part"
)

// ShardTerms implements api.ShardServiceHandler.
func (h handler) ShardTerms(ctx context.Context, m *api.ShardTermsRequest) (*api.ShardTermsResponse, error) {
	r := &part.TermsRequest{Texts: m.GetTexts(), Literal: m.GetLiteral(), Terms: m.GetTerms(), Analysis: m.GetAnalysis(), Fields: m.GetQueryFields()}
	one := func(_ int, t *api.ShardTarget) (*part.Terms, error) {
		return use(h, t, func(x *pinned) (*part.Terms, error) { return x.Terms(ctx, r) })
	}
	if len(m.GetMore()) == 0 {
		t, err := one(0, m.GetTarget())
		if err != nil {
			return nil, err
		}
		return termsMessage(t), nil
	}
	targets, err := group(m.GetTarget(), m.GetMore())
	if err != nil {
		return nil, err
	}
	have, all, err := together(targets, one)
	if err != nil {
		return nil, err
	}
	out := termsMessage(joinTerms(all))
	out.Shards = have
	return out, nil
}

// joinTerms joins the answers of shards. A text has the terms of the first shard that finds any, in their
// order, and then further ones that only other shards have.
func joinTerms(all []*part.Terms) *part.Terms {
	out := &part.Terms{Analysis: all[0].Analysis}
	number, wrong := map[string]uint32{}, map[int]bool{}
	numbers := make([][]uint32, len(all)) // in out, by the number in the answer
	for s, a := range all {
		out.Docs, out.Length, out.Fields = out.Docs+a.Docs, out.Length+a.Length, bm25.AddFields(out.Fields, a.Fields)
		for i, t := range a.Terms {
			n, ok := number[t]
			if !ok {
				n = uint32(len(out.Terms))
				number[t] = n
				out.Terms, out.DF = append(out.Terms, t), append(out.DF, 0)
			}
			out.DF[n] += a.DF[i]
			numbers[s] = append(numbers[s], n)
		}
		for _, e := range a.Errors {
			if !wrong[e.Query] {
				wrong[e.Query] = true
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
