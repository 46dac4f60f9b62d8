package phrase

import (
	"context"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank"
	"heddle/codec"
	"heddle/engine/plan"
)

// tested is the key of the self-test.
type tested struct{}

// selfTestOnce tests the kernels on first use.
func selfTestOnce(ctx context.Context, rt *device.Runtime) error {
	return device.TestOnce(ctx, rt, []tested{{}}, func([]tested) error { return selfTest(ctx, rt) })
}

// selfTest makes the lists of phrases over the sample lists, with positions of which some are exceptions, and compares
// them with plain Go.
func selfTest(ctx context.Context, rt *device.Runtime) error {
	m, at, err := open(ctx, rt)
	if err != nil {
		return err
	}
	defer m.close()
	phrases := phrases(len(at))
	made, err := m.run(ctx, phrases, new(plan.Stats))
	if err != nil {
		return err
	}
	for i, p := range phrases {
		want := plain(at, p)
		if made[i] == nil || !slices.Equal(made[i].Docs, want.Docs) || !slices.Equal(made[i].Freqs, want.Freqs) {
			return rt.FailedTest("the list of phrase %d, of the kind %d and %d words, differs from pure Go's", i, p.Kind, len(p.Slots))
		}
	}
	return nil
}

// phrases are phrases and windows of two to four of some lists, of each kind, and with alternatives in the same documents.
func phrases(lists int) (all []*plan.Phrase) {
	for h := range lists {
		for _, others := range [][]int{{h + 1}, {h + 3}, {h}, {h + 4, h + 2, h}} {
			for kind := plan.Exact; kind <= plan.Ordered; kind++ {
				p := &plan.Phrase{Kind: kind, Distance: uint32(1 + h%3*2), Slots: []plan.Slot{{Lists: []plan.Handle{plan.Handle(h)}}}}
				for i, o := range others {
					p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i + 1 + h%2), Lists: []plan.Handle{plan.Handle(o % lists)}})
				}
				all = append(all, p)
				if len(others) == 1 && others[0] != h && h%3 == 0 {
					p := &plan.Phrase{Kind: kind, Distance: p.Distance, Slots: slices.Clone(p.Slots)}
					p.Slots[h/3%2].Lists = append(slices.Clone(p.Slots[h/3%2].Lists), plan.Handle((h+6)%lists))
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// open makes a maker over the sample lists. close must follow.
func open(ctx context.Context, rt *device.Runtime) (*Maker, []map[uint32][]uint32, error) {
	src, at, err := sample()
	if err != nil {
		return nil, nil, rt.FailedTest("preparing: %w", err)
	}
	m, err := openOn(ctx, rt, src)
	return m, at, err
}

// openOn makes a maker over some lists. close must follow.
func openOn(ctx context.Context, rt *device.Runtime, src *plan.Source) (*Maker, error) {
	set, err := lists.New(rt, src, rt.Memory)
	if err != nil {
		return nil, err
	}
	m := New(set, rank.New(set))
	if err = set.Load(ctx, 0); err == nil {
		err = set.ChooseAuto(ctx)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// close closes a maker of open with its lists.
func (m *Maker) close() {
	_ = m.set.Close(func() {
		m.Release()
		m.ranker.Release()
		m.set.Release()
	})
}

// sample returns lists with frequencies and positions, and the positions by list and document.
func sample() (*plan.Source, []map[uint32][]uint32, error) {
	src, postings, err := lists.Sample()
	if err != nil {
		return nil, nil, err
	}
	at := make([]map[uint32][]uint32, len(postings))
	freqs, values := make([][]uint32, len(postings)), make([][]uint32, len(postings))
	for h, docs := range postings {
		at[h] = map[uint32][]uint32{}
		for i, d := range docs {
			f := 1 + d*2654435761>>29%5*uint32(h%4+1)/4
			if i%997 == 5 {
				f += 300
			}
			for k := range f {
				gap := (d + k*uint32(h+3)) * 2654435761 >> 28 % 3
				if (d+k)%61 == 0 {
					gap += 1000 << (d % 9)
				}
				values[h] = append(values[h], gap)
				if k > 0 {
					gap += at[h][d][k-1] + 1
				}
				at[h][d] = append(at[h][d], gap)
			}
			freqs[h] = append(freqs[h], f)
		}
		if err := src.AppendFreqs(plan.Handle(h), freqs[h], codec.DefaultOptions()); err != nil {
			return nil, nil, err
		}
	}
	src.SetPositions(freqs, values)
	src.Lengths = make([]uint32, src.Docs)
	return src, at, nil
}
