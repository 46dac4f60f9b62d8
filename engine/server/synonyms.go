package server

import (
	"context"
	"reflect"
	"sync"

	"heddle/engine"
	"heddle/engine/index/analyze"
	"heddle/engine/index/synonym"
)

// synonyms are the synonyms of an index, for the analysis of its newest content.
type synonyms struct {
	rules *synonym.Rules

	mu        sync.Mutex
	set       *synonym.Set
	analysis  analyze.Settings // that set is for
	positions bool
}

// SetSynonyms replaces Options.Synonyms. If the rules do not suit an index in service, nothing changes. The rules of
// another name wait for its index, and a warning names it.
func (s *Server) SetSynonyms(ctx context.Context, all map[string]*synonym.Rules) error {
	next := synonymsOf(all)
	for name, of := range *next {
		switch _, err := of.current(ctx, s, name); engine.CodeOf(err) {
		case engine.InvalidOption:
			return err
		case engine.NotFound:
			s.opt.Log.Warn().Str("index", name).Msg("server.synonyms: no index in service has this name; its synonyms wait for it")
		}
	}
	s.synonyms.Store(next)
	return nil
}

func synonymsOf(all map[string]*synonym.Rules) *map[string]*synonyms {
	out := map[string]*synonyms{}
	for name, rules := range all {
		out[name] = &synonyms{rules: rules}
	}
	return &out
}

// withSynonyms puts the synonyms of an index into the text of a query.
func (s *Server) withSynonyms(ctx context.Context, index string, q *engine.Query) error {
	of := (*s.synonyms.Load())[index]
	if of == nil || q.Text == "" {
		return nil
	}
	set, err := of.current(ctx, s, index)
	if err != nil {
		return err
	}
	text, err := set.Rewrite(q.Text, q.Literal, q.Match.Join())
	if err != nil {
		return &engine.Error{Code: engine.InvalidQuery, Op: "synonyms", Err: err}
	}
	q.Text, q.Literal = text, false
	return nil
}

// current returns the synonyms for the newest content of the index.
func (of *synonyms) current(ctx context.Context, s *Server, index string) (*synonym.Set, error) {
	return answer(s, index, func(r Remote) (*synonym.Set, error) {
		analysis, positions, err := r.Analysis(ctx, index)
		if err != nil {
			return nil, err
		}
		return of.forAnalysis(analysis, positions)
	}, func(x *engine.Snapshot) (*synonym.Set, error) {
		m := x.File().Meta()
		return of.forAnalysis(m.Analysis, m.Positions)
	})
}

func (of *synonyms) forAnalysis(analysis analyze.Settings, positions bool) (*synonym.Set, error) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.set != nil && of.positions == positions && reflect.DeepEqual(of.analysis, analysis) {
		return of.set, nil
	}
	a, err := analyze.New(analysis)
	if err != nil {
		return nil, err
	}
	set, err := of.rules.For(a, positions)
	if err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "synonyms", Err: err}
	}
	of.set, of.analysis, of.positions = set, analysis, positions
	return set, nil
}
