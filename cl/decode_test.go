package cl

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// decodedCodecs are those that a decoder turns into docIDs.
var decodedCodecs = []codec.ID{codec.ParaPFor, codec.Bitset, codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD,
	codec.LRC, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256}

// decodeRuns runs the decoder of the lists of src, all of one codec, over the
// given runs {list, first element, elements}, which lie one behind the other in
// what comes back, each from a multiple of SegmentLen on.
func decodeRuns(t testing.TB, b *Backend, src *plan.Source, runs [][3]uint32) [][]uint32 {
	t.Helper()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ranges, places, err := layout(src, 1<<34)
	try(err)
	lists, err := b.loadArena(src, ranges)
	try(err)
	defer lists.release(b)
	var up []uint32
	at, ends := uint32(0), []uint32{}
	for _, r := range runs {
		l, p := src.Lists[r[0]], places[r[0]]
		up = append(up, p.off, l.Len, l.Words, uint32(l.Codec)|p.buffer<<8, r[1], r[2], at/4, 0)
		at += (r[2] + codec.SegmentLen - 1) / codec.SegmentLen * codec.SegmentLen
		ends = append(ends, at)
	}
	out := make([]uint32, at+guard)
	for i := range out {
		out[i] = 0xabcdabcd
	}
	d := decoderOf(src.Lists[0].Codec)
	p, err := b.programOf(decoders[d])
	try(err)
	k, err := p.CreateKernel(decoders[d].name)
	try(err)
	defer k.Release()
	var buffers [2]*ocl.MemObject
	for i, words := range [][]uint32{up, out} {
		buffers[i], err = b.buffer(ocl.MemReadWrite, uint64(4*len(words)), "a test")
		try(err)
		defer buffers[i].Release()
		e, err := b.transfer.EnqueueWriteBuffer(buffers[i], true, 0, 4*len(words), unsafe.Pointer(&words[0]), nil)
		try(err)
		e.Release()
	}
	for i, m := range lists.buffers {
		try(k.SetArgBuffer(i, m))
	}
	try(k.SetArgBuffer(4, buffers[0]))
	try(k.SetArgUint32(5, 0))
	try(k.SetArgBuffer(6, buffers[1]))
	groups, local := b.tuning.decodeShape(d, len(runs))
	e, err := b.transfer.EnqueueNDRangeKernel(k, nil, []int{groups * local}, []int{local}, nil)
	try(err)
	e.Release()
	e, err = b.transfer.EnqueueReadBuffer(buffers[1], true, 0, 4*len(out), unsafe.Pointer(&out[0]), nil)
	try(err)
	e.Release()
	for i, w := range out[at:] {
		if w != 0xabcdabcd {
			t.Fatalf("%s: word %d behind the runs was written", decoders[d].name, i)
		}
	}
	var docs [][]uint32
	for i, r := range runs {
		begin := uint32(0)
		if i > 0 {
			begin = ends[i-1]
		}
		docs = append(docs, out[begin:begin+r[2]])
	}
	return docs
}

// guard is how many words behind the last run must stay as they were.
const guard = 64

// wholeRuns cuts list h into runs as rounds do.
func wholeRuns(runs [][3]uint32, h plan.Handle, n uint32) [][3]uint32 {
	for first := uint32(0); first < n; first += runLen {
		runs = append(runs, [3]uint32{h, first, min(n-first, runLen)})
	}
	return runs
}

// forShapes opens the device once for each shape of the kernels.
func forShapes(t *testing.T, f func(t *testing.T, b *Backend)) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) {
			b, err := Open(t.Context(), d, Options{Tuning: &shape, SkipSelfTest: true})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			f(t, b)
		})
	}
}

// TestDecoders decodes every codec on the device: lists of every shape, whole and
// by runs that begin anywhere a tile may.
func TestDecoders(t *testing.T) {
	forShapes(t, func(t *testing.T, b *Backend) {
		for _, id := range decodedCodecs {
			t.Run(id.String(), func(t *testing.T) {
				levels := []int{1}
				if id == codec.RPFD {
					levels = []int{0, 1, 2, 3, 4}
				}
				for _, level := range levels {
					opt := codec.Options{ExceptionRatio: 0.3, RPFDLevels: level}
					checkDecoder(t, b, id, opt)
				}
			})
		}
	})
}

