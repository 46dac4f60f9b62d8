package group

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/table/gather"
)

// TestCodes adds codes in parts, with and without an array and with codes of 64 bits, merges the halves and counts
// the rows of each code.
func TestCodes(t *testing.T) {
	for _, last := range []uint64{30, 5000, 400_000, 1<<32 - 2, 1 << 40} {
		r := rand.New(rand.NewPCG(last, 1))
		const groups = 3
		want := [groups]map[uint64]uint64{{}, {}, {}}
		of := gather.Unread(plan.Input{Last: last})
		halves := [2]*codes{newCodes(of), newCodes(of)}
		for _, c := range halves {
			c.makeRoom(groups, map[bool]uint64{false: 500, true: 400_000}[last == 400_000])
			for range 20 {
				var ids []uint32
				var list []uint64
				for range 500 {
					id, code := r.Uint32N(2)*2, last-r.Uint64N(min(last, 400)+1)
					if ids, list = append(ids, id), append(list, code); true {
						want[id][code]++
					}
				}
				if c.add(ids, list); c.counts == nil {
					c.settle()
				}
			}
		}
		if (halves[0].counts != nil) != (last == 30 || last == 400_000) || (halves[0].waiting != nil) != (last == 400_000) {
			t.Errorf("last code %d: array %v, places wait: %v", last, halves[0].counts != nil, halves[0].waiting != nil)
		}
		halves[0].merge(halves[1], []uint32{0, 1, 2})
		got, different := halves[0].of(groups), 0
		for id, list := range got {
			different += len(list)
			if !slices.IsSortedFunc(list, func(a, b Frequency) int { return int(int64(a.Code) - int64(b.Code)) }) {
				t.Errorf("last code %d, group %d: %v", last, id, list)
			}
			rows := map[uint64]uint64{}
			for _, f := range list {
				rows[f.Code] = f.Rows
			}
			if !maps.Equal(rows, want[id]) {
				t.Errorf("last code %d, group %d: %v, want %v", last, id, rows, want[id])
			}
		}
		if halves[0].different() != different {
			t.Errorf("last code %d: %d pairs, want %d", last, halves[0].different(), different)
		}
	}
}
