package wah

import (
	"math/bits"
	"slices"
	"testing"
)

// operation is one of And, Or, Xor and AndNot, and its effect on a plain word.
type operation[W Word] struct {
	name  string
	apply func(dst, a, b []W) []W
	plain func(a, b uint64) uint64
}

func operations[W Word]() []operation[W] {
	return []operation[W]{
		{"and", And[W], func(a, b uint64) uint64 { return a & b }},
		{"or", Or[W], func(a, b uint64) uint64 { return a | b }},
		{"xor", Xor[W], func(a, b uint64) uint64 { return a ^ b }},
		{"andnot", AndNot[W], func(a, b uint64) uint64 { return a &^ b }},
	}
}

func TestOperations(t *testing.T) { both(t, testOperations[uint32], testOperations[uint64]) }

// For every pair of shapes, the result is the code of the plain result, after the words
// that were in dst.
func testOperations[W Word](t *testing.T) {
	for _, rows := range sizes[W]() {
		var sets [][]uint64
		var codes [][]W
		for i, s := range shapes {
			sets = append(sets, s.plain(uint64(i), rows))
			codes = append(codes, build[W](sets[i], rows))
		}
		want := make([]uint64, Bitset(rows))
		for i, a := range sets {
			for j, b := range sets {
				for _, op := range operations[W]() {
					for k := range want {
						want[k] = op.plain(a[k], b[k])
					}
					checkCode(t, op.apply([]W{flag[W]() | 1}, codes[i], codes[j]), want, rows, "%s %s %s", shapes[i].name, op.name, shapes[j].name)
				}
			}
			for k := range want {
				want[k] = ^a[k]
			}
			if r := rows % 64; r > 0 {
				want[len(want)-1] &= 1<<r - 1
			}
			checkCode(t, Not([]W{flag[W]() | 1}, codes[i], rows), want, rows, "not %s", shapes[i].name)
		}
	}
}

// checkCode checks for the code of a plain bitset after one word of another vector.
func checkCode[W Word](t *testing.T, got []W, set []uint64, rows uint64, what string, args ...any) {
	t.Helper()
	if want := Compress[W](nil, set, rows); got[0] != flag[W]()|1 || !slices.Equal(got[1:], want) {
		t.Fatalf("%d rows: "+what+": %x, want %x", append(append([]any{rows}, args...), got, want)...)
	}
}

// A shorter vector continues with zeros.
func TestShorter(t *testing.T) { both(t, testShorter[uint32], testShorter[uint64]) }

func testShorter[W Word](t *testing.T) {
	g := GroupBits[W]()
	var b Builder[W]
	b.Add(3)
	short := b.AppendTo(nil, g)
	b.AddRun(2, 5)
	b.AddRun(4*g, 9*g)
	long := b.AppendTo(nil, 10*g)
	for _, op := range operations[W]() {
		for _, pair := range [][2][]W{{short, long}, {long, short}, {nil, long}, {long, nil}} {
			sets := [2][]uint64{}
			for i, words := range pair {
				sets[i] = make([]uint64, Bitset(10*g))
				for row := range Rows(words, 10*g) {
					sets[i][row/64] |= 1 << (row % 64)
				}
			}
			for k := range sets[0] {
				sets[0][k] = op.plain(sets[0][k], sets[1][k])
			}
			if got, want := op.apply(nil, pair[0], pair[1]), Compress[W](nil, sets[0], 10*g); !slices.Equal(got, want) {
				t.Errorf("%s of %x and %x: %x, want %x", op.name, pair[0], pair[1], got, want)
			}
		}
	}
}

func TestBit(t *testing.T) { both(t, testBit[uint32], testBit[uint64]) }

func testBit[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		ones := uint64(0)
		for row := range rows {
			if row%97 > 2 && rows > 200 { // some rows of many
				ones += set[row/64] >> (row % 64) & 1
				continue
			}
			one := set[row/64]>>(row%64)&1 != 0
			if Bit(words, row) != one {
				t.Fatalf("%d rows: row %d is not %t", rows, row, one)
			}
			if one {
				ones++
			}
		}
		if got := Count(words); got != ones {
			t.Fatalf("%d rows: %d ones, want %d", rows, got, ones)
		}
		if Bit(words, rows) || Bit(words, rows+1000) {
			t.Fatalf("%d rows: ones behind them", rows)
		}
	})
}

func TestRuns(t *testing.T) { both(t, testRuns[uint32], testRuns[uint64]) }

func testRuns[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		got, end, runs := make([]uint64, len(set)), uint64(0), 0
		for from, to := range Runs(words, rows) {
			if from >= to || to > rows || runs > 0 && from <= end {
				t.Fatalf("%d rows: a run from %d to %d behind %d", rows, from, to, end)
			}
			setRun(got, from, to)
			end, runs = to, runs+1
		}
		if !slices.Equal(got, set) {
			t.Fatalf("%d rows: %x, want %x", rows, got, set)
		}
		var all []uint64
		for row := range Rows(words, rows) {
			all = append(all, row)
		}
		ones := 0
		for _, w := range set {
			ones += bits.OnesCount64(w)
		}
		if len(all) != ones || !slices.IsSorted(all) {
			t.Fatalf("%d rows: %d of %d ones", rows, len(all), ones)
		}
		for i, row := range all {
			if set[row/64]>>(row%64)&1 == 0 || i > 0 && all[i-1] == row {
				t.Fatalf("%d rows: row %d", rows, row)
			}
		}
		for stop := range min(runs, 3) { // ends when it is told to
			for range Runs(words, rows) {
				if stop--; stop < 0 {
					break
				}
			}
		}
	})
}
