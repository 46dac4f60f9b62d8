package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/syntax"
)

// DescribeIndex implements api.InspectServiceHandler.
func (s *Service) DescribeIndex(ctx context.Context, r *api.DescribeIndexRequest) (out *api.IndexDetails, err error) {
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	whole, err := c.statistics(ctx)
	if err != nil {
		return nil, err
	}
	f := c.parts[0].File()
	m := f.Meta()
	out = &api.IndexDetails{
		Name: r.GetIndex(), File: valid(filepath.Base(f.Path())), Checksum: fmt.Sprintf("%016x", f.Checksum()),
		Creator: valid(m.Creator), Format: m.Format, Documents: uint64(m.Docs),
		Tokenizer: cmp.Or(m.Analysis.Tokens, analyze.TokensWords), Stemmer: cmp.Or(m.Analysis.Stemmer, "none"), StopWords: uint32(len(m.Analysis.StopWords)),
		Texts: f.HasDocuments(), Codec: cmp.Or(m.Codec, "auto"), Codecs: c.codecs(), Sections: c.sections(), Resident: c.residents(),
	}
	for _, x := range c.parts {
		m := x.File().Meta()
		out.Bytes, out.Terms = out.Bytes+uint64(x.File().Size()), out.Terms+uint64(x.File().Terms())
		out.Postings, out.Tokens = out.Postings+m.Postings, out.Tokens+m.Tokens
	}
	if whole.Docs > 0 {
		out.MeanLength = float64(whole.Length) / float64(whole.Docs)
	}
	if c.all != nil {
		info := c.all.Info()
		out.File, out.Checksum = valid(filepath.Base(filepath.Dir(f.Path()))), ""
		out.Documents, out.Segments, out.State = info.Documents, uint32(info.Segments), info.State
	}
	return out, nil
}

func residents(all []engine.Resident) (out []*api.Resident) {
	for _, r := range all {
		out = append(out, &api.Resident{Processor: valid(r.Processor), Reserve: r.Reserve, Bytes: r.Bytes, Reason: valid(r.Reason)})
	}
	return out
}

const (
	defaultTerms = 100
	mostTerms    = 1000
)

// ListTerms implements api.InspectServiceHandler.
func (s *Service) ListTerms(ctx context.Context, r *api.ListTermsRequest) (out *api.ListTermsResponse, err error) {
	limit := cmp.Or(int(r.GetLimit()), defaultTerms)
	if limit > mostTerms {
		return nil, badRequest("limit %d: want at most %d", r.GetLimit(), mostTerms)
	}
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	out = &api.ListTermsResponse{}
	all := merged{} // with the first terms of the whole, which are among the first terms of each part
	for _, x := range c.parts {
		n := 0
		for term := range x.File().Prefix(r.GetPrefix()) {
			if r.GetAfter() != "" && term <= r.GetAfter() {
				continue
			}
			if n++; n > limit {
				out.More = true
				break
			}
			if h, ok := x.File().Lookup(term); ok {
				all.add(term, postingList(x, h))
			}
		}
	}
	terms := slices.Sorted(maps.Keys(all))
	for _, t := range terms[min(limit, len(terms)):] {
		out.More = true
		delete(all, t)
	}
	if c.all != nil {
		if _, err := all.live(ctx, c); err != nil {
			return nil, err
		}
	}
	for _, t := range terms {
		if l := all[t]; l != nil {
			out.Terms = append(out.Terms, l)
		}
	}
	return out, nil
}

// DescribeTerm implements api.InspectServiceHandler.
func (s *Service) DescribeTerm(ctx context.Context, r *api.DescribeTermRequest) (out *api.TermDetails, err error) {
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	if out, err = c.term(ctx, r.GetTerm()); out == nil && err == nil {
		err = &engine.Error{Code: engine.NotFound, Op: "describe term", Err: fmt.Errorf("index %s has no term %s", r.GetIndex(), syntax.Quote(r.GetTerm()))}
	}
	return out, err
}
