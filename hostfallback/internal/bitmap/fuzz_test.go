package bitmap

import (
	"encoding/binary"
	"slices"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// FuzzTableWords selects from vectors of arbitrary words, with and without plain rows.
// Valid vectors must give the rows of wah.Decompress, invalid ones rows of the table.
func FuzzTableWords(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0x80, 5, 0, 0, 0}, []byte{1, 0, 0, 0, 9, 0, 0, 0xc0}, uint32(310), false)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{0, 0, 0, 0x80}, uint32(127_000), false)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbf}, []byte{1, 2, 3, 4, 5, 6, 7, 0}, uint32(65_000), true)
	f.Fuzz(func(t *testing.T, a, b []byte, rows uint32, wide bool) {
		tab := &plan.Table{Rows: rows % 200_000}
		for _, data := range [][]byte{a, b} {
			if wide {
				var words []uint64
				for ; len(data) >= 8; data = data[8:] {
					words = append(words, binary.LittleEndian.Uint64(data))
				}
				tab.AppendVector64(words)
				continue
			}
			var words []uint32
			for ; len(data) >= 4; data = data[4:] {
				words = append(words, binary.LittleEndian.Uint32(data))
			}
			tab.AppendVector32(words)
		}
		if tab.Validate() != nil {
			t.Skip("words that do not make a table")
		}
		want, valid := make([]uint64, wah.Bitset(uint64(tab.Rows))), true
		for v := range uint32(2) {
			one := make([]uint64, len(want))
			var err error
			if wide {
				err = wah.Decompress(one, tab.Vector64(v), uint64(tab.Rows))
			} else {
				err = wah.Decompress(one, tab.Vector32(v), uint64(tab.Rows))
			}
			valid = valid && err == nil
			orSet(want, one)
		}
		sel := new(plan.SelectBatch)
		sel.Any(0, 1)
		sel.End()
		for _, limit := range []uint64{0, 1} {
			st := loadAll(t, tab, 1, limit)
			for _, sel.Strategy = range strategies {
				var out plan.Rows
				if err := st.Select(t.Context(), sel, &out); err != nil {
					t.Fatal(err)
				}
				if valid && !slices.Equal(out.Bits, want) {
					t.Errorf("%v, limit %d: other rows", sel.Strategy, limit)
				}
				if countSet(out.Bits) != int(out.Counts[0]) || out.Counts[0] > tab.Rows {
					t.Errorf("%v, limit %d: a count of %d, %d ones, %d rows", sel.Strategy, limit, out.Counts[0], countSet(out.Bits), tab.Rows)
				}
			}
		}
	})
}
