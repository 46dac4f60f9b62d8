package harness

import (
	"context"

	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Source returns the lists of the workload in an encoding, which is made once.
func (s *LogBench) Source(ctx context.Context, e workload.Encoding) (*plan.Source, error) {
	if src := s.sources[e]; src != nil {
		return src, nil
	}
	src, err := s.W.Encode(ctx, e.Layout, e.Options())
	if err == nil {
		s.sources[e] = src
	}
	return src, err
}

// indexKey identifies an index: its contestant, lists and access.
type indexKey struct {
	who      string
	threads  int
	encoding workload.Encoding
	access   Access
}

// openIndex is the open index. There is only one, because each takes up to gigabytes.
type openIndex struct {
	key indexKey
	x   *Index
}

// Index opens an index of the workload, or returns the open one.
func (s *LogBench) Index(ctx context.Context, who Contestant, threads int, e workload.Encoding, a Access) (*Index, error) {
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
	x, err := NewIndex(ctx, s.Runner, who, threads, a, src, s.Dict)
	if err == nil {
		s.open = openIndex{k, x}
	}
	return x, err
}

func (s *LogBench) CloseIndex() error {
	x := s.open.x
	if x == nil {
		return nil
	}
	s.open = openIndex{}
	return x.Close()
}
