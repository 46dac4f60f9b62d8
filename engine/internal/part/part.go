// Package part answers queries on one part of an index: a segment of a collection or a shard of a cluster. A coordinator
// joins the answers of all parts.
package part

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
)

// ErrEpoch is the error of a request for an epoch or part that its holder does not have.
var ErrEpoch = errors.New("the node does not hold this epoch and shard")

// Part is the content of a part during a request.
type Part struct {
	*lists.Generation
	Live       *Live         // nil: no document is deleted
	Attributes *tables.Table // attribute table of the documents; nil: they have none
	First      uint64        // number of the first document in the whole, for orders
}

// Live describes the documents of a part that are not deleted. Queries find no deleted documents, and the statistics
// leave these out.
type Live struct {
	Filter    *filter.Filter
	Docs      uint64 // number of documents
	WithTerms uint64 // documents with at least one term
	Length    uint64 // sum of their lengths
	Fields    []bm25.FieldStatistics
}

// Description describes a part.
type Description struct {
	Docs, Lists uint64 // documents that are not deleted; posting lists
	Checksum    string // checksum of the file, in hexadecimal
	Fields      []Field
	Analysis    *analyze.Settings // nil: the part is on a node of an earlier commit
	Positions   bool              // the part has the positions of words
}

// Field describes a field of a part with fields.
type Field struct {
	bm25.FieldStatistics // of the documents that are not deleted
	Lists                uint64
}

// AddFields adds the fields of another part to all.
func AddFields(all, more []Field) []Field {
	for _, f := range more {
		i := slices.IndexFunc(all, func(one Field) bool { return one.Name == f.Name })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Docs, all[i].Length, all[i].Lists = all[i].Docs+f.Docs, all[i].Length+f.Length, all[i].Lists+f.Lists
	}
	return all
}

// Describe describes the part.
func (p *Part) Describe() Description {
	d := Description{Docs: uint64(p.Source.Docs), Lists: uint64(len(p.Source.Lists)), Checksum: strconv.FormatUint(p.Checksum(), 16)}
	meta := p.File.Meta()
	d.Analysis, d.Positions = &meta.Analysis, meta.Positions
	fields := p.FieldStatistics()
	if p.Live != nil {
		d.Docs, fields = p.Live.Docs, p.Live.Fields
	}
	for i, f := range fields {
		d.Fields = append(d.Fields, Field{f, uint64(p.File.Fields()[i].Terms)})
	}
	return d
}

// Name returns the name of a document.
func (p *Part) Name(doc uint32) (string, error) { return fetch.Name(p.File, doc) }

// Names returns the names of documents.
func (p *Part) Names(docs []uint32) ([]string, error) {
	names, most := make([]string, 0, len(docs)), p.Source.Docs
	for i, d := range docs {
		if d >= most {
			return nil, invalidOption("documents", "docs[%d] is %d: the shard has %d documents", i, d, most)
		}
		name, err := p.Name(d)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Terms returns the terms of a request, with their statistics.
func (p *Part) Terms(ctx context.Context, r *TermsRequest) (out *Terms, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	out = &Terms{}
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
	for i, text := range r.Texts {
		var terms []string
		q := query.Query{Text: text, Literal: r.Literal, Options: query.Options{K: 1, Fields: r.Fields, Expansion: query.Expansion{Limit: limit.MostExpansions}}}
		err := p.Read(&q, &lists.Call{}, func() (err error) {
			terms, _, err = p.WeightedTerms(&q)
			return err
		})
		switch code := failure.CodeOf(err); {
		case code == failure.InvalidQuery || code == failure.Unsupported:
			out.Errors = append(out.Errors, query.Error{Query: i, Err: failure.Wrap("search", err)})
		case err != nil:
			return nil, failure.Wrap("terms", err)
		}
		for _, t := range terms {
			out.Numbers = append(out.Numbers, number(t))
		}
		out.Ends = append(out.Ends, uint32(len(out.Numbers)))
	}
	for _, t := range r.Terms {
		number(t)
	}
	if r.Analysis && len(p.Source.Fields) == 0 { // else a text is no list of words
		s := p.File.Meta().Analysis
		out.Analysis = &s
	}
	s, err := p.statistics(ctx, out.Terms)
	if err != nil {
		return nil, err
	}
	out.Docs, out.Length, out.Fields, out.DF = s.Docs, s.Length, s.Fields, make([]uint64, len(out.Terms))
	for i, t := range out.Terms {
		out.DF[i] = s.DF[t]
	}
	return out, nil
}

// statistics returns the statistics of the documents that are not deleted.
func (p *Part) statistics(ctx context.Context, terms []string) (bm25.Statistics, error) {
	s := p.Statistics(terms...)
	if p.Live == nil {
		return s, nil
	}
	s.Docs, s.Length, s.Fields = p.Live.WithTerms, p.Live.Length, p.Live.Fields
	r := &Request{Count: true}
	for _, t := range terms {
		if s.DF[t] > 0 {
			r.Lists = append(r.Lists, List{Terms: []string{t}})
		}
	}
	if len(r.Lists) == 0 {
		return s, nil
	}
	a, err := p.Search(ctx, Prepare(r), nil, false)
	if err != nil {
		return s, err
	}
	if len(a.Errors) > 0 {
		return s, a.Errors[0].Err
	}
	for i, l := range r.Lists {
		s.DF[l.Terms[0]] = a.Counts[i]
	}
	return s, nil
}
