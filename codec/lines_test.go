package codec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// checkLines checks a list of Append: the formulas of the format and At give its docIDs,
// and Find finds exactly these.
func checkLines(tb rapid.TB, l List, docs []uint32) {
	tb.Helper()
	if got := readLines(l); !slices.Equal(got, docs) {
		tb.Fatalf("%v: the formulas give other docIDs", l.Codec)
	}
	v, err := l.Lines()
	if err != nil {
		tb.Fatal(err)
	}
	for i, d := range docs {
		if got := v.At(uint32(i)); got != d {
			tb.Fatalf("%v: docID %d is %d, At says %d", l.Codec, i, d, got)
		}
		if got, found := v.Find(d); !found || got != i {
			tb.Fatalf("%v: docID %d is at %d, Find says %d, %v", l.Codec, d, i, got, found)
		}
		for _, x := range []uint32{d - 1, d + 1} {
			if _, in := slices.BinarySearch(docs, x); in {
				continue
			}
			if got, found := v.Find(x); found {
				tb.Fatalf("%v: Find says that %d is at %d", l.Codec, x, got)
			}
		}
	}
	for _, x := range []uint32{0, 1 << 31, math.MaxUint32} {
		if _, found := v.Find(x); found && !slices.Contains(docs, x) {
			tb.Fatalf("%v: Find finds %d", l.Codec, x)
		}
	}
}

// readLines is an oracle for line codecs: it decodes a valid list by the formulas of the
// format, modulo 2^32, like the kernels.
func readLines(l List) (docs []uint32) {
	if l.Len == 0 {
		return nil
	}
	w, n := l.Words, int(l.Len)
	nseg := (n + 255) / 256
	bits := func(payload, bit, b int) uint32 {
		if b == 0 {
			return 0
		}
		at, shift := payload+bit/32, bit%32
		v := uint64(w[at]) >> shift
		if shift+b > 32 {
			v |= uint64(w[at+1]) << (32 - shift)
		}
		return uint32(v << (64 - b) >> (64 - b))
	}
	lambda := func(payload, j, b int) uint32 { return bits(payload, j*b, b) }
	global := func(i int) uint32 {
		slope, intercept := uint64(w[0])|uint64(w[1])<<32, uint64(w[2])|uint64(w[3])<<32
		return uint32(int64(slope*uint64(i)+intercept) >> 30)
	}
	local := func(line uint32, j int) uint32 {
		return uint32(uint64(line&0xffff) * uint64(j) << (line >> 16 & 31) >> 16)
	}
	if l.Codec.Describe().Hashed {
		buckets := int(w[1])
		payload := 4 + 4*(buckets+1)
		for h := range buckets {
			r := w[4+4*h:]
			for j := range int(r[4] - r[0]) {
				docs = append(docs, r[1]+local(r[2], j)+lambda(payload+int(r[3]), j, int(r[2]>>21&63)))
			}
		}
		return docs
	}
	for i := range n {
		s, j := i/256, i%256
		switch l.Codec {
		case LRC:
			docs = append(docs, global(i)+lambda(8+nseg, i, int(w[4])))
		case LRCPFor:
			r := w[8+nseg+2*s:]
			at, b, hb, ib, en := 8+3*nseg+int(r[0]), int(r[1]&63), int(r[1]>>6&63), int(r[1]>>12&15), int(r[1]>>16)
			doc := global(i) + lambda(at, j, b)
			exceptions := at + (min(n-s*256, 256)*b+31)/32
			for e := range en {
				if int(bits(exceptions, e*ib, ib)) == j {
					doc += bits(exceptions, en*ib+e*hb, hb) << b
				}
			}
			docs = append(docs, doc)
		case LRCSeg:
			r := w[8+nseg+3*s:]
			docs = append(docs, global(i)+r[0]+lambda(8+4*nseg+int(r[2]), j, int(r[1])))
		case SegLRC:
			r := w[nseg+3*s:]
			docs = append(docs, r[0]+local(r[1], j)+lambda(4*nseg+int(r[2]), j, int(r[1]>>21&63)))
		}
	}
	return docs
}

