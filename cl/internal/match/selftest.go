package match

import (
	"context"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// selfTestTiles and selfTestSlots limit the rounds of a self-test, so that it takes less
// than SelfTestMemory bytes beside the stores of the device.
const (
	selfTestTiles  = 256
	selfTestSlots  = 2
	SelfTestMemory = 256 << 20
)

// coreAlgorithms are tested when a device is opened.
var coreAlgorithms = []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.Bits}

// selfTestCore tests the kernels of every device.
func selfTestCore(ctx context.Context, rt *device.Runtime) error {
	return selfTest(ctx, rt, lists.CoreCodecs, coreAlgorithms, 0)
}

// SelfTestLists tests the kernels for lists of src that no test has run yet.
func SelfTestLists(ctx context.Context, rt *device.Runtime, src *plan.Source) error {
	var ids []codec.ID
	for _, l := range src.Lists {
		if lists.Lookup(l.Codec) != 0 && !slices.Contains(ids, l.Codec) {
			ids = append(ids, l.Codec)
		}
	}
	return device.TestOnce(ctx, rt, ids, func(untested []codec.ID) error {
		return selfTest(ctx, rt, append([]codec.ID{codec.Raw}, untested...), []plan.Algorithm{plan.HS16}, ^device.Features(0))
	})
}

// selfTestAlgorithm tests the kernels of an algorithm on first use.
func selfTestAlgorithm(ctx context.Context, rt *device.Runtime, a plan.Algorithm) error {
	if a == plan.Auto || a.Bucket() != 0 || slices.Contains(coreAlgorithms, a) {
		return nil
	}
	return device.TestOnce(ctx, rt, []plan.Algorithm{a}, func([]plan.Algorithm) error {
		return selfTest(ctx, rt, lists.CoreCodecs, []plan.Algorithm{a}, 0)
	})
}

// selfTest intersects lists of some codecs under some algorithms. It leaves out
// queries that search in lists with features beyond the allowed ones.
func selfTest(ctx context.Context, rt *device.Runtime, codecs []codec.ID, some []plan.Algorithm, allowed device.Features) error {
	src, postings, err := lists.Sample(codecs...)
	if err != nil {
		return rt.FailedTest("preparing: %w", err)
	}
	m, err := load(ctx, rt, src, selfTestTiles, selfTestSlots)
	if err != nil {
		return err
	}
	defer m.close()
	var batch plan.MatchBatch
	var got plan.Results
	batch.Reset()
	add := func(q ...plan.Handle) {
		batch.Add(src, q...)
		for _, h := range batch.Query(batch.Queries() - 1)[1:] {
			if lists.Lookup(src.Lists[h].Codec)&^allowed != 0 {
				batch.Offsets = batch.Offsets[:batch.Queries()]
				batch.Handles = batch.Handles[:batch.Offsets[batch.Queries()]]
				return
			}
		}
	}
	for h := range postings {
		for k := range h + 1 {
			add(plan.Handle(h), plan.Handle(k))
		}
	}
	add(0, 4, plan.Handle(len(postings)-1))
	batch.Add(src)
	for _, a := range some {
		for _, countOnly := range []bool{false, true} {
			batch.Algorithm, batch.CountOnly = a, countOnly
			if err := m.run(ctx, &batch, &got); err != nil {
				return err
			}
			for i := range batch.Queries() {
				want := reference.Conjunction(postings, batch.Query(i)...)
				if got.Count(i) != uint64(len(want)) {
					return rt.FailedTest("%s, query over lists %v: %d matches, expected %d", a, batch.Query(i), got.Count(i), len(want))
				}
				if !countOnly && !slices.Equal(got.Query(i), want) {
					return rt.FailedTest("%s, query over lists %v: docIDs differ from pure Go", a, batch.Query(i))
				}
			}
		}
	}
	return nil
}

// load makes a set of resident lists with a matcher alone.
func load(ctx context.Context, rt *device.Runtime, src *plan.Source, tiles, slots int) (*Matcher, error) {
	set, err := lists.New(rt, src, rt.Memory)
	if err != nil {
		return nil, err
	}
	m := New(set, tiles, slots)
	if err = set.Load(ctx, m.ScratchBytes()); err == nil {
		if err = m.Open(ctx); err == nil {
			err = set.ChooseAuto(ctx)
		}
	}
	if err != nil {
		m.Release()
		set.Release()
		return nil, err
	}
	return m, nil
}

// close closes a matcher of load and its set.
func (m *Matcher) close() error {
	return m.set.Close(func() { m.Release(); m.set.Release() })
}
