package engine_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine"
	"heddle/engine/column"
	"heddle/engine/plan"
)

// A table of one column, made by hand: delays of eight flights in minutes, in two bins,
// and one flight of which the delay is not known. Most tables come out of a file
// (OpenTable).
func ExampleNewTable() {
	ctx := context.Background()
	delays := []int64{-5, 61, 12, 75, 0, 60, 200, 59}
	const rows = 9 // the last one has no delay
	delay := column.Column{
		Name:    "delay",
		Type:    column.Int,
		Base:    column.IntKey(slices.Min(delays)),
		Bins:    []column.Bin{{Lo: 0, Hi: 66, Rows: 6}, {Lo: 80, Hi: 205, Rows: 2}}, // to 61 and from 75 on
		Missing: 1,
	}
	codes := make([]uint32, rows)
	bins := make([]wah.Builder[uint32], delay.Vectors())
	for row, v := range delays {
		codes[row] = uint32(column.IntKey(v) - delay.Base)
		bin, _ := delay.Find(uint64(codes[row]))
		bins[bin].Add(uint64(row))
	}
	bins[2].Add(rows - 1)

	t := &plan.Table{Rows: rows, Vectors: make([]plan.Vector, len(bins)), Columns: make([]plan.Values, 1)}
	for v := range bins {
		for len(t.Words32)*4%plan.VectorAlign != 0 {
			t.Words32 = append(t.Words32, 0)
		}
		off := len(t.Words32)
		t.Words32 = bins[v].AppendTo(t.Words32, rows)
		t.Vectors[v] = plan.Vector{Off: uint64(off), Words: uint32(len(t.Words32) - off)}
	}
	var err error
	if t.Packed, err = codec.AppendPacked(nil, codes, codec.DefaultOptions()); err != nil {
		log.Fatal(err)
	}
	t.Columns[0].Low.Words = uint64(len(t.Packed))

	x, err := engine.NewTable(ctx, t, []column.Column{delay}, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	where := []string{"delay >= 60", "delay BETWEEN 59 AND 61.5", "NOT delay >= 60", "delay IS NULL", "dleay > 0"}
	for _, w := range where {
		var out plan.Rows
		if err := x.Select(ctx, []string{w}, engine.TableOptions{}, &out); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d rows, %09b\n", out.Counts[0], out.Selection(0)[0]) // row 0 is the last digit
	}
	p, err := x.Prepare(where[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Plan().Tests[0])
	// Output:
	// 4 rows, 001101010
	// 3 rows, 010100010
	// 4 rows, 010010101
	// 1 rows, 100000000
	// column 1: unknown column "dleay" (nearest: "delay")
	//   dleay > 0
	//   ^
	// delay: 60 to 200: 2 of 2 bins, 1 checked (6 rows)
}