// Lists far from a line lose and gain no docID.
func TestLinesGenerators(t *testing.T) {
	for _, id := range lineCodecs {
		for _, g := range codectest.Generators() {
			t.Run(id.String()+"/"+g.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					n := rapid.IntRange(0, 1200).Draw(t, "n")
					universe := rapid.Uint64Range(0, codectest.Universe).Draw(t, "universe")
					docs := g.List(rapid.Uint64().Draw(t, "seed"), n, universe)
					ratio := rapid.Float64Range(0, MaxExceptionRatio).Draw(t, "ratio")
					for _, forced := range []bool{false, true} {
						checkLines(t, encode(t, id, docs, Options{ExceptionRatio: ratio, Forced: forced}), docs)
					}
				})
			})
		}
	}
}

// Lists of arbitrary gaps, huge gaps among them, survive.
func TestLinesAnyGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 1000), rapid.Uint64Range(0, 1<<32-1))
		next := uint64(0)
		var docs []uint32
		for _, g := range rapid.SliceOfN(gap, 0, 700).Draw(t, "gaps") {
			if next+g > math.MaxUint32 {
				continue
			}
			docs = append(docs, uint32(next+g))
			next += g + 1
		}
		for _, id := range lineCodecs {
			opt := Options{ExceptionRatio: MaxExceptionRatio, Forced: true}
			checkRoundTrip(t, id, docs, opt)
			checkLines(t, encode(t, id, docs, opt), docs)
		}
	})
}

func TestLinesExtremes(t *testing.T) {
	const top = math.MaxUint32
	run := func(from uint32, n int) []uint32 {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = from + uint32(i)
		}
		return docs
	}
	for name, docs := range map[string][]uint32{
		"zero": {0}, "top": {top}, "both ends": {0, top}, "two at the top": {top - 1, top},
		"three":                {0, 1, top},
		"three the other way":  {0, top - 1, top},
		"run at the top":       run(top-2999, 3000),
		"runs at both ends":    append(run(0, 1500), run(top-1499, 1500)...),
		"one and a run":        append([]uint32{0}, run(top-1499, 1500)...),
		"a run and one":        append(run(0, 1500), top),
		"one bucket for all":   append([]uint32{0}, run(1<<31-1500, 1500)...),
		"every 2^24":           every(1<<24, 256),
		"every 2^24 less one":  every(1<<24-1, 257),
		"a jump in mid of 256": append(run(5, 128), run(top-127, 128)...),
	} {
		for _, id := range lineCodecs {
			t.Run(name+"/"+id.String(), func(t *testing.T) {
				checkRoundTrip(t, id, docs, Options{})
				checkLines(t, encode(t, id, docs, Options{}), docs)
			})
		}
	}
}

// Lengths around one segment and two segments.
func TestLineSegmentEnds(t *testing.T) {
	for _, n := range []int{1, 2, 255, 256, 257, 511, 512, 513} {
		docs := uniformList(n, 100*n)
		for _, id := range lineCodecs {
			checkRoundTrip(t, id, docs, Options{})
			checkLines(t, encode(t, id, docs, Options{}), docs)
		}
	}
}

// every returns up to n docIDs at distance k.
func every(k uint32, n int) (docs []uint32) {
	for i := range n {
		if d := uint64(i) * uint64(k); d <= math.MaxUint32 {
			docs = append(docs, uint32(d))
		}
	}
	return docs
}

// A list on a line of any slope has tables, but no payload.
func TestLinesOfOneSlope(t *testing.T) {
	for _, k := range []uint32{1, 2, 7, 1024} {
		docs := every(k, 1024)
		for id, want := range map[ID]int{LRC: 8 + 4, LRCSeg: 8 + 4*4, SegLRC: 4 * 4} {
			if got := Size(id, docs, Options{}); got != want {
				t.Errorf("%v, every %d: %d words, want %d", id, k, got, want)
			}
		}
	}
}

