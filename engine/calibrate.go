package engine

import (
	"context"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/calibrate"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
)

// CalibrateOptions rule Calibrate. The zero value is the default.
type CalibrateOptions struct {
	// Queries to run; their options are ignored. Default: queries of one to six terms drawn
	// from the index, with lists of every length.
	Queries []Query
	// Kinds of queries to fit, by the names of Explanation.Kind. Default: all that the index
	// can answer.
	Kinds []string
	// K is the number of documents of ranked queries. Default: 10.
	K int
	// Time of the queries of a kind on a processor, one by one and then as long in batches. A
	// pass that takes longer leaves queries out. Default: 2 s.
	Time time.Duration
	// Progress receives the next processor and kind. Default: nil, none.
	Progress func(processor, kind string)
}

// Calibrate runs queries on every processor, alone and in batches, and fits the models that
// the scheduler uses. It writes them to the file of costs, if there is one. It needs the
// processors for itself: the work of other calls counts as costs.
func (x *Index) Calibrate(ctx context.Context, opt CalibrateOptions) (all []observe.KindCosts, err error) {
	defer wrapFault("calibrate", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := x.x.Acquire()
	if err != nil {
		return nil, wrap("calibrate", err)
	}
	defer g.Release()
	in := calibrate.Options{K: opt.K, Time: opt.Time, Progress: opt.Progress}
	if opt.Queries != nil {
		in.Queries = make([]query.Query, len(opt.Queries))
		for i := range opt.Queries {
			opt.Queries[i].internal(&in.Queries[i])
		}
	}
	for _, name := range opt.Kinds {
		k, err := cost.ParseKind(name)
		if err != nil {
			return nil, invalid("calibrate", err)
		}
		in.Kinds = append(in.Kinds, k)
	}
	all, err = calibrate.Run(ctx, g, in)
	return all, wrap("calibrate", err)
}
