package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/index/inventory"
	"heddle/engine/syntax"
)

// DescribeIndex implements api.InspectServiceHandler.
func (s *Service) DescribeIndex(_ context.Context, r *api.DescribeIndexRequest) (out *api.IndexDetails, err error) {
	x, err := s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	f := x.File()
	m := f.Meta()
	out = &api.IndexDetails{
		Name: r.GetIndex(), File: valid(filepath.Base(f.Path())), Bytes: uint64(f.Size()), Checksum: fmt.Sprintf("%016x", f.Checksum()),
		Creator: valid(m.Creator), Format: m.Format, Documents: uint64(m.Docs), Terms: uint64(f.Terms()), Postings: m.Postings, Tokens: m.Tokens,
		Tokenizer: cmp.Or(m.Analysis.Tokens, analyze.TokensWords), Stemmer: cmp.Or(m.Analysis.Stemmer, "none"), StopWords: uint32(len(m.Analysis.StopWords)),
		Texts: f.HasDocuments(), Codec: cmp.Or(m.Codec, "auto"), Resident: residents(x.Info().Resident),
	}
	if m.WithTerms > 0 {
		out.MeanLength = float64(m.Length) / float64(m.WithTerms)
	}
	for _, c := range inventory.Codecs(f) {
		out.Codecs = append(out.Codecs, &api.CodecUse{Codec: c.Codec, Lists: c.Lists, Postings: c.Postings, Bytes: c.Bytes, BitsPerPosting: c.BitsPerPosting})
	}
	for _, section := range f.Sections() {
		out.Sections = append(out.Sections, &api.FileSection{Name: section.Name, Bytes: uint64(section.Length)})
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
func (s *Service) ListTerms(_ context.Context, r *api.ListTermsRequest) (out *api.ListTermsResponse, err error) {
	limit := cmp.Or(int(r.GetLimit()), defaultTerms)
	if limit > mostTerms {
		return nil, badRequest("limit %d: want at most %d", r.GetLimit(), mostTerms)
	}
	x, err := s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	out = &api.ListTermsResponse{}
	f := x.File()
	for term := range f.Prefix(r.GetPrefix()) {
		if r.GetAfter() != "" && term <= r.GetAfter() {
			continue
		}
		if len(out.Terms) == limit {
			out.More = true
			break
		}
		if h, ok := f.Lookup(term); ok {
			out.Terms = append(out.Terms, postingList(x, h))
		}
	}
	return out, nil
}

// DescribeTerm implements api.InspectServiceHandler.
func (s *Service) DescribeTerm(_ context.Context, r *api.DescribeTermRequest) (out *api.TermDetails, err error) {
	x, err := s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	t, err := inventory.OfTerm(x.File(), r.GetTerm())
	if errors.Is(err, inventory.ErrUnknown) {
		return nil, &engine.Error{Code: engine.NotFound, Op: "describe term", Err: fmt.Errorf("index %s has no term %s", r.GetIndex(), syntax.Quote(r.GetTerm()))}
	}
	if err != nil {
		return nil, err
	}
	h, _ := x.File().Lookup(r.GetTerm())
	l := postingList(x, h)
	out = &api.TermDetails{Term: l.Term, Documents: l.Documents, Occurrences: x.File().Tokens(h), Codec: l.Codec, Bytes: l.Bytes, Reason: t.Why}
	for _, c := range t.Codecs {
		out.Costs = append(out.Costs, &api.CodecCost{Codec: c.Codec, Bytes: c.Bytes, BitsPerPosting: c.Bits, TimeBits: c.TimeBits})
	}
	return out, nil
}
