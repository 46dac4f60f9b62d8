package lists

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// decodedCodecs are the codecs with a decoder.
var decodedCodecs = []codec.ID{codec.ParaPFor, codec.Bitset, codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD,
	codec.LRC, codec.LRCPFor, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256}

// decoding is a decoder with its arguments: runs of the lists of src, all of one
// codec, which lie one behind the other in out, each from a multiple of SegmentLen
// on.
type decoding struct {
	b             *device.Runtime
	kernel        *ocl.Kernel
	groups, local int
	lists         *Arena
	batch, out    *ocl.MemObject
	ends          []uint32 // where each run ends in out
	words         int      // of out
}

// guard is the number of words behind the last run that must keep their value mark.
const guard, mark = 64, 0xabcdabcd

// prepare makes a decoding of runs {list, first element, elements}, with a text in
// front of the kernels.
func prepare(t testing.TB, b *device.Runtime, src *plan.Source, runs [][3]uint32, text string) *decoding {
	t.Helper()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ranges, places, err := Layout(src, 1<<34, MaxArenas)
	try(err)
	d := DecoderOf(src.Lists[0].Codec)
	x := &decoding{b: b}
	x.groups, x.local = decodeShape(b.Tuning, d, len(runs))
	x.lists, err = LoadArena(t.Context(), b, src, ranges)
	try(err)
	var up []uint32
	at := uint32(0)
	for _, r := range runs {
		l, p := src.Lists[r[0]], places[r[0]]
		up = append(up, p.Off, l.Len, l.Words, uint32(l.Codec)|p.Buffer<<8, r[1], r[2], at/4, 0)
		at += (r[2] + codec.SegmentLen - 1) / codec.SegmentLen * codec.SegmentLen
		x.ends = append(x.ends, at)
	}
	x.words = int(at) + guard
	var program *ocl.Program
	if text == "" {
		program, err = b.ProgramOf(Decoders[d].KernelID)
	} else if program, err = b.Build(text + b.Source(Decoders[d].KernelID)); err == nil {
		defer program.Release()
	}
	try(err)
	x.kernel, err = program.CreateKernel(Decoders[d].Name)
	try(err)
	for to, words := range map[**ocl.MemObject][]uint32{&x.batch: up, &x.out: slices.Repeat([]uint32{mark}, x.words)} {
		*to, err = b.Buffer(ocl.MemReadWrite, uint64(4*len(words)), "a test")
		try(err)
		e, err := b.Transfer.EnqueueWriteBuffer(*to, true, 0, 4*len(words), unsafe.Pointer(&words[0]), nil)
		try(err)
		e.Release()
	}
	for i, m := range x.lists.Buffers {
		try(x.kernel.SetArgBuffer(i, m))
	}
	try(x.kernel.SetArgBuffer(4, x.batch))
	try(x.kernel.SetArgUint32(5, 0))
	try(x.kernel.SetArgBuffer(6, x.out))
	return x
}

// launch runs the kernel; the event is the caller's.
func (x *decoding) launch(t testing.TB) *ocl.Event {
	t.Helper()
	e, err := x.b.Transfer.EnqueueNDRangeKernel(x.kernel, nil, []int{x.groups * x.local}, []int{x.local}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// read gives the docIDs of every run of `runs`.
func (x *decoding) read(t testing.TB, runs [][3]uint32) (docs [][]uint32) {
	t.Helper()
	out := make([]uint32, x.words)
	e, err := x.b.Transfer.EnqueueReadBuffer(x.out, true, 0, 4*len(out), unsafe.Pointer(&out[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Release()
	if i := slices.IndexFunc(out[len(out)-guard:], func(w uint32) bool { return w != mark }); i >= 0 {
		t.Fatalf("word %d behind the runs was written", i)
	}
	at := uint32(0)
	for i, r := range runs {
		docs = append(docs, out[at:at+r[2]])
		at = x.ends[i]
	}
	return docs
}

func (x *decoding) release() {
	x.kernel.Release()
	x.batch.Release()
	x.out.Release()
	x.lists.Release()
}

// decodeRuns decodes runs {list, first element, elements}.
func decodeRuns(t testing.TB, b *device.Runtime, src *plan.Source, runs [][3]uint32) [][]uint32 {
	t.Helper()
	x := prepare(t, b, src, runs, "")
	defer x.release()
	x.launch(t).Release()
	return x.read(t, runs)
}

// wholeRuns cuts list h into runs of `run` elements.
func wholeRuns(runs [][3]uint32, h plan.Handle, n, run uint32) [][3]uint32 {
	for first := uint32(0); first < n; first += run {
		runs = append(runs, [3]uint32{h, first, min(n-first, run)})
	}
	return runs
}

// TestDecoders decodes every codec on the device: lists of every shape, whole and
// by runs that begin anywhere a tile may.
func TestDecoders(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
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

func checkDecoder(t *testing.T, b *device.Runtime, id codec.ID, opt codec.Options) {
	src := &plan.Source{Docs: 1<<32 - 1}
	var postings [][]uint32
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
		postings, names = append(postings, docs), append(names, name)
	}
	sizes := []int{300, 5000}
	if devicetest.Small() {
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
	for h, docs := range postings {
		n := uint32(len(docs))
		runs = wholeRuns(runs, uint32(h), n, RunLen)
		first := r.Uint32N((n+codec.SegmentLen-1)/codec.SegmentLen) * codec.SegmentLen
		runs = append(runs, [3]uint32{uint32(h), first, 1 + r.Uint32N(min(n-first, RunLen))})
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	for i, got := range decodeRuns(t, b, src, runs) {
		h, first, n := runs[i][0], runs[i][1], runs[i][2]
		want := postings[h][first : first+n]
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
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		for _, id := range decodedCodecs {
			t.Run(id.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(8, uint64(id)))
				rounds := 40
				if devicetest.Small() {
					rounds = 8
				}
				for range rounds {
					docs := codectest.Generators()[4+r.IntN(3)].List(r.Uint64(), 1+r.IntN(600), 1<<16)
					src := &plan.Source{Docs: 1<<32 - 1}
					h, err := src.Append(id, docs, codec.Options{ExceptionRatio: 0.3, RPFDLevels: r.IntN(5)})
					if err != nil {
						t.Fatal(err)
					}
					devicetest.Damage(r, src, h)
					l := src.Lists[h]
					decodeRuns(t, b, src, wholeRuns(nil, h, min(l.Len, 5000), RunLen))
				}
			})
		}
	})
}

// TestDecodeBehind decodes a list whose last word lies behind the end of the list: it changes nothing.
func TestDecodeBehind(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		var all [2][]uint32
		for i := range all {
			src := &plan.Source{Docs: 1<<32 - 1}
			for range 2 {
				if _, err := src.Append(codec.ParaPFor, codectest.Generators()[4].List(1, codec.SegmentLen, 1<<20), codec.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			l := &src.Lists[0]
			l.Words--
			src.Words[l.Off+uint64(l.Words)] = uint32(i) * 0x12345678
			all[i] = decodeRuns(t, b, src, [][3]uint32{{0, 0, l.Len}})[0]
		}
		if !slices.Equal(all[0], all[1]) {
			t.Error("the word behind the list changes its docIDs")
		}
	})
}
