package hdl

import (
	"errors"
	"math"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// TestPositions writes and reads an index with positions, also one without terms.
func TestPositions(t *testing.T) {
	for _, s := range []*sample{tiny().withPositions(), (&sample{}).withPositions(), {meta: Meta{Positions: true}}} {
		f := mustOpen(t, s.build(t))
		s.check(t, f)
		if err := f.Verify(t.Context()); err != nil || !f.HasPositions() {
			t.Errorf("%d terms: %v", f.Terms(), err)
		}
	}
}

// TestPositionsWrong has wrong numbers of positions.
func TestPositionsWrong(t *testing.T) {
	create := func(positions bool) *Writer {
		w, err := Create(t.TempDir()+"/x.hdl", Meta{Docs: 1, Positions: positions})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Abort() })
		if err := w.AddDocument("a", 3); err != nil {
			t.Fatal(err)
		}
		if err := w.AddList("a", []uint32{0}, []uint32{2}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if err := create(false).AddPositions([]uint32{0, 0}); !errors.Is(err, ErrInput) {
		t.Errorf("positions for an index without: %v", err)
	}
	if err := create(true).AddPositions([]uint32{0}); !errors.Is(err, ErrInput) {
		t.Errorf("too few: %v", err)
	}
	if err := create(true).AddList("b", nil, nil); !errors.Is(err, ErrInput) {
		t.Errorf("the list before lacks them: %v", err)
	}
	if err := create(true).Commit(); !errors.Is(err, ErrInput) {
		t.Errorf("the last list lacks them: %v", err)
	}
}

// TestCraftedPositions has damage under correct checksums.
func TestCraftedPositions(t *testing.T) {
	data := tiny().withPositions().image(t)
	for _, c := range []crafted{
		{"first list", secPositionLists, func(b []byte) { put64(b, 0, 1) }, true, "position-lists"},
		{"end of lists", secPositionLists, func(b []byte) { put64(b, len(b)-16, 5) }, true, "position-lists"},
		{"end of ranks", secPositionLists, func(b []byte) { put64(b, len(b)-8, math.MaxUint64) }, true, "position-lists"},
		{"rank", secPositionRanks, func(b []byte) { b[0] ^= 1 }, false, "position-ranks"},
		{"block behind the words", secPositionBlocks, func(b []byte) { put64(b, 0, 1<<60) }, false, "positions"},
		{"shape", secPositionBlocks, func(b []byte) { b[8]++ }, false, "positions"},
		{"shape behind the last", secPositionBlocks, func(b []byte) { b[len(b)-1] = 1 }, false, "positions"},
		{"position of 33 bits", secPositions, func(b []byte) {
			for i := range b {
				b[i] = 0xff
			}
		}, false, "positions"},
		{"entry of fields", secFields, func(b []byte) { put64(b, 48, 0) }, true, "fields"},
	} {
		c.run(t, data, repairBlocks)
	}
}

// FuzzPositions puts arbitrary positions into a file with correct checksums.
func FuzzPositions(f *testing.F) {
	image := tiny().withPositions().image(f)
	file, err := fromBytes("x", image, true)
	if err != nil {
		f.Fatal(err)
	}
	b := func(s section) []byte { return slices.Clone(file.bytes(s)) }
	f.Add(b(secPositions), b(secPositionBlocks), b(secPositionLists), b(secPositionRanks))
	f.Add(b(secPositions)[:64], slices.Repeat([]byte{0xff}, 48), b(secPositionLists), b(secPositionRanks))
	f.Add([]byte{}, b(secPositionBlocks), b(secPositionLists), []byte{})
	f.Fuzz(func(t *testing.T, values, blocks, lists, ranks []byte) {
		var sections [][]byte
		for s := range numSections {
			part := file.bytes(s)
			switch s {
			case secPositions:
				part = values[:len(values)&^3]
			case secPositionBlocks:
				part = append(slices.Clone(blocks), part...)[:len(part)]
			case secPositionLists:
				part = append(slices.Clone(lists), part...)[:len(part)]
			case secPositionRanks:
				part = ranks[:len(ranks)&^3]
			}
			sections = append(sections, part)
		}
		data := containertest.Layout(&format, file.header.encode(), sections...)
		changed, err := fromBytes("x", data, true)
		if err != nil {
			if c := containertest.WantCorrupt(t, err, "x"); c.Section == container.HeaderName {
				t.Fatalf("the test built a bad header: %v", err)
			}
			return
		}
		exercise(t, changed)
		for h := range uint32(changed.Terms()) {
			if _, err := changed.Positions(nil, h); err != nil {
				containertest.WantCorrupt(t, err, "x")
			}
		}
	})
}
