package result_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
)

// TestFirstRows compares the first rows of an order, which are found in some tiles, with the beginning of all rows in
// that order.
func TestFirstRows(t *testing.T) {
	const rows = 3*4096 + 1000
	r := rand.New(rand.NewPCG(3, 4))
	shapes := map[string]func(row int) any{
		"sorted": func(row int) any { return int64(row / 10) },
		"falls":  func(row int) any { return int64(-row / 3000) },
		"tiles":  func(row int) any { return int64(row / 8192) },
		"mixed": func(row int) any { // one tile of one code, between those of the tile before
			if row/4096 == 1 {
				return int64(995)
			}
			return r.Int64N(1000)
		},
		"few":  func(int) any { return r.Int64N(20) },
		"many": func(int) any { return r.Int64N(1 << 50) },
		"rare": func(row int) any { // most rows have no value
			if row%1000 < 990 {
				return nil
			}
			return r.Int64N(100)
		},
		"most": func(row int) any {
			if row/4096 == 1 || r.IntN(5) == 0 {
				return nil
			}
			return r.Int64N(1000)
		},
	}
	var drawn []predicatetest.Column
	for name, shape := range shapes {
		c := predicatetest.Column{Name: name, Type: column.Int, Bin: func(int, int) int { return 0 }}
		for row := range rows {
			c.Values = append(c.Values, shape(row))
		}
		drawn = append(drawn, c)
	}
	drawn = append(drawn, predicatetest.Column{Name: "row", Type: column.Int, Bin: func(int, int) int { return 0 }})
	for row := range rows {
		last := &drawn[len(drawn)-1]
		last.Values = append(last.Values, int64(row))
	}
	table, columns := predicatetest.Table(t, 32, drawn...)
	sets := [][]uint64{
		plantest.NewFilter(rows, func(uint32) bool { return true }),
		plantest.NewFilter(rows, func(row uint32) bool { return row%7 == 3 }),
		plantest.NewFilter(rows, func(row uint32) bool { return row > 6000 && row < 6010 }),
	}
	for name := range shapes {
		for i, direction := range []string{"", " DESC", " NULLS FIRST", " DESC NULLS FIRST"} {
			for _, second := range []string{"", ", many DESC", ", most NULLS FIRST"}[:1+2*(i%2)] {
				c := statement.Clauses{Select: "row, " + name, OrderBy: name + direction + second}
				for k, set := range sets {
					all, err := run(&table.Table, columns, c, set, result.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for _, opt := range []result.Options{{Limit: 1}, {Limit: 10, Offset: 5}, {Limit: 300}} {
						got, err := run(&table.Table, columns, c, set, opt)
						if err != nil {
							t.Fatal(err)
						}
						n := uint64(len(all))
						if want := all[min(opt.Offset, n):min(opt.Offset+opt.Limit, n)]; !slices.EqualFunc(got, want, slices.Equal) {
							t.Fatalf("%s of set %d, %+v:\n%s, want\n%s", c.OrderBy, k, opt, fmt.Sprint(got), fmt.Sprint(want))
						}
					}
				}
			}
		}
	}
}
