package wah

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBuilder(t *testing.T) { both(t, testBuilder[uint32], testBuilder[uint64]) }

// Rows, runs and the plain bitset give the same words, which are valid and decompress to
// the bitset. One word less, one word more or one bit more is invalid.
func testBuilder[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		got := make([]uint64, len(set))
		for i := range got {
			got[i] = ^uint64(0)
		}
		if err := Decompress(got, words, rows); err != nil || !slices.Equal(got, set) {
			t.Fatalf("%d rows: %x (%v), want %x", rows, got, err, set)
		}
		if again := Compress[W](nil, set, rows); !slices.Equal(again, words) {
			t.Fatalf("%d rows: Compress gives %x, Builder %x", rows, again, words)
		}
		var b Builder[W]
		for from, to := range Runs(words, rows) {
			middle := from + (to-from)/3
			b.AddRun(from, middle)
			b.AddRun(middle, to)
		}
		if again := b.AppendTo(nil, rows); !slices.Equal(again, words) {
			t.Fatalf("%d rows: runs give %x, rows %x", rows, again, words)
		}
		if rows > 0 {
			for what, bad := range map[string][]W{
				"one word less":  words[:len(words)-1],
				"one word more":  append(slices.Clone(words), 5),
				"one group more": append(slices.Clone(words), flag[W]()|value[W]()|1),
			} {
				if err := Validate(bad, rows); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%d rows, %s: %v", rows, what, err)
				}
			}
		}
		if rows%GroupBits[W]() != 0 { // in the last group
			b.Add(rows)
			if err := Validate(Or(nil, words, b.AppendTo(nil, rows+1)), rows); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d rows, a one behind them: %v", rows, err)
			}
		}
	})
}

// A builder accepts a row twice, and is empty after AppendTo.
func TestBuilderAgain(t *testing.T) {
	var b Builder[uint32]
	b.Add(40)
	b.Add(40)
	first := b.AppendTo(nil, 50)
	b.Add(40)
	if second := b.AppendTo(nil, 50); !slices.Equal(first, second) || b.Words() != 0 {
		t.Errorf("%x and then %x, %d words left", first, second, b.Words())
	}
}

func TestValidate(t *testing.T) {
	for name, bad := range map[string]struct {
		words []uint32
		rows  uint64
	}{
		"nothing":                   {nil, 1},
		"a fill of no groups":       {[]uint32{1 << 31, 1<<31 | 1}, 31},
		"a literal of zeros":        {[]uint32{0}, 31},
		"a literal of ones":         {[]uint32{1<<31 - 1}, 31},
		"two fills in place of one": {[]uint32{1<<31 | 1, 1<<31 | 1}, 62},
		"a fill too long":           {[]uint32{1<<31 | 2}, 31},
		"a word too many":           {[]uint32{5, 5}, 31},
		"a bit behind the last":     {[]uint32{1 << 5}, 5},
		"ones behind the last":      {[]uint32{3<<30 | 1}, 30},
	} {
		if err := Validate(bad.words, bad.rows); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err := Decompress(make([]uint64, Bitset(bad.rows)), bad.words, bad.rows); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Decompress: %v", name, err)
		}
	}
}

// Vectors with more groups than a fill can have, and with rows above 2^32.
func TestLong(t *testing.T) {
	const rows = 100e9 // 3.2e9 groups: four fills of 32 bits
	last := uint64(rows - 1)
	var b Builder[uint32]
	b.Add(7)
	b.AddRun(40e9, 40e9+31<<20)
	b.Add(last)
	words := b.AppendTo(nil, rows)
	if err := Validate(words, rows); err != nil {
		t.Fatal(err)
	}
	if len(words) > 12 {
		t.Errorf("%d words", len(words))
	}
	if n := Count(words); n != 2+31<<20 {
		t.Errorf("%d ones", n)
	}
	if !Bit(words, last) || !Bit(words, 40e9) || Bit(words, 50e9) {
		t.Error("other bits")
	}
	inverse := Not(nil, words, rows)
	if err := Validate(inverse, rows); err != nil || Count(inverse) != rows-Count(words) {
		t.Errorf("the complement has %d ones (%v)", Count(inverse), err)
	}
	if all := Or(nil, words, inverse); !slices.Equal(all, Not[uint32](nil, nil, rows)) || Validate(all, rows) != nil {
		t.Errorf("with its complement it is %x", all)
	}
	if none := And(nil, inverse, words); !slices.Equal(none, new(Builder[uint32]).AppendTo(nil, rows)) {
		t.Errorf("it shares %x with its complement", none)
	}
	if got := AndNot(nil, Not[uint32](nil, nil, rows), inverse); !slices.Equal(got, words) {
		t.Errorf("the complement of the complement is %x, want %x", got, words)
	}
	runs := 0
	for range Runs(inverse, rows) {
		runs++
	}
	if runs != 3 {
		t.Errorf("%d runs", runs)
	}
	acc := make([]uint32, 3)
	for i := range Groups[uint32](rows) >> 20 {
		clear(acc)
		OrInto(acc, words, positionOf(words, i<<20))
		for j, have := range acc {
			want := uint32(0)
			for k := range uint64(31) {
				if Bit(words, (i<<20+uint64(j))*31+k) {
					want |= 1 << k
				}
			}
			if have != want {
				t.Fatalf("group %d behind tile %d: %x, want %x", j, i, have, want)
			}
		}
	}
}

// Functions that append keep the words in dst.
func TestAllocations(t *testing.T) { both(t, testAllocations[uint32], testAllocations[uint64]) }

func testAllocations[W Word](t *testing.T) {
	const rows = 1 << 16
	r := rand.New(rand.NewPCG(1, 1))
	set := make([]uint64, Bitset(rows))
	for i := range set {
		set[i] = r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
	}
	a := Compress[W](nil, set, rows)
	b := Compress[W](nil, set[1:], rows-64)
	dst := make([]W, 0, 2*len(set)+len(a)+len(b))
	acc := make([]W, Groups[W](rows))
	plain := make([]uint64, len(set))
	var c Builder[W]
	c.AppendTo(nil, rows)
	got := testing.AllocsPerRun(5, func() {
		for _, op := range []func(dst, a, b []W) []W{And[W], Or[W], Xor[W], AndNot[W]} {
			op(dst[:0], a, b)
		}
		Not(dst[:0], a, rows)
		Compress(dst[:0], set, rows)
		OrInto(acc, a, Position{})
		PutGroups(plain, acc)
		if Validate(a, rows) != nil || Decompress(plain, a, rows) != nil || Count(a) == 0 {
			t.Error("another vector")
		}
		for range Rows(a, rows) {
			break
		}
	})
	if got > 0 {
		t.Errorf("%v allocations", got)
	}
}
