package cl

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"heddle/codec"
	"heddle/engine/plan"
)

// The self-test runs kernels on small cases and compares with plain Go: drivers do
// miscompile. Opening a device tests the kernels that are built then; those for
// other codecs are tested when a source with such lists is first loaded, those of
// other algorithms when a batch first asks for one, since most programs never do and
// a build takes its time.

// selfTestTiles is how many tiles a round of the self-test has at most, and selfTestSlots how
// many rounds are in flight, so that it takes little memory beside stores: less than
// selfTestMemory in bytes.
const (
	selfTestTiles  = 256
	selfTestSlots  = 2
	selfTestMemory = 256 << 20
)

// coreCodecs are those whose lists the kernels of every device read; gap codecs can
// only be the shortest of their query there.
var coreCodecs = []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}

var coreAlgorithms = []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.Bits}

// tested remembers what a backend's self-test has passed.
type tested struct {
	mu         sync.Mutex
	codecs     map[codec.ID]bool
	algorithms map[plan.Algorithm]bool
	ranks      map[plan.Accumulators]bool
	words      map[tableTest]bool
}

// selfTest tests what every device needs.
func (b *Backend) selfTest(ctx context.Context) error {
	return b.selfTestOf(ctx, coreCodecs, coreAlgorithms, 0, true)
}

// testLists tests the kernels that the lists of src ask for and that no test has
// seen.
func (b *Backend) testLists(ctx context.Context, src *plan.Source) error {
	if b.opt.SkipSelfTest {
		return nil
	}
	b.tested.mu.Lock()
	defer b.tested.mu.Unlock()
	var some []codec.ID
	for _, l := range src.Lists {
		if lookup(l.Codec) != 0 && !b.tested.codecs[l.Codec] && !slices.Contains(some, l.Codec) {
			some = append(some, l.Codec)
		}
	}
	if len(some) == 0 {
		return nil
	}
	if err := b.selfTestOf(ctx, append([]codec.ID{codec.Raw}, some...), []plan.Algorithm{plan.HS16}, ^feature(0), false); err != nil {
		return err
	}
	for _, id := range some {
		b.tested.codecs[id] = true
	}
	return nil
}

// testAlgorithm tests the kernels of an algorithm on first use.
func (b *Backend) testAlgorithm(ctx context.Context, a plan.Algorithm) error {
	if b.opt.SkipSelfTest || a == plan.Auto || a.Bucket() != 0 || slices.Contains(coreAlgorithms, a) {
		return nil
	}
	b.tested.mu.Lock()
	defer b.tested.mu.Unlock()
	if b.tested.algorithms[a] {
		return nil
	}
	if err := b.selfTestOf(ctx, coreCodecs, []plan.Algorithm{a}, 0, false); err != nil {
		return err
	}
	b.tested.algorithms[a] = true
	return nil
}

// selfTestOf intersects lists of some codecs under some algorithms. It leaves out
// queries with lists to be looked up that ask for features beyond those allowed.
func (b *Backend) selfTestOf(ctx context.Context, codecs []codec.ID, some []plan.Algorithm, allowed feature, formulas bool) error {
	failed := func(format string, args ...any) error {
		return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: b.dev.String(), Op: "self-test", Err: fmt.Errorf(format, args...)}
	}
	src, lists, err := selfTestSource(codecs...)
	if err != nil {
		return failed("preparing: %w", err)
	}
	s, err := b.loadIn(ctx, src, selfTestTiles, selfTestSlots)
	if err != nil {
		return err
	}
	defer s.Close()
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
			if err := s.intersect(ctx, &batch, &got); err != nil {
				return err
			}
			for i := range batch.Queries() {
				want := plainIntersect(lists, batch.Query(i))
				if got.Count(i) != uint64(len(want)) {
					return failed("%s, query over lists %v: %d matches, expected %d", a, batch.Query(i), got.Count(i), len(want))
				}
				if !countOnly && !slices.Equal(got.Query(i), want) {
					return failed("%s, query over lists %v: docIDs differ from pure Go", a, batch.Query(i))
				}
			}
		}
	}
	if !formulas {
		return nil
	}
	return s.selfTestFormulas(ctx, lists, failed)
}

// selfTestSource has three shapes of lists under each codec: spread, clustered
// with gaps that make exceptions, dense. Without codecs, those of the core.
func selfTestSource(codecs ...codec.ID) (*plan.Source, [][]uint32, error) {
	if len(codecs) == 0 {
		codecs = coreCodecs
	}
	const docs = 40000
	shapes := make([][]uint32, 3)
	for d := uint32(1); d < docs; d++ {
		h := d * 2654435761
		if h>>20%41 == 0 {
			shapes[0] = append(shapes[0], d)
		}
		if d/700%5 == 1 && h>>16%3 == 0 {
			shapes[1] = append(shapes[1], d)
		}
		if h>>18%5 < 2 {
			shapes[2] = append(shapes[2], d)
		}
	}
	src := &plan.Source{Docs: docs}
	var lists [][]uint32
	for _, id := range codecs {
		for _, docs := range shapes {
			if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
				return nil, nil, err
			}
			lists = append(lists, docs)
		}
	}
	return src, lists, nil
}

// plainIntersect is the plainest intersection there is.
func plainIntersect(lists [][]uint32, query []plan.Handle) []uint32 {
	if len(query) == 0 {
		return nil
	}
	found := lists[query[0]]
	for _, h := range query[1:] {
		found = plan.Merge(found, lists[h])
	}
	return found
}
