package coordinator

import (
	"context"
	"errors"

	"heddle/engine/failure"
	"heddle/engine/index/analyze"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

// errAnalysis is the error of an index whose nodes do not tell its analysis.
var errAnalysis = &failure.Error{Code: failure.Unsupported, Op: "synonyms", Err: errors.New("the nodes of the index are of an earlier commit and do not tell its analysis")}

// Analysis returns the analysis of an index, and whether it has the positions of words. All shards have the same; one must answer.
func (c *Coordinator) Analysis(ctx context.Context, index string) (s analyze.Settings, positions bool, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		d, err := c.describe(ctx, x)
		if err == nil {
			s, positions = *d.Analysis, d.Positions
		}
		return err
	})
	return s, positions, err
}

// describe returns the description of a shard, with its analysis.
func (c *Coordinator) describe(ctx context.Context, x *Collection) (*part.Description, error) {
	if d := x.described.Load(); d != nil {
		return d, nil
	}
	all, err := Spread(ctx, &Reach{Collection: x, Partial: true}, Fan{}, c.shards.Describe)
	if len(all) == 0 && err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Answer.Analysis != nil {
			x.described.Store(&p.Answer)
			return &p.Answer, nil
		}
	}
	return nil, errAnalysis
}
