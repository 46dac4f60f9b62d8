package codec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// readGaps is an oracle for gap codecs: a slow reader by the description of the formats,
// which shares no code with the decoders. It panics on invalid lists.
func readGaps(l List) (docs []uint32) {
	n, words := int(l.Len), l.Words
	if n == 0 {
		return nil
	}
	nseg := (n + 127) / 128
	last, rest := words[:nseg], words[nseg:]
	var values []uint32
	switch l.Codec {
	case VByte:
		values = readVByte(n, rest)
	case Rice:
		values = readRice(n, rest)
	case PFD:
		values = readPFD(n, rest)
	case NewPFD:
		values = readNewPFD(n, rest)
	case RPFD:
		values = readRPFD(n, rest)
	}
	docID := uint32(math.MaxUint32)
	for i, v := range values {
		docID += v + 1
		docs = append(docs, docID)
		if (i%128 == 127 || i == n-1) && last[i/128] != docID {
			panic(fmt.Sprintf("segment %d ends at %d, want %d", i/128, last[i/128], docID))
		}
	}
	return docs
}

func readVByte(n int, words []uint32) (values []uint32) {
	nseg := (n + 127) / 128
	for seg := range nseg {
		r := bitReader{words: words[nseg+int(words[seg]):]}
		for range min(n-128*seg, 128) {
			v := uint32(0)
			for shift := 0; ; shift += 7 {
				b := r.read(8)
				v |= b % 128 << shift
				if b < 128 {
					break
				}
			}
			values = append(values, v)
		}
	}
	return values
}

func readRice(n int, words []uint32) (values []uint32) {
	nseg := (n + 127) / 128
	ones, b := words[:nseg], int(words[nseg])
	binary := bitReader{words: words[nseg+1:]}
	unary := bitReader{words: words[nseg+1+(n*b+31)/32:]}
	sum := uint32(0)
	for i := range n {
		if i%128 == 0 && ones[i/128] != sum {
			panic(fmt.Sprintf("sum before segment %d is %d, want %d", i/128, ones[i/128], sum))
		}
		q := uint32(0)
		for unary.read(1) == 1 {
			q++
		}
		sum += q
		values = append(values, q<<b|binary.read(b))
	}
	return values
}

func readPFD(n int, words []uint32) (values []uint32) {
	nseg := (n + 127) / 128
	for seg := range nseg {
		count := min(n-128*seg, 128)
		header := words[2*seg+1]
		b, first, en := int(header%256), int(header>>8%256), int(header>>16)
		payload := words[2*nseg+int(words[2*seg]):]
		r := bitReader{words: payload}
		slots := make([]uint32, count)
		for i := range slots {
			slots[i] = r.read(b)
		}
		exceptions := payload[(count*b+31)/32:]
		for i := first; en > 0; en-- {
			distance := int(slots[i])
			slots[i], exceptions = exceptions[0], exceptions[1:]
			i += distance + 1
		}
		values = append(values, slots...)
	}
	return values
}

func readNewPFD(n int, words []uint32) (values []uint32) {
	nseg := (n + 127) / 128
	for seg := range nseg {
		count := min(n-128*seg, 128)
		header := words[2*seg+1]
		b, en, pw := int(header%256), int(header>>8%256), int(header>>16)
		payload := words[2*nseg+int(words[2*seg]):]
		r := bitReader{words: payload}
		for range count {
			values = append(values, r.read(b))
		}
		skips := readS16(en, payload[(count*b+31)/32:])
		overflows := readS16(en, payload[(count*b+31)/32+pw:])
		i := 128*seg - 1
		for j, skip := range skips {
			i += int(skip) + 1
			values[i] += (overflows[j] + 1) << b
		}
	}
	return values
}

// readS16 has its own table, in the notation of the papers.
func readS16(n int, words []uint32) (values []uint32) {
	table := []string{
		"1111111111111111111111111111", "222222211111111111111", "111111122222221111111", "111111111111112222222",
		"22222222222222", "433333333", "34444333", "4444444",
		"555544", "445555", "66655", "55666", "7777", "[99", "EE", "S",
	}
	width := func(c byte) int { return map[byte]int{'[': 10, 'E': 14, 'S': 28}[c] }
	for len(values) < n {
		row := table[words[0]>>28]
		r := bitReader{words: words}
		for i := 0; i < len(row) && len(values) < n; i++ {
			w := int(row[i] - '0')
			if w > 9 {
				w = width(row[i])
			}
			values = append(values, r.read(w))
		}
		words = words[1:]
	}
	return values
}

