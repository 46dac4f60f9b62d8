package expression

import (
	"context"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// selfTest evaluates expressions with every step of the kernel, over the sample lists.
// Lists 3i, 3i+1 and 3i+2 have the shapes of the first three in another codec.
func selfTest(ctx context.Context, rt *device.Runtime) error {
	src, postings, err := lists.Sample()
	if err != nil {
		return rt.FailedTest("preparing: %w", err)
	}
	e, err := load(ctx, rt, src)
	if err != nil {
		return err
	}
	defer e.close()
	list := func(i int) plan.Op { return plan.Op{List: plan.Handle(i % len(postings))} }
	and, or, not, from := plan.Op{Code: plan.OpAnd}, plan.Op{Code: plan.OpOr}, plan.Op{Code: plan.OpAndNot}, plan.Op{Code: plan.OpNotAnd}
	var batch plan.MatchBatch
	batch.Reset()
	for i := 0; i < len(postings); i += 3 {
		a, b, c, d, e := list(i), list(i+1), list(i+2), list(i+4), list(i+8)
		batch.AddOps([]plan.Op{a, b, or, c, or})
		batch.AddOps([]plan.Op{c, a, not, b, not})
		batch.AddOps([]plan.Op{c, a, and, b, d, or, and})
		batch.AddOps([]plan.Op{a, b, and, c, d, and, or, e, d, not, from})
	}
	want := reference.Match(postings, &batch)
	var got plan.Results
	for _, a := range []plan.Algorithm{plan.Bits, plan.BS} { // with bitsets of lists and without
		batch.CountOnly = a == plan.BS
		if err := e.run(ctx, &batch, &got, nil, a); err != nil {
			return err
		}
		for i, want := range want {
			if got.Count(i) != uint64(len(want)) || !batch.CountOnly && !slices.Equal(got.Query(i), want) {
				return rt.FailedTest("boolean expression %d under %s: %d documents, expected %d, or wrong ones", i, a, got.Count(i), len(want))
			}
		}
	}
	return nil
}

// load makes a set of resident lists with an evaluator alone.
func load(ctx context.Context, rt *device.Runtime, src *plan.Source) (*Evaluator, error) {
	set, err := lists.New(rt, src, rt.Memory)
	if err != nil {
		return nil, err
	}
	e := New(set)
	if err = set.Load(ctx, LeastBytes()); err == nil {
		if err = e.Open(); err == nil {
			err = set.ChooseAuto(ctx)
		}
	}
	if err != nil {
		e.Release()
		set.Release()
		return nil, err
	}
	return e, nil
}

// close closes an evaluator of load and its set.
func (e *Evaluator) close() error {
	return e.set.Close(func() { e.Release(); e.set.Release() })
}
