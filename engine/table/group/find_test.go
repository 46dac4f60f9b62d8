package group_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/group"
	"heddle/engine/table/hdb"
)

// TestFinder compares codes at places with sorted codes, for many and few rows of a tile, uniform and skewed codes of up to 64
// bits, and codes of one value.
func TestFinder(t *testing.T) {
	const rows = 5*4096 + 1000
	r := rand.New(rand.NewPCG(3, 5))
	shapes := map[string]func(row int) uint64{
		"17 bits":  func(int) uint64 { return r.Uint64N(1 << 17) },
		"30 bits":  func(int) uint64 { return r.Uint64N(1<<30 - 5) },
		"64 bits":  func(int) uint64 { return r.Uint64() },
		"skewed":   func(int) uint64 { return r.Uint64() >> r.UintN(64) },
		"sorted":   func(row int) uint64 { return uint64(row) << 20 },
		"equal":    func(int) uint64 { return 1<<40 + 7 },
		"greatest": func(row int) uint64 { return math.MaxUint64 - uint64(row%3) },
	}
	for name, shape := range shapes {
		table := plantest.NewTable(rows, 32)
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = shape(row)
		}
		table.AddCodes(t, codes)
		none := table.AddVector(plantest.NewFilter(rows, func(row uint32) bool { return row%11 == 0 }))
		in := plan.Input{Last: slices.Max(codes), Missing: true, Vector: none}
		for _, every := range []uint32{1, 3, 500} {
			set := plantest.NewFilter(rows, func(row uint32) bool { return row%every == 0 })
			var want []uint64
			for row, code := range codes {
				if uint32(row)%every == 0 && row%11 != 0 {
					want = append(want, code)
				}
			}
			slices.Sort(want)
			for _, workers := range []int{1, 3} {
				f, err := group.NewFinder(&table.Table, in, set, &group.Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				for _, place := range []int{0, 1, len(want) / 3, len(want) / 2, len(want) - 2, len(want) - 1} {
					if got, err := f.At(uint64(place)); err != nil || got != want[place] {
						t.Errorf("%s, every row of %d, %d workers, place %d: %d, %v, want %d", name, every, workers, place, got, err, want[place])
					}
				}
			}
		}
	}
}

// TestFinderErrors: a code above the last one, which a damaged file has, and the end of a call.
func TestFinderErrors(t *testing.T) {
	const rows = 5000
	table := plantest.NewTable(rows, 32)
	codes := make([]uint64, rows)
	codes[4500] = 1<<20 + 1
	table.AddCodes(t, codes)
	all := plantest.NewFilter(rows, func(uint32) bool { return true })
	ended := errors.New("ended")
	for _, x := range []struct {
		last  uint64
		ended error
		want  error
	}{{1 << 20, nil, hdb.ErrCorrupt}, {1<<20 + 1, ended, ended}, {1<<20 + 1, nil, nil}} {
		f, err := group.NewFinder(&table.Table, plan.Input{Last: x.last}, all, &group.Options{Ended: func() error { return x.ended }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.At(0); !errors.Is(err, x.want) || (err != nil) != (x.want != nil) {
			t.Errorf("last code %d: %v, want %v", x.last, err, x.want)
		}
	}
}