func readRPFD(m int, words []uint32) (values []uint32) {
	header, en := words[0], int(words[1])
	b, level := int(header%256), header>>8
	if en == 0 {
		r := bitReader{words: words[2:]}
		for range m {
			values = append(values, r.read(b))
		}
		return values
	}
	blocks := (m + 127) / 128
	overAt, starts := words[2], words[3:3+blocks]
	r := bitReader{words: words[3+blocks:]}
	for range m {
		values = append(values, r.read(b))
	}
	offsets, overflows := words[3+blocks+(m*b+31)/32:], words[overAt:]
	if level > 0 {
		offsets, overflows = readRPFD(en, offsets), readRPFD(en, overflows)
	}
	for block, from := range starts {
		to := en
		if block+1 < blocks {
			to = int(starts[block+1])
		}
		i := 128*block - 1
		for j := int(from); j < to; j++ {
			i += int(offsets[j]) + 1
			values[i] += (overflows[j] + 1) << b
		}
	}
	return values
}

var gapCodecs = []ID{VByte, Rice, PFD, NewPFD, RPFD}

// The words of every shape agree with the description of the formats.
func TestGapFormats(t *testing.T) {
	for _, id := range gapCodecs {
		for _, g := range codectest.Generators() {
			t.Run(id.String()+"/"+g.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					n := rapid.IntRange(0, 1000).Draw(t, "n")
					universe := rapid.Uint64Range(0, codectest.Universe).Draw(t, "universe")
					docs := g.List(rapid.Uint64().Draw(t, "seed"), n, universe)
					opt := Options{RPFDLevels: rapid.IntRange(0, MaxRPFDLevels).Draw(t, "levels")}
					if got := readGaps(encode(t, id, docs, opt)); !slices.Equal(got, docs) {
						t.Fatalf("the oracle reads %v, want %v", got, docs)
					}
				})
			})
		}
	}
}

// mixed draws docIDs with gaps of mixed sizes, so that all codecs have exceptions at
// any place.
func mixed(t *rapid.T) []uint32 {
	return slices.Compact(slices.Sorted(slices.Values(drawValues(t))))
}

func TestGapCodecsOnMixedGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := mixed(t)
		for _, id := range gapCodecs {
			opt := Options{RPFDLevels: rapid.IntRange(0, MaxRPFDLevels).Draw(t, "levels")}
			checkRoundTrip(t, id, docs, opt)
			checkBlocks(t, encode(t, id, docs, opt), docs)
		}
	})
}

// Each width needs the fewest words. An oracle encodes with all widths.
func TestGapWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := mixed(t)
		if len(docs) == 0 {
			return
		}
		var buf [SegmentLen]uint32
		v := gaps(&buf, docs, 0)

		least := math.MaxInt
		for b := range 32 {
			n := len(docs) * b
			for _, g := range allGaps(docs) {
				n += int(g>>b) + 1
			}
			least = min(least, n)
		}
		b, ones := riceWidth(docs)
		if got := len(docs)*int(b) + len(docs) + int(ones); got != least {
			t.Fatalf("rice: %d bits with b = %d, %d would do", got, b, least)
		}
		if b < 31 && ones > 2*uint64(len(docs)) {
			t.Fatalf("rice: %d ones for %d values", ones, len(docs))
		}

		least = math.MaxInt
		for b := range 33 {
			n, before := (len(v)*b+31)/32, -1
			for i, x := range v {
				if uint64(x) >= 1<<b {
					if n++; before >= 0 {
						for ; i-before > 1<<b; before += 1 << b {
							n++
						}
					}
					before = i
				}
			}
			least = min(least, n)
		}
		if _, _, got := choosePFD(v, Options{}); got != least {
			t.Fatalf("pfd: %d words, %d would do", got, least)
		}

		least = math.MaxInt
		for b := range 33 {
			n := (len(v)*b + 31) / 32
			var skip, over []uint32
			before, fits := -1, true
			for i, x := range v {
				if x>>b != 0 {
					skip, over = append(skip, uint32(i-before-1)), append(over, x>>b-1)
					fits = fits && x>>b-1 < 1<<28
					before = i
				}
			}
			if fits {
				least = min(least, n+len(appendS16(nil, skip))+len(appendS16(nil, over)))
			}
		}
		if _, got := chooseNewPFD(v, Options{}); got != least {
			t.Fatalf("newpfd: %d words, %d would do", got, least)
		}

		opt := Options{RPFDLevels: rapid.IntRange(0, MaxRPFDLevels).Draw(t, "levels")}
		if got, want := sizeRPFD(docs, opt)-segments(uint32(len(docs))), rpfdWords(allGaps(docs), opt.RPFDLevels); got != want {
			t.Fatalf("rpfd: %d words, %d would do", got, want)
		}
	})
}

