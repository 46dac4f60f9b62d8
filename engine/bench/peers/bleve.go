package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"heddle/engine/bench/rank"
	"heddle/engine/bench/workload"
)

// bleveLibrary is github.com/blevesearch/bleve/v2.
var bleveLibrary = rank.Library{Name: bleveName, Open: newBleve}

const bleveName = "bleve"

// blevePeer is a scorch index of one field in one segment, without stored values,
// positions and doc values.
type blevePeer struct{ index bleve.Index }

const bleveField = "text"

// bleveBatch is the number of documents that are added together.
const bleveBatch = 4000

// newBleve indexes documents; Library.Open describes the arguments. bleve keeps k1 and
// b in global variables.
func newBleve(ctx context.Context, dir string, n int, text func(doc int) string, k1, b float64) (p rank.Peer, err error) {
	search.BM25_k1, search.BM25_b = k1, b
	m, err := bleveMapping()
	if err != nil {
		return nil, err
	}
	x, err := bleve.NewUsing(filepath.Join(dir, bleveName), m, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	for first := 0; first < n; first += bleveBatch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch := x.NewBatch()
		for doc := first; doc < min(first+bleveBatch, n); doc++ {
			if err := batch.Index(fmt.Sprintf("%010d", doc), map[string]any{bleveField: text(doc)}); err != nil {
				return nil, err
			}
		}
		if err := x.Batch(batch); err != nil {
			return nil, err
		}
	}
	inside, err := x.Advanced()
	if err != nil {
		return nil, err
	}
	s, ok := inside.(*scorch.Scorch)
	if !ok {
		return nil, fmt.Errorf("%s made an index of type %T", bleveName, inside)
	}
	if err := s.ForceMerge(ctx, nil); err != nil {
		return nil, err
	}
	return &blevePeer{x}, nil
}

// bleveMapping indexes one field whose terms are separated by spaces, scored by BM25.
func bleveMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	if err := m.AddCustomAnalyzer("terms", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		return nil, err
	}
	field := bleve.NewTextFieldMapping()
	field.Analyzer = "terms"
	field.Store, field.IncludeTermVectors, field.DocValues, field.IncludeInAll = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(bleveField, field)
	m.DefaultMapping = doc
	m.DefaultAnalyzer = "terms"
	m.ScoringModel = index.BM25Scoring
	return m, nil
}

// Rank implements rank.Peer.
func (p *blevePeer) Rank(ctx context.Context, terms []string, mode workload.Mode, k int) ([]uint32, error) {
	parts := make([]query.Query, len(terms))
	for i, t := range terms {
		q := bleve.NewTermQuery(t)
		q.SetField(bleveField)
		parts[i] = q
	}
	var all query.Query = bleve.NewDisjunctionQuery(parts...)
	if mode == workload.And {
		all = bleve.NewConjunctionQuery(parts...)
	}
	found, err := p.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(all, k, 0, false))
	if err != nil {
		return nil, err
	}
	docs := make([]uint32, len(found.Hits))
	for i, hit := range found.Hits {
		doc, err := strconv.ParseUint(hit.ID, 10, 32)
		if err != nil {
			return nil, err
		}
		docs[i] = uint32(doc)
	}
	return docs, nil
}

// Close implements rank.Peer.
func (p *blevePeer) Close() error { return p.index.Close() }
