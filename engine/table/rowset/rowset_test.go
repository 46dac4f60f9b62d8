package rowset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/wah"
)

// shapes make a set of rows; a container of Roaring has 65,536.
var shapes = map[string]func(r *rand.Rand, row uint32) bool{
	"zeros":       func(*rand.Rand, uint32) bool { return false },
	"ones":        func(*rand.Rand, uint32) bool { return true },
	"alternating": func(_ *rand.Rand, row uint32) bool { return row%2 == 0 },
	"first":       func(_ *rand.Rand, row uint32) bool { return row == 0 },
	"one-fill":    func(_ *rand.Rand, row uint32) bool { return row > 20 && row < 66_000 },
	"runs":        func(_ *rand.Rand, row uint32) bool { return row>>8%3 == 0 },
	"sparse":      func(r *rand.Rand, _ uint32) bool { return r.IntN(500) == 0 },
	"dense":       func(r *rand.Rand, _ uint32) bool { return r.IntN(5) != 0 },
	"array-4096":  func(_ *rand.Rand, row uint32) bool { return row%16 == 3 },
	"bitset-4097": func(_ *rand.Rand, row uint32) bool { return row%16 == 3 || row&0xffff == 5 },
	"containers":  func(r *rand.Rand, row uint32) bool { return row>>16%2 == 1 && r.IntN(3) == 0 },
}

var sizes = []uint32{0, 1, 2, 31, 32, 63, 64, 65, 1000, 65535, 65536, 131_073}