// rpfdWords tries all widths of an array with at most 3/5 of the values as exceptions.
func rpfdWords(values []uint32, level int) int {
	if level < 0 {
		return len(values)
	}
	least := math.MaxInt
	for b := range 33 {
		n := 2 + (len(values)*b+31)/32
		var skip, over []uint32
		before := -1
		for i, x := range values {
			if i%128 == 0 {
				before = i - 1
			}
			if x>>b != 0 {
				skip, over = append(skip, uint32(i-before-1)), append(over, x>>b-1)
				before = i
			}
		}
		if len(over) > len(values)*3/5 {
			continue
		}
		if len(over) > 0 {
			n += 1 + (len(values)+127)/128 + rpfdWords(skip, level-1) + rpfdWords(over, level-1)
		}
		least = min(least, n)
	}
	return least
}

func TestS16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Uint32Range(0, 1<<rapid.IntRange(0, 28).Draw(t, "bits")-1)
		values := rapid.SliceOfN(rapid.OneOf(small, rapid.Uint32Range(0, 3), rapid.Uint32Range(0, s16Max)), 0, 128).Draw(t, "values")
		words := appendS16(nil, values)
		if got := readS16(len(values), words); !slices.Equal(got, values) {
			t.Fatalf("the oracle reads %v, want %v", got, values)
		}
		if len(words) != s16Words(values) {
			t.Fatalf("%d words, announced %d", len(words), s16Words(values))
		}
		got := make([]uint32, len(values))
		if !decodeS16(got, words) || !slices.Equal(got, values) {
			t.Fatalf("%v, want %v", got, values)
		}
		if decodeS16(make([]uint32, len(values)+28), words) || decodeS16(got, append(words, 0)) {
			t.Fatal("takes another number of values")
		}
	})
	for selector, row := range s16Widths {
		sum := 0
		for _, width := range row {
			sum += int(width)
		}
		if sum != 28 {
			t.Errorf("row %d has %d bits", selector, sum)
		}
	}
}

// Sizes agree with figure 3 of Ding et al. on uniform lists: Rice is the smallest. RPFD
// is smaller than a width for each segment with one level, and larger with none. On
// lists of any shape no codec takes much more room than Raw.
func TestGapSizes(t *testing.T) {
	size := func(id ID, docs []uint32, levels int) int {
		return Size(id, docs, Options{ExceptionRatio: 0.1, RPFDLevels: levels})
	}
	for _, k := range []int{4, 20, 100, 1000} {
		docs := uniformList(1<<14, k<<14)
		level0, level1, parapfor := size(RPFD, docs, 0), size(RPFD, docs, 1), size(ParaPFor, docs, 0)
		if !(level1 <= parapfor && level1 < level0 && size(Rice, docs, 0) < level1) {
			t.Errorf("one in %d: rpfd %d and %d words, parapfor %d, rice %d", k, level0, level1, parapfor, size(Rice, docs, 0))
		}
		for _, id := range []ID{VByte, PFD, NewPFD} {
			if size(id, docs, 0) < size(Rice, docs, 0) {
				t.Errorf("one in %d: %v is smaller than rice", k, id)
			}
		}
		if size(NewPFD, docs, 0) > size(PFD, docs, 0) {
			t.Errorf("one in %d: newpfd is larger than pfd", k)
		}
	}
	for _, g := range codectest.Generators() {
		for _, universe := range []uint64{1 << 13, 1 << 20, codectest.Universe} {
			docs := g.List(1, 5000, universe)
			for _, id := range gapCodecs {
				limit := len(docs) + 5*segments(uint32(len(docs)))
				if id == VByte {
					limit += len(docs) / 4
				}
				if got := size(id, docs, 1); got > limit {
					t.Errorf("%s below %d: %v takes %d words for %d docIDs", g.Name, universe, id, got, len(docs))
				}
			}
		}
	}
}

func TestVByteLen(t *testing.T) {
	for b := range 33 {
		v := uint32(1<<b - 1) // b bits
		if got, want := vbyteLen(v), max((bits.Len32(v)+6)/7, 1); got != want {
			t.Errorf("%d takes %d bytes, want %d", v, got, want)
		}
	}
}
