package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/querylang"
	"heddle/engine/index/synonym"
	"heddle/engine/index/trec"
	"heddle/engine/internal/coordinator"
	"heddle/engine/table/facet"
)

// Collection answers queries on a collection and prints the answers in the order of the queries. See
// Searcher for the fields of the same names. It is not safe for concurrent use.
type Collection struct {
	Name        string
	Coordinator *coordinator.Coordinator
	Documents   *engine.CollectionSnapshot
	Query       engine.Query
	Facets      *facet.Ask
	Invalid     func(q trec.Topic, err error) error
	Notes       io.Writer
	Synonyms    *synonym.Set // are put into the texts; nil: none
	Similar     bool         // a note on terms without documents names similar ones
	Explain     io.Writer
	Writer      Writer
}

// Begin is Searcher.Begin. Path and epoch name the state of the collection.
func (c *Collection) Begin(r Run, path string, epoch uint64, stderr io.Writer) error {
	c.Query.Fields = c.Writer.fields(c.Query.Fields, c.Documents.Segments()[0])
	h := append(r.header(&c.Query, &c.Writer), setting{"collection", path}, setting{"state", epoch})
	return c.Writer.begin(h, r.NoHeader, stderr)
}

// Answer runs queries in batches; with explanations each is a batch.
func (c *Collection) Answer(ctx context.Context, qs []trec.Topic) error {
	for batch := range slices.Chunk(qs, batchSize(&c.Query, len(qs), c.Explain != nil)) {
		if err := c.batch(ctx, batch); err != nil {
			return err
		}
	}
	return c.Writer.Out.Flush()
}

func (c *Collection) batch(ctx context.Context, qs []trec.Topic) error {
	var all []engine.Query
	var asked []trec.Topic
	for _, q := range qs {
		one := c.Query
		if q.Terms != nil {
			one.Terms, one.Weights = q.Terms, q.Weights
		} else if q.Err == nil {
			one.Text, one.Literal, q.Err = rewrite(c.Synonyms, &one, q.Text)
		}
		if q.Err != nil {
			if err := c.Invalid(q, q.Err); err != nil {
				return err
			}
			continue
		}
		all, asked = append(all, one), append(asked, q)
	}
	parts, err := engine.ForParts(all)
	if err != nil {
		return err
	}
	hits, _, err := c.Coordinator.SearchAll(ctx, c.Name, parts, coordinator.Ask{Names: true, Explain: c.Explain != nil, Facets: c.Facets})
	if err != nil {
		return err
	}
	for i, q := range asked {
		if wrong, ok := errors.AsType[*engine.Error](hits[i].Err); ok {
			err = c.Invalid(q, wrong.Err)
		} else {
			err = c.print(ctx, q, all[i], &hits[i])
			if err == nil && c.Facets != nil {
				err = c.Writer.facets(q, hits[i].Matches, hits[i].Facets)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// print prints an answer.
func (c *Collection) print(ctx context.Context, q trec.Topic, asked engine.Query, h *coordinator.Hits) error {
	var known, unknown []string
	if h.Count == 0 || c.Explain != nil {
		known, unknown = c.terms(ctx, asked)
	}
	if h.Count == 0 && c.Explain == nil {
		if c.Similar && len(unknown) > 0 {
			parts, err := engine.ForParts([]engine.Query{asked})
			if err != nil {
				return err
			}
			all, err := c.Coordinator.Corrections(ctx, c.Name, &parts[0])
			if err != nil {
				return err
			}
			similar(unknown, all)
		}
		if err := note(c.Notes, q, asked.Literal, c.Documents.Segments()[0], known, unknown); err != nil {
			return err
		}
	}
	if len(unknown) > 0 && c.Explain != nil {
		h.Explanation += fmt.Sprintf("in no document: %s\n", strings.Join(unknown, ", "))
	}
	if c.Explain != nil && c.Writer.Format != "jsonl" {
		if err := c.Writer.Out.Flush(); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.Explain, "query %s: %s\n%s", terminal.Field(q.ID), terminal.Field(q.Text), terminal.Text(h.Explanation)); err != nil {
			return err
		}
		h.Explanation = ""
	}
	return c.Writer.write(q, asked, found{h.Count, h.Total, len(h.IDs), h.Scores,
		func(i int) (string, error) { return cmp.Or(h.Names[i], strconv.FormatUint(h.IDs[i], 10)), nil },
		h.Documents, h.After, h.Explanation}, nil)
}

// terms returns the terms of a query that documents have, and the words that no document has.
func (c *Collection) terms(ctx context.Context, asked engine.Query) (known, unknown []string) {
	terms, _, err := c.Documents.Segments()[0].WeightedTerms(asked)
	if err != nil { // the query was answered
		return nil, nil
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	statistics, err := c.Coordinator.Statistics(ctx, c.Name, terms...)
	if err != nil {
		return nil, nil
	}
	for _, t := range terms {
		if statistics.DF[t] > 0 {
			known = append(known, t)
		} else {
			unknown = append(unknown, t)
		}
	}
	expanded, some, without := c.expanded(ctx, asked)
	unknown = slices.DeleteFunc(unknown, func(t string) bool { return slices.Contains(expanded, t) })
	return append(known, some...), append(wordsOf(&asked, &statistics, known, unknown), without...)
}

// expanded returns the terms of the prefixes and tolerant words of a query, the terms of these that documents have, and the words
// without such a term.
func (c *Collection) expanded(ctx context.Context, asked engine.Query) (terms, known, without []string) {
	e, err := querylang.Parse(asked.Text, asked.Match.Join())
	if err != nil || asked.Literal {
		return nil, nil, nil
	}
	for leaf := range e.Leaves {
		if !leaf.Expands() {
			continue
		}
		leaf.Weight = 0
		own := engine.Query{Text: leaf.String(), QueryFields: asked.QueryFields, Expansion: asked.Expansion}
		var all []string
		for _, s := range c.Documents.Segments() {
			some, _, _ := s.WeightedTerms(own) // without an error, since the query was answered
			all = append(all, some...)
		}
		statistics, err := c.Coordinator.Statistics(ctx, c.Name, all...)
		if err != nil {
			return nil, nil, nil
		}
		terms = append(terms, all...)
		if all = slices.DeleteFunc(all, func(t string) bool { return statistics.DF[t] == 0 }); len(all) == 0 {
			without = append(without, own.Text)
		}
		known = append(known, all...)
	}
	return terms, known, without
}

// note prints why a query has no documents: its unknown terms, or the words of which nothing is left.
func note(to io.Writer, q trec.Topic, literal bool, x *engine.Snapshot, known, unknown []string) (err error) {
	var why string
	switch {
	case len(unknown) > 0:
		why = "in no document: " + strings.Join(unknown, ", ")
	case len(known) > 0:
		return nil
	default:
		if why = x.Note(engine.Query{Text: q.Text, Literal: literal}, false); why == "" {
			return nil
		}
	}
	_, err = fmt.Fprintf(to, "query %s: %s\n", terminal.Field(q.ID), terminal.Field(why))
	return err
}
