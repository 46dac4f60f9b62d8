package phrase

import (
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// TestFind finds the documents that two or three lists of ParaPFor have, of all generators of lists: each list has one position
// in each of its documents, and the windows are wide.
func TestFind(t *testing.T) {
	const docs = 1 << 17
	src := &plan.Source{Docs: docs, Lengths: make([]uint32, docs)}
	var postings, ones, zeros [][]uint32
	add := func(list []uint32) plan.Handle {
		slices.Sort(list)
		list = slices.Compact(list)
		once := make([]uint32, len(list))
		for i := range once {
			once[i] = 1
		}
		h, err := src.Append(codec.ParaPFor, list, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, once, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
		postings, ones, zeros = append(postings, list), append(ones, once), append(zeros, make([]uint32, len(list)))
		return h
	}
	var windows []*plan.Phrase
	window := func(all ...plan.Handle) {
		p := &plan.Phrase{Kind: plan.Near, Distance: 9}
		for i, h := range all {
			p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: []plan.Handle{h}})
		}
		windows = append(windows, p)
	}
	even := add(codectest.Generators()[3].List(1, docs/40, docs)) // every-kth
	for i, g := range codectest.Generators() {
		few := g.List(uint64(i), 700, docs)
		if len(few) == 0 {
			continue
		}
		var most []uint32
		for k, d := range few {
			if k%3 > 0 {
				most = append(most, d)
			}
		}
		rare, common := add(few), add(append(most, codectest.Generators()[4].List(uint64(i), 4000, docs)...))
		window(rare, common)
		window(even, rare)
		window(common, even, rare)
	}
	src.SetPositions(ones, zeros)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		m, err := openOn(t.Context(), rt, src)
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		found := 0
		for _, m.set.Auto = range []plan.Algorithm{plan.Bits, plan.BS} { // with bitsets of all lists, and without
			made, err := m.run(t.Context(), windows, new(plan.Stats))
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range windows {
				var all []plan.Handle
				for _, s := range p.Slots {
					all = append(all, s.Lists...)
				}
				want := reference.Conjunction(postings, all...)
				if made[i] == nil || !slices.Equal(made[i].Docs, want) {
					t.Fatalf("lists %v: %v, want %d documents", all, made[i], len(want))
				}
				found += len(want)
			}
		}
		if found < 10_000 {
			t.Errorf("%d documents", found)
		}
	})
}
