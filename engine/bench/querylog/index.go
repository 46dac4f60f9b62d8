package querylog

import (
	"context"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// source gives the lists of the workload in an encoding, made once.
func (s *Bench) Source(ctx context.Context, e workload.Encoding) (*plan.Source, error) {
	if src := s.sources[e]; src != nil {
		return src, nil
	}
	src, err := s.W.Encode(ctx, e.Layout, e.Options())
	if err == nil {
		s.sources[e] = src
	}
	return src, err
}

// indexKey says whose lists lie where, and how the index is opened.
type indexKey struct {
	who      string
	threads  int
	encoding workload.Encoding
	access   harness.Access
}

// openIndex is the one index that is open: each takes up to gigabytes.
type openIndex struct {
	key indexKey
	x   *harness.Index
}

// index opens an index of the workload, or gives the one that is open.
func (s *Bench) Index(ctx context.Context, who harness.Contestant, threads int, e workload.Encoding, a harness.Access) (*harness.Index, error) {
	k := indexKey{who.Name, threads, e, a}
	if s.open.x != nil && s.open.key == k {
		return s.open.x, nil
	}
	if err := s.CloseIndex(); err != nil {
		return nil, err
	}
	src, err := s.Source(ctx, e)
	if err != nil {
		return nil, err
	}
	x, err := s.NewIndex(ctx, who, threads, a, src, s.Dict)
	if err == nil {
		s.open = openIndex{k, x}
	}
	return x, err
}

func (s *Bench) CloseIndex() error {
	x := s.open.x
	if x == nil {
		return nil
	}
	s.open = openIndex{}
	return x.Close()
}