// every runs a test of each shape and size, with the rows as a list too.
func every(t *testing.T, test func(t *testing.T, rows uint32, ids []uint32, set []uint64)) {
	for name, is := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, rows := range sizes {
				r := rand.New(rand.NewPCG(1, uint64(rows)))
				var ids []uint32
				set := make([]uint64, wah.Bitset(uint64(rows)))
				for row := range rows {
					if is(r, row) {
						ids = append(ids, row)
						set[row/64] |= 1 << (row % 64)
					}
				}
				test(t, rows, ids, set)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	every(t, func(t *testing.T, rows uint32, ids []uint32, set []uint64) {
		if got := AppendIDs([]uint32{7}, set); got[0] != 7 || !slices.Equal(got[1:], ids) {
			t.Fatalf("%d rows: %d ids, want %d", rows, len(got)-1, len(ids))
		}
		for _, n := range []int{0, 1, len(ids) / 2, len(ids), len(ids) + 1} {
			if got := AppendFirst([]uint32{7}, set, n); !slices.Equal(got[1:], ids[:min(n, len(ids))]) {
				t.Fatalf("%d rows: the first %d ids are %d others", rows, n, len(got)-1)
			}
		}
		shuffled := slices.Clone(ids)
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(ids), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got, err := FromIDs(shuffled, rows); err != nil || !slices.Equal(got, set) {
			t.Fatalf("%d rows: another set: %v", rows, err)
		}
	})
	if _, err := FromIDs([]uint32{3, 9}, 9); err == nil {
		t.Error("row 9 of 9")
	}
}

func TestAll(t *testing.T) {
	for _, n := range []uint32{0, 1, 63, 64, 65, 130} {
		all := roaring.New()
		all.AddRange(0, uint64(n))
		if want, err := FromRoaring(all, n); err != nil || !slices.Equal(All(n), want) {
			t.Errorf("%d rows: %x, want %x, %v", n, All(n), want, err)
		}
	}
}

func TestRanges(t *testing.T) {
	every(t, func(t *testing.T, rows uint32, ids []uint32, set []uint64) {
		var got []uint32
		before := uint32(math.MaxUint32 - 1)
		for first, last := range Ranges(set) {
			if first > last || first == before+1 {
				t.Fatalf("%d rows: rows %d to %d behind %d", rows, first, last, before)
			}
			for row := first; row <= last; row++ {
				got = append(got, row)
			}
			before = last
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("%d rows: %d ids, want %d", rows, len(got), len(ids))
		}
		for range Ranges(set) {
			break
		}
	})
}

func TestRoaring(t *testing.T) {
	every(t, func(t *testing.T, rows uint32, ids []uint32, set []uint64) {
		b := ToRoaring(set)
		if !slices.Equal(b.ToArray(), ids) {
			t.Fatalf("%d rows: another bitmap", rows)
		}
		if err := b.Validate(); err != nil {
			t.Fatal(err)
		}
		clear := slices.Clone(set)
		for _, plain := range []bool{false, true} {
			if plain { // as it is without runs
				b = roaring.BitmapOf(ids...)
			}
			data, err := b.ToBytes()
			if err != nil {
				t.Fatal(err)
			}
			read, err := ReadRoaring(bytes.NewReader(data), rows)
			if err != nil || !read.Equals(b) {
				t.Fatalf("%d rows: read as another bitmap: %v", rows, err)
			}
			if got, err := FromRoaring(read, rows); err != nil || !slices.Equal(got, set) {
				t.Fatalf("%d rows: another set: %v", rows, err)
			}
			if len(ids) > 0 {
				least := ids[len(ids)-1] // one row too few
				if _, err := ReadRoaring(bytes.NewReader(data), least); !errors.Is(err, ErrRoaring) {
					t.Fatalf("row %d of %d: %v", least, least, err)
				}
				if _, err := FromRoaring(b, least); err == nil {
					t.Fatalf("row %d of %d", least, least)
				}
			}
		}
		b.Clear()
		if !slices.Equal(set, clear) {
			t.Fatal("the set has changed with the bitmap")
		}
	})
}

// Errors name the byte and the cause.
func TestReadRoaringErrors(t *testing.T) {
	le := binary.LittleEndian
	file := func(parts ...any) []byte {
		var data []byte
		for _, p := range parts {
			data, _ = binary.Append(data, le, p)
		}
		return data
	}
	u16 := func(v ...uint16) []uint16 { return v }
	u32 := func(v ...uint32) []uint32 { return v }
	one := file(u32(12346, 1), u16(0, 1), u32(16), u16(3, 5)) // rows 3 and 5
	for name, c := range map[string]struct {
		data []byte
		rows uint32
		want string
	}{
		"nothing":                 {nil, 9, "initial cookie"},
		"another file":            {[]byte("PK\x03\x04"), 9, "did not find expected serialCookie"},
		"no number":               {one[:6], 9, "read a bitmap size"},
		"too long":                {one, 0, "more than 16 bytes, the most for 0 rows"},
		"cut":                     {one[:18], 9, "byte 18 of 18"},
		"bytes behind":            {append(slices.Clone(one), 0), 9, "1 bytes behind the end at byte 20"},
		"a row too many":          {one, 5, "row 5, there are 5"},
		"an array not in order":   {file(u32(12346, 1), u16(0, 1), u32(16), u16(5, 5)), 9, "incorrectly sorted array"},
		"containers not in order": {file(u32(12346, 2), u16(1, 0, 1, 0), u32(24, 26), u16(1, 1)), 1 << 20, "keys were out of order"},
		"a number of a bitset":    {file(u32(12346, 1), u16(0, 5000), u32(16), make([]uint64, 1024)), 1 << 16, "size 5001 did not match"},
		"no runs":                 {file(u32(12347), []byte{1}, u16(0, 0, 0)), 9, "run contained no interval"},
		"a run too long":          {file(u32(12347), []byte{1}, u16(0, 1, 1, 65535, 1)), 1 << 17, "past the end of the container"},
		"runs that touch":         {file(u32(12347), []byte{1}, u16(0, 3, 2, 1, 1, 3, 1)), 9, "intervals overlapped"},
	} {
		_, err := ReadRoaring(bytes.NewReader(c.data), c.rows)
		if !errors.Is(err, ErrRoaring) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	offset := file(u32(12346, 1), u16(0, 0), u32(17), u16(3)) // offsets are redundant, and readers ignore them
	if b, err := ReadRoaring(bytes.NewReader(offset), 9); err != nil || !slices.Equal(b.ToArray(), []uint32{3}) {
		t.Errorf("a wrong offset: %v, %v", b, err)
	}
	if _, err := ReadRoaring(endless{}, 70_000); !errors.Is(err, ErrRoaring) {
		t.Errorf("no end: %v", err)
	}
	if b, err := ReadRoaring(bytes.NewReader(one), 6); err != nil || !slices.Equal(b.ToArray(), []uint32{3, 5}) {
		t.Errorf("rows 3 and 5: %v, %v", b, err)
	}
}

// endless has more bytes than any bitmap.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// fuzzedBytes and fuzzedRows bound the bytes and the rows of fuzzed bitmaps: two containers, one of them with
// a bitmap of 8 KiB.
const fuzzedBytes, fuzzedRows = 9 << 10, 66_000

// FuzzReadRoaring takes any bytes: an error, or a bitmap that is valid, has rows below
// the limit, and comes back when it is written.
func FuzzReadRoaring(f *testing.F) {
	for _, rows := range [][]uint32{{}, {0}, {5, 9, 40, 65_999}, {65_535, 65_536}} {
		f.Add(uint32(fuzzedRows), mustBytes(f, roaring.BitmapOf(rows...)))
	}
	run := roaring.New()
	run.AddRange(20, 65_990)
	run.RunOptimize()
	f.Add(uint32(fuzzedRows), mustBytes(f, run))
	dense := roaring.New()
	for row := range uint32(4097) {
		dense.Add(15 * row)
	}
	f.Add(uint32(fuzzedRows), mustBytes(f, dense))
	f.Fuzz(func(t *testing.T, rows uint32, data []byte) {
		if rows > fuzzedRows || len(data) > fuzzedBytes {
			return
		}
		b, err := ReadRoaring(bytes.NewReader(data), rows)
		if err != nil {
			if !errors.Is(err, ErrRoaring) {
				t.Fatal(err)
			}
			return
		}
		if err := b.Validate(); err != nil {
			t.Fatal(err)
		}
		set, err := FromRoaring(b, rows)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(AppendIDs(nil, set), b.ToArray()) || !ToRoaring(set).Equals(b) {
			t.Fatal("another bitmap")
		}
		again, err := b.ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := ReadRoaring(bytes.NewReader(again), rows); err != nil || !c.Equals(b) {
			t.Fatalf("read again as another one: %v", err)
		}
	})
}

func mustBytes(t testing.TB, b *roaring.Bitmap) []byte {
	t.Helper()
	data, err := b.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