func checkDecoder(t *testing.T, b *Backend, id codec.ID, opt codec.Options) {
	src := &plan.Source{Docs: 1<<32 - 1}
	var lists [][]uint32
	var names []string
	add := func(name string, docs []uint32) {
		if len(docs) == 0 {
			return
		}
		h, err := src.Append(id, docs, opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := src.List(h).AppendTo(nil); err != nil || !slices.Equal(got, docs) {
			t.Fatalf("%s: pure Go does not decode it: %v", name, err)
		}
		lists, names = append(lists, docs), append(names, name)
	}
	sizes := []int{300, 5000}
	if small() {
		sizes = []int{300}
	}
	for i, g := range codectest.Generators() {
		for _, n := range sizes {
			for _, universe := range []uint64{uint64(n), 1 << 15, 1 << 24, 1<<32 - 1} {
				if id == codec.Bitset && universe > 1<<24 {
					continue // half a gibibyte each
				}
				add(fmt.Sprintf("%s of %d below %d", g.Name, n, universe), g.List(uint64(i), n, universe))
			}
		}
	}
	r := rand.New(rand.NewPCG(7, uint64(id)))
	var runs [][3]uint32
	for h, docs := range lists {
		n := uint32(len(docs))
		runs = wholeRuns(runs, uint32(h), n)
		first := r.Uint32N((n+codec.SegmentLen-1)/codec.SegmentLen) * codec.SegmentLen
		runs = append(runs, [3]uint32{uint32(h), first, 1 + r.Uint32N(min(n-first, runLen))})
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	for i, got := range decodeRuns(t, b, src, runs) {
		h, first, n := runs[i][0], runs[i][1], runs[i][2]
		want := lists[h][first : first+n]
		if !slices.Equal(got, want) {
			k := 0
			for got[k] == want[k] {
				k++
			}
			t.Errorf("%+v, %s: run of %d from %d: element %d is %d, want %d", opt, names[h], n, first, k, got[k], want[k])
			if t.Failed() && i > 20 {
				return
			}
		}
	}
}

// TestDecodeCorrupt decodes words that no encoder wrote: anything may come out,
// but nothing else is written, and the kernels end. Oclgrind sees loads outside
// of buffers.
func TestDecodeCorrupt(t *testing.T) {
	forShapes(t, func(t *testing.T, b *Backend) {
		for _, id := range decodedCodecs {
			t.Run(id.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(8, uint64(id)))
				rounds := 40
				if small() {
					rounds = 8
				}
				for range rounds {
					docs := codectest.Generators()[4+r.IntN(3)].List(r.Uint64(), 1+r.IntN(600), 1<<16)
					src := &plan.Source{Docs: 1<<32 - 1}
					h, err := src.Append(id, docs, codec.Options{ExceptionRatio: 0.3, RPFDLevels: r.IntN(5)})
					if err != nil {
						t.Fatal(err)
					}
					damage(r, src, h)
					l := src.Lists[h]
					decodeRuns(t, b, src, wholeRuns(nil, h, min(l.Len, 5000)))
				}
			})
		}
	})
}

// damage changes words, length or number of docIDs of the only list of src.
func damage(r *rand.Rand, src *plan.Source, h plan.Handle) {
	l := &src.Lists[h]
	switch r.IntN(4) {
	case 0: // words cut off
		l.Words = r.Uint32N(l.Words + 1)
		src.Words = src.Words[:l.Words]
	case 1: // more docIDs than were encoded
		l.Len += r.Uint32N(1 << r.IntN(32))
	case 2: // noise
		bytes := make([]byte, 4)
		for i := range src.Words {
			binary.LittleEndian.PutUint32(bytes, r.Uint32())
			src.Words[i] = binary.LittleEndian.Uint32(bytes)
		}
	}
	for range 1 + r.IntN(8) {
		if len(src.Words) > 0 {
			i := r.IntN(len(src.Words))
			src.Words[i] = [...]uint32{0, 1, 1 << 31, 0xffffffff, src.Words[i] ^ 1<<r.IntN(32), r.Uint32()}[r.IntN(6)]
		}
	}
}
