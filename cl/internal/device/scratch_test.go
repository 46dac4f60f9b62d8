package device

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// TestScratch grows a buffer, and fails to: then neither the budget nor the count of bytes keeps any, and the
// buffer can be made again.
func TestScratch(t *testing.T) {
	d := newLateDevice(t)
	d.Memory.Calm = 1
	var used atomic.Uint64
	memory := NewScratchMemory(d.Runtime, d.Memory, &used, "a test")
	var m Scratch
	check := func(words int) {
		t.Helper()
		if bytes := 4 * uint64(words); m.Words != words || (m.Buffer != nil) != (words > 0) || used.Load() != bytes || d.Memory.InUse() != bytes {
			t.Fatalf("%d words, %d bytes are used, %d reserved, want %d words", m.Words, used.Load(), d.Memory.InUse(), words)
		}
	}
	for _, c := range []struct{ words, most, want int }{{5, 0, 8}, {8, 0, 8}, {9, 0, 12}, {13, 1 << 20, 1 << 10}, {1025, 1 << 20, 2048}, {2049, 3000, 3000}} {
		if err := memory.Room(&m, c.words, c.most, "words"); err != nil {
			t.Fatal(err)
		}
		check(c.want)
	}
	refused := 0
	d.faulty = func(step string) error {
		if refused--; refused < 0 {
			return nil
		}
		return ocl.ErrMemObjectAllocationFailure
	}
	if refused = 2; memory.Room(&m, 3001, 1<<20, "words") != nil { // the driver has no memory for more
		t.Error("the driver has memory for the words")
	}
	check(3004)
	if refused = 4; !errors.Is(memory.Room(&m, 5000, 1<<20, "words"), plan.ErrOutOfMemory) {
		t.Error("a failed allocation")
	}
	check(0)
	d.faulty = nil
	if err := memory.Room(&m, 7, 0, "words"); err != nil {
		t.Fatal(err)
	}
	check(8)
	rest := d.Memory.Left()
	if err := d.Memory.Reserve(rest-80, "a test"); err != nil {
		t.Fatal(err)
	}
	if err := memory.Room(&m, 20, 1<<20, "words"); err != nil || m.Words != 20 { // without room for more
		t.Errorf("%d words in the last bytes: %v", m.Words, err)
	}
	d.Memory.Unreserve(rest - 80)
	memory.Drop(&m)
	check(0)
}

// TestSmallUpload: the words are on the device without staging memory.
func TestSmallUpload(t *testing.T) {
	d := newLateDevice(t)
	steps := map[string]int{}
	d.faulty = func(step string) error { steps[step]++; return nil }
	m, err := d.LoadWords(t.Context(), []uint32{1, 2, 3}, "words")
	d.faulty = nil
	if err != nil || steps["pin"] != 0 || steps["upload"] != 1 {
		t.Fatalf("%v, steps %v", err, steps)
	}
	defer m.Release()
	var got [3 + pad]uint32
	e, err := d.Transfer.EnqueueReadBuffer(m, true, 0, 4*len(got), unsafe.Pointer(&got[0]), nil)
	if err != nil || got != [...]uint32{1, 2, 3, 0, 0, 0, 0} {
		t.Fatalf("%v: words %d", err, got)
	}
	e.Release()
}

// TestGrow replaces staging memory: the words that are to be kept are copied, and enough memory stays.
func TestGrow(t *testing.T) {
	d := newLateDevice(t)
	var p *Pinned
	if err := d.Grow(&p, 100, 0); err != nil || len(p.Words) != 128 {
		t.Fatalf("%d words, %v", len(p.Words), err)
	}
	for i := range p.Words {
		p.Words[i] = uint32(i) + 1
	}
	kept, before := slices.Clone(p.Words[:70]), p
	if err := d.Grow(&p, 128, 70); err != nil || p != before {
		t.Errorf("enough memory was replaced: %v", err)
	}
	if err := d.Grow(&p, 129, 70); err != nil || len(p.Words) != 256 || !slices.Equal(p.Words[:70], kept) {
		t.Errorf("%d words begin with %d, want %d: %v", len(p.Words), p.Words[:70], kept, err)
	}
	p.Release(d.Runtime)
}
