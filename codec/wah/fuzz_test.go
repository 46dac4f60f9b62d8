package wah

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The seeds of the targets run as tests.

// FuzzWords reads arbitrary words as a vector, and the second half of them as another
// vector. Functions do not panic, a valid vector is the only code of its rows, and the
// results of operations are canonical.
func FuzzWords(f *testing.F) {
	for _, rows := range []uint64{0, 1, 63, 31 * 63, 1000} {
		for _, s := range shapes {
			set := s.plain(1, rows)
			data := []byte{}
			for _, w := range build[uint32](set, rows) {
				data = binary.LittleEndian.AppendUint32(data, w)
			}
			f.Add(rows, data)
			data = nil
			for _, w := range build[uint64](set, rows) {
				data = binary.LittleEndian.AppendUint64(data, w)
			}
			f.Add(rows, data)
		}
	}
	f.Fuzz(func(t *testing.T, rows uint64, data []byte) {
		words32 := make([]uint32, len(data)/4)
		for i := range words32 {
			words32[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
		checkWords(t, words32, rows%(1<<16))
		words64 := make([]uint64, len(data)/8)
		for i := range words64 {
			words64[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		checkWords(t, words64, rows%(1<<16))
	})
}

func checkWords[W Word](t *testing.T, words []W, rows uint64) {
	set := make([]uint64, Bitset(rows))
	err := Decompress(set, words, rows)
	if (err == nil) != (Validate(words, rows) == nil) {
		t.Fatalf("Decompress: %v, Validate: %v", err, Validate(words, rows))
	}
	if err == nil {
		if again := Compress[W](nil, set, rows); !slices.Equal(again, words) {
			t.Fatalf("%x and %x are the same rows", words, again)
		}
	}
	half := words[len(words)/2:]
	for _, op := range operations[W]() {
		checkCanonical(t, op.apply(nil, words, half))
	}
	inverse := Not(nil, words, rows)
	checkCanonical(t, inverse)
	acc := make([]W, 100)
	for p, n := (Position{}), 0; p.Word < len(words) && n <= 2*len(words); n++ {
		next := OrInto(acc, words, p)
		if next.Word < p.Word || next.Word == p.Word && next.Used <= p.Used {
			t.Fatalf("%d groups behind %v is %v", len(acc), p, next)
		}
		p = next
		Fill(words, p, 3)
	}
	OrInto(acc, words, Position{Word: -1, Used: 1 << 63})
	OrInto(acc, words, Position{Word: len(words) / 2, Used: 1 << 63})
	Bit(words, rows)
	end, first := uint64(0), true
	for from, to := range Runs(words, rows) {
		if from >= to || to > rows || !first && from <= end {
			t.Fatalf("a run from %d to %d behind %d", from, to, end)
		}
		end, first = to, false
	}
}

// checkCanonical checks that words are valid for some number of rows.
func checkCanonical[W Word](t *testing.T, words []W) {
	groups := uint64(0)
	for _, w := range words {
		n := uint64(1)
		if IsFill(w) {
			_, n = FillOf(w)
		}
		if groups += n; groups > ^uint64(0)/GroupBits[W]() {
			return // more rows than there are numbers for
		}
	}
	if err := Validate(words, groups*GroupBits[W]()); err != nil {
		t.Fatalf("%x: %v", words, err)
	}
}

// FuzzOperations compares all functions on two vectors of runs with plain bitsets.
func FuzzOperations(f *testing.F) {
	f.Add([]byte{}, []byte{}, uint16(0))
	f.Add([]byte{0, 31, 0, 31}, []byte{30, 1}, uint16(62))
	f.Add([]byte{0, 250, 200, 5, 3, 3, 3, 3}, []byte{250, 1, 1, 1}, uint16(3000))
	f.Add([]byte{255, 255}, []byte{1, 255, 255}, uint16(9999))
	f.Fuzz(func(t *testing.T, a, b []byte, rows uint16) {
		checkOperations[uint32](t, setOf(a, uint64(rows)), setOf(b, uint64(rows)), uint64(rows))
		checkOperations[uint64](t, setOf(a, uint64(rows)), setOf(b, uint64(rows)), uint64(rows))
	})
}

// setOf reads bytes as lengths of runs, of zeros and of ones in turn. A length above 200
// is a number of groups of 31 rows.
func setOf(lengths []byte, rows uint64) []uint64 {
	set, at := make([]uint64, Bitset(rows)), uint64(0)
	for i, b := range lengths {
		n := uint64(b)
		if n > 200 {
			n = (n - 200) * 31
		}
		end := min(at+n, rows)
		if i%2 != 0 && at < end {
			setRun(set, at, end)
		}
		at = end
	}
	return set
}

func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := uint64(rapid.IntRange(0, 9000).Draw(t, "rows"))
		a := setOf(rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rows)
		b := setOf(rapid.SliceOf(rapid.Byte()).Draw(t, "b"), rows)
		checkOperations[uint32](t, a, b, rows)
		checkOperations[uint64](t, a, b, rows)
	})
}

func checkOperations[W Word](t rapid.TB, a, b []uint64, rows uint64) {
	x, y := Compress[W](nil, a, rows), Compress[W](nil, b, rows)
	got, want := make([]uint64, len(a)), make([]uint64, len(a))
	check := func(name string, words []W) {
		if err := Decompress(got, words, rows); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d rows: %s of %x and %x: %x (%v), want %x", rows, name, x, y, got, err, want)
		}
	}
	copy(want, a)
	check("the first", x)
	for _, op := range operations[W]() {
		for i := range want {
			want[i] = op.plain(a[i], b[i])
		}
		check(op.name, op.apply(nil, x, y))
	}
	for i := range want {
		want[i] = ^a[i]
	}
	if r := rows % 64; r > 0 {
		want[len(want)-1] &= 1<<r - 1
	}
	check("not", Not(nil, x, rows))
	ones := uint64(0)
	for row := range Rows(x, rows) {
		if a[row/64]>>(row%64)&1 == 0 || !Bit(x, row) {
			t.Fatalf("%d rows: one %d of %x is not %d", rows, ones, x, row)
		}
		ones++
	}
	if Count(x) != ones {
		t.Fatalf("%d rows: %d ones of %x, want %d", rows, Count(x), x, ones)
	}
}
