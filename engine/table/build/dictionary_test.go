package build

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// TestDictionary compares numbers and order with a map: many strings, equal ones, long ones and
// the empty one.
func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.OneOf(rapid.StringN(0, 3, -1), rapid.SampledFrom([]string{"", "a", "\x00", strings.Repeat("b", 3000)}))
		values := rapid.SliceOfN(one, 0, 400).Draw(t, "values")
		d := dictionary{limit: math.MaxUint64, total: new(atomic.Uint64)}
		ids, rows := map[string]uint32{}, map[string]uint32{}
		for _, v := range values {
			want, ok := ids[v]
			if !ok {
				want = uint32(len(ids))
				ids[v] = want
			}
			rows[v]++
			value := []byte(v)
			got, err := d.number(value)
			if err != nil || got != want {
				t.Fatalf("%q has number %d, %v, want %d", v, got, err, want)
			}
			d.rows[got]++
			clear(value) // the dictionary has a copy
		}
		place := d.sort()
		if want := slices.Sorted(maps.Keys(ids)); !slices.Equal(d.list, want) {
			t.Fatalf("entries %q, want %q", d.list, want)
		}
		for v, id := range ids {
			if at := place[id]; d.list[at] != v || d.rows[at] != rows[v] {
				t.Fatalf("%q is at place %d with %d rows, want %d rows", v, at, d.rows[at], rows[v])
			}
		}
	})
}
