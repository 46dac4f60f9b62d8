package bench

import (
	"context"
	"fmt"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/plan"
)

// encoding is a layout with the largest share of exceptions that its codecs may
// use, where they have any.
type encoding struct {
	layout     Layout
	exceptions float64
}

// plainly is a layout with the default share of exceptions.
func plainly(l Layout) encoding { return encoding{l, codec.DefaultOptions().ExceptionRatio} }

// String is how rows name it.
func (e encoding) String() string {
	if e == plainly(e.layout) {
		return e.layout.String()
	}
	return fmt.Sprintf("%s(%.1f)", e.layout, e.exceptions)
}

// options are those of the codecs.
func (e encoding) options() codec.Options {
	opt := codec.DefaultOptions()
	opt.ExceptionRatio = e.exceptions
	return opt
}

// source gives the lists of the workload in an encoding, made once.
func (s *session) source(ctx context.Context, e encoding) (*plan.Source, error) {
	if src := s.sources[e]; src != nil {
		return src, nil
	}
	src, err := s.w.Encode(ctx, e.layout, e.options())
	if err == nil {
		s.sources[e] = src
	}
	return src, err
}

// indexKey says whose lists lie where, and how the index is opened.
type indexKey struct {
	who      string
	threads  int
	encoding encoding
	access   access
}

// openIndex is the one index that is open: each takes up to gigabytes.
type openIndex struct {
	key indexKey
	x   *engine.Index
}

// index opens an index of the workload, or gives the one that is open.
func (s *session) index(ctx context.Context, who contestant, threads int, e encoding, a access) (*engine.Index, error) {
	k := indexKey{who.name, threads, e, a}
	if s.open.x != nil && s.open.key == k {
		return s.open.x, nil
	}
	if err := s.closeIndex(); err != nil {
		return nil, err
	}
	src, err := s.source(ctx, e)
	if err != nil {
		return nil, err
	}
	x, err := s.newIndex(ctx, who, threads, a, src, s.dict)
	if err == nil {
		s.open = openIndex{k, x}
	}
	return x, err
}

func (s *session) closeIndex() error {
	x := s.open.x
	if x == nil {
		return nil
	}
	s.open = openIndex{}
	return x.Close()
}
