package cl

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// selfTestTiles and selfTestSlots limit the rounds of a self-test, so that it takes less
// than SelfTestMemory bytes beside the stores of the device.
const (
	selfTestTiles  = 256
	selfTestSlots  = 2
	selfTestMemory = 256 << 20
)

// coreAlgorithms are tested when a device is opened.
var coreAlgorithms = []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.Bits}

// selfTestCore tests the kernels of every device.
func selfTestCore(ctx context.Context, rt *opened) error {
	return selfTestMatch(ctx, rt, coreCodecs, coreAlgorithms, 0)
}

// testLists tests the kernels for lists of src that no test has run yet.
func testLists(ctx context.Context, rt *opened, src *plan.Source) error {
	var ids []codec.ID
	for _, l := range src.Lists {
		if lookup(l.Codec) != 0 && !slices.Contains(ids, l.Codec) {
			ids = append(ids, l.Codec)
		}
	}
	return testOnce(rt, ids, func(untested []codec.ID) error {
		return selfTestMatch(ctx, rt, append([]codec.ID{codec.Raw}, untested...), []plan.Algorithm{plan.HS16}, ^features(0))
	})
}

// testAlgorithm tests the kernels of an algorithm on first use.
func testAlgorithm(ctx context.Context, rt *opened, a plan.Algorithm) error {
	if a == plan.Auto || a.Bucket() != 0 || slices.Contains(coreAlgorithms, a) {
		return nil
	}
	return testOnce(rt, []plan.Algorithm{a}, func([]plan.Algorithm) error {
		return selfTestMatch(ctx, rt, coreCodecs, []plan.Algorithm{a}, 0)
	})
}

// selfTestMatch intersects lists of some codecs under some algorithms. It leaves out
// queries that search in lists with features beyond the allowed ones.
func selfTestMatch(ctx context.Context, rt *opened, codecs []codec.ID, some []plan.Algorithm, allowed features) error {
	src, lists, err := sampleLists(codecs...)
	if err != nil {
		return rt.failedTest("preparing: %w", err)
	}
	m, err := loadMatcher(ctx, rt, src, selfTestTiles, selfTestSlots)
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
			if lookup(src.Lists[h].Codec)&^allowed != 0 {
				batch.Offsets = batch.Offsets[:batch.Queries()]
				batch.Handles = batch.Handles[:batch.Offsets[batch.Queries()]]
				return
			}
		}
	}
	for h := range lists {
		for k := range h + 1 {
			add(plan.Handle(h), plan.Handle(k))
		}
	}
	add(0, 4, plan.Handle(len(lists)-1))
	batch.Add(src)
	for _, a := range some {
		for _, countOnly := range []bool{false, true} {
			batch.Algorithm, batch.CountOnly = a, countOnly
			if err := m.run(ctx, &batch, &got); err != nil {
				return err
			}
			for i := range batch.Queries() {
				want := plainIntersect(lists, batch.Query(i))
				if got.Count(i) != uint64(len(want)) {
					return rt.failedTest("%s, query over lists %v: %d matches, expected %d", a, batch.Query(i), got.Count(i), len(want))
				}
				if !countOnly && !slices.Equal(got.Query(i), want) {
					return rt.failedTest("%s, query over lists %v: docIDs differ from pure Go", a, batch.Query(i))
				}
			}
		}
	}
	return nil
}

// loadMatcher makes a set of resident lists with a matcher alone.
func loadMatcher(ctx context.Context, rt *opened, src *plan.Source, tiles, slots int) (*matcher, error) {
	set, err := newListSet(rt, src, rt.memory)
	if err != nil {
		return nil, err
	}
	m := newMatcher(set, tiles, slots)
	if err = set.load(m.slotsBytes()); err == nil {
		if err = m.open(); err == nil {
			err = set.chooseAuto(ctx)
		}
	}
	if err != nil {
		m.release()
		set.release()
		return nil, err
	}
	return m, nil
}

// close closes a matcher of loadMatcher and its set.
func (m *matcher) close() error {
	if err := m.set.shut(); err != nil {
		return err
	}
	m.release()
	m.set.release()
	return nil
}
