package server

import (
	"sync"

	"heddle/engine"
	"heddle/engine/index/synonym"
)

// synonyms are the synonyms of an index, for the analysis of its newest content.
type synonyms struct {
	rules *synonym.Rules

	mu       sync.Mutex
	set      *synonym.Set
	checksum uint64 // of the content that set is for
}

// withSynonyms puts the synonyms of an index into the text of a query.
func (s *Server) withSynonyms(index string, q *engine.Query) error {
	of := s.synonyms[index]
	if of == nil || q.Text == "" {
		return nil
	}
	set, err := of.current(s, index)
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
func (of *synonyms) current(s *Server, index string) (*synonym.Set, error) {
	if s.opt.Changer != nil && s.isCollection(index) {
		x, err := s.opt.Changer.Snapshot(index)
		if err != nil {
			return nil, err
		}
		defer x.Close()
		return of.forPart(x.Segments()[0]) // all segments have one analysis
	}
	x, err := s.snapshot(index)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return of.forPart(x)
}

func (of *synonyms) forPart(x *engine.Snapshot) (*synonym.Set, error) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if now := x.Info().Checksum; of.set == nil || of.checksum != now {
		set, err := x.Synonyms(of.rules)
		if err != nil {
			return nil, err
		}
		of.set, of.checksum = set, now
	}
	return of.set, nil
}
