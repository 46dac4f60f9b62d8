package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/feedback"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/limit"
	"heddle/engine/table/facet"
)

// collection answers the queries from the newest state of a collection.
func (o *searchOptions) collection(ctx context.Context, a *App, c *config.Config, log zerolog.Logger, mode engine.Match) (err error) {
	if o.part {
		return usageError{errors.New("--part is for an index file: each segment of a collection divides its queries")}
	}
	if o.table != "" {
		return usageError{errors.New("--table is for an index file: a collection has attributes of its own (heddle collection create --attribute)")}
	}
	opt, err := machine.Options(c, log)
	if err != nil {
		return err
	}
	e, err := a.Engine(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close(opt, e)) }()
	set, err := e.OpenCollection(ctx, o.path, engine.CollectionOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	docs, err := set.Snapshot()
	if err != nil {
		return err
	}
	defer docs.Close()
	state, info := docs.Internal(), docs.Info()
	s := &answer.Collection{Name: state.Layout.Name, Coordinator: coordinator.Within(state, state, coordinator.Options{Timeout: -1, Limits: limit.Limits{Expansions: c.Limits.Expansions}}), Documents: docs, Invalid: o.invalid, Notes: a.Stderr, Similar: o.single(),
		Query: engine.Query{Match: mode, Expansion: o.expansion(), QueryFields: o.weights, Tie: o.tie.value, CountOnly: o.count, Total: uint64(o.total), Literal: o.literal(), Timeout: -1}, Writer: o.writer(a, c)}
	filter, facets, err := o.filterOptions.parts(nil, info.Bound)
	if err != nil {
		return err
	}
	if s.Query.Filter = filter; facets != nil {
		s.Facets = &facet.Ask{Columns: facets.Columns, Limit: facets.Limit, CountOnly: facets.CountOnly}
	}
	if s.Synonyms, err = o.readSynonyms(docs.Segments()[0]); err != nil {
		return err
	}
	if o.explain {
		s.Explain = a.Stderr
	}
	if o.ranked() {
		if err := o.rank(&s.Query, c, false); err != nil {
			return err
		}
		b := thisBuild()
		if err := s.Begin(answer.Run{Version: b.Version, Revision: b.Revision, Statistics: o.statistics, NoHeader: o.noHeader}, o.path, info.State, a.Stderr); err != nil {
			return err
		}
	}
	answerAll := o.feedback.wrap(feedback.OfCollection(set), &s.Query, s.Answer)
	return errors.Join(o.each(ctx, a, c.Batching.Queries, answerAll), s.Writer.Report(a.Stderr))
}