// A dense run is one bucket of any length without payload.
func TestBucketOfManyDocIDs(t *testing.T) {
	const n, top = 1 << 20, math.MaxUint32
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = top - n + 1 + uint32(i)
	}
	for _, id := range []ID{HSLRC128, HSLRC256} {
		l := encode(t, id, docs, Options{})
		v, err := l.Lines()
		if err != nil {
			t.Fatal(err)
		}
		if got := len(l.Words); got != 4+4*(v.Blocks()+1) {
			t.Errorf("%v takes %d words, %d buckets", id, got, v.Blocks())
		}
		for _, i := range []uint32{0, 1, n / 3, n - 1} {
			if j, found := v.Find(docs[i]); !found || j != int(i) || v.At(i) != docs[i] {
				t.Errorf("%v: docID %d: %d, %v; At: %d", id, docs[i], j, found, v.At(i))
			}
		}
		checkRoundTrip(t, id, docs, Options{})
	}
}

// Decoders must not allocate memory for a length that only the records declare.
func TestBucketIsNotTrusted(t *testing.T) {
	const top = math.MaxUint32
	unit := uint32(makeLineRecord(fitted{unitSlope, 0, 0}))
	for name, words := range map[string][]uint32{
		"no line":             {31, 1, 0, 0, 0, 0, 0, 0, top, 0, 0, 0},
		"too many in one":     {31, 1, 0, 0, 0, 0, unit, 0, top, 0, 0, 0},
		"too many in each":    {31, 2, 0, 0, 0, 5, unit, 0, 1 << 31, 1 << 31, unit, 0, top, 0, 0, 0},
		"below the bucket":    {31, 2, 0, 0, 0, 0, 0, 0, 0, 1, unit, 0, top, 0, 0, 0},
		"bits, but no words":  {31, 1, 0, 0, 0, 0, unit | 8<<21, 0, top, 0, 0, 0},
		"backwards":           {31, 2, 0, 0, 0, 0, unit, 0, top, 0, unit, 0, top, 0, 0, 0},
		"of a gigantic slope": {31, 1, 0, 0, 0, 0, uint32(makeLineRecord(fitted{1 << 60, 0, 0})), 0, top, 0, 0, 0},
	} {
		l := List{HSLRC256, top, words}
		checkTotalLines(t, l, nil, false)
		if got, err := l.AppendTo(nil); !errors.Is(err, ErrCorrupt) || cap(got) > 1<<20 {
			t.Errorf("%s: capacity %d, %v", name, cap(got), err)
		}
		if err := l.Validate(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinesOfOther(t *testing.T) {
	if _, err := (List{Codec: Raw}).Lines(); err == nil || errors.Is(err, ErrCorrupt) {
		t.Errorf("lines of a raw list: %v", err)
	}
	v, err := encode(t, SegLRC, []uint32{4}, Options{}).Lines()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "out of range") {
			t.Errorf("At beyond the end: %v", r)
		}
	}()
	v.At(1)
}

// checkTotalLines checks, for any words, that methods return. The answers for a valid
// list agree with docs.
func checkTotalLines(tb rapid.TB, l List, docs []uint32, good bool) {
	tb.Helper()
	if good {
		checkLines(tb, l, docs)
		return
	}
	v, err := l.Lines()
	if err != nil {
		checkCorrupt(tb, err, len(l.Words))
		return
	}
	for x := uint64(0); x <= math.MaxUint32; x += x/2 + 1 {
		v.Find(uint32(x))
		if uint32(x) < v.Len {
			v.At(uint32(x))
		}
	}
}

func TestGoldenLineCodecs(t *testing.T) {
	golden(t, "linecodecs.txt", func(t *testing.T, record map[string]string) string {
		id, err := ParseID(record["codec"])
		if err != nil {
			t.Fatal(err)
		}
		docs := numbers(t, record["docs"])
		l := encode(t, id, docs, Options{})
		checkLines(t, l, docs)
		return hex(l.Words)
	})
}

func FuzzLRC(f *testing.F)      { fuzzList(f, LRC) }
func FuzzLRCPFor(f *testing.F)  { fuzzList(f, LRCPFor) }
func FuzzLRCSeg(f *testing.F)   { fuzzList(f, LRCSeg) }
func FuzzSegLRC(f *testing.F)   { fuzzList(f, SegLRC) }
func FuzzHSLRC128(f *testing.F) { fuzzList(f, HSLRC128) }
func FuzzHSLRC256(f *testing.F) { fuzzList(f, HSLRC256) }

// Each case breaks one rule of a format. The error names the right word.
func TestLineRules(t *testing.T) {
	var docs []uint32 // two segments, four buckets of hslrc128, bits in all
	for i := range uint32(300) {
		docs = append(docs, 12*i+i*i%7)
	}
	docs[297] += 5 // an exception of lrcpfor
	for _, c := range []struct {
		name  string
		id    ID
		word  int // index of the damaged word; below 0 it counts from the end
		value uint32
		want  int // word in the error
	}{
		{"slope below one", LRC, 1, 0, 0},
		{"slope far too steep", LRC, 1, 1 << 31, 0},
		{"intercept below all docIDs", LRC, 3, 1 << 31, 0},
		{"33 bits", LRC, 4, 33, 0},
		{"fewer bits than the payload", LRC, 4, 1, 0},
		{"reserved word", LRC, 6, 1, 0},
		{"first key", LRC, 8, 1, 10},
		{"second key", LRC, 9, 2559, 10},
		{"bits behind the values", LRC, -1, math.MaxUint32, -1},
		{"reserved word", LRCPFor, 7, 1, 0},
		{"width of the list", LRCPFor, 4, 1, 11},
		{"first offset", LRCPFor, 10, 1, 10},
		{"reserved bits", LRCPFor, 11, 1 << 31, 11},
		{"indexes without exceptions", LRCPFor, 13, 5 | 1<<12, 13},
		{"bits behind the exceptions", LRCPFor, -1, math.MaxUint32, -1},
		{"reserved word", LRCSeg, 7, 1, 0},
		{"width of the list", LRCSeg, 4, 1, 10},
		{"base", LRCSeg, 10, 1 << 20, 10},
		{"33 bits", LRCSeg, 11, 33, 10},
		{"first offset", LRCSeg, 12, 1, 10},
		{"offset far outside", LRCSeg, 15, math.MaxUint32, 10},
		{"base", SegLRC, 2, 5, 2},
		{"reserved bits", SegLRC, 3, 1 << 31, 2},
		{"mantissa below a half", SegLRC, 3, 4<<16 | 0x7fff, 2},
		{"no exponent", SegLRC, 3, 0x8000, 2},
		{"line above all docIDs", SegLRC, 3, 31<<16 | 0xffff, 2},
		{"width of another payload", SegLRC, 6, 4<<16 | 0xa000 | 32<<21, 5},
		{"shift", HSLRC128, 0, 32, 0},
		{"buckets", HSLRC128, 1, 1, 0},
		{"reserved word", HSLRC128, 2, 1, 0},
		{"first start", HSLRC128, 4, 1, 0},
		{"first offset", HSLRC128, 7, 1, 4},
		{"start above the next", HSLRC128, 8, 301, 4},
		{"last bucket empty", HSLRC128, 16, 300, 0},
		{"length", HSLRC128, 20, 299, 0},
		{"sentinel", HSLRC128, 21, 1, 0},
		{"end of payload", HSLRC128, 23, 1, 0},
	} {
		t.Run(fmt.Sprintf("%v/%s", c.id, c.name), func(t *testing.T) {
			l := encode(t, c.id, docs, Options{ExceptionRatio: 0.1, Forced: true})
			if !checkTotal(t, l) {
				t.Fatal("the list is not good to begin with")
			}
			at, want := c.word, c.want
			if at < 0 {
				at, want = at+len(l.Words), want+len(l.Words)
			}
			l.Words[at] = c.value
			if checkTotal(t, l) {
				t.Fatal("taken")
			}
			var e *CorruptError
			if err := l.Validate(); !errors.As(err, &e) || e.Word != want || e.Codec != c.id {
				t.Errorf("%v, want word %d", err, want)
			}
		})
	}
}
