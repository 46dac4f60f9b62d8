package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"heddle/codec/wah"
	"heddle/engine"
	"heddle/engine/plan"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/rowset"
)

// A table is built from CSV, opened on the best backend that there is, and asked how
// many rows a predicate selects, and which.
func ExampleEngine_OpenTable() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	flights, table := filepath.Join(folder, "flights.csv"), filepath.Join(folder, "flights.hdb")
	text := "delay,distance,carrier\n75,480,AA\n-3,1200,DL\n,900,AA\n130,95,WN\n"
	if err := os.WriteFile(flights, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	src, err := csv.Open(ctx, []string{flights}, csv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(ctx, src, table, tablebuild.Options{}); err != nil {
		log.Fatal(err)
	}

	e, err := engine.New(ctx, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenTable(ctx, table, engine.TableOptions{})
	if err != nil {
		log.Fatal(err)
	}
	late, err := t.Select(ctx, engine.Selection{Where: "delay >= 60 AND distance < 500", Output: plan.OutputCounts})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(late.Count, "late flights on short routes")
	for _, where := range []string{"carrier = 'AA'", "delay IS NULL OR delay < 0"} {
		rows, err := t.Select(ctx, engine.Selection{Where: where})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(where, rowset.AppendIDs(nil, rows.Bits))
	}
	// Output:
	// 2 late flights on short routes
	// carrier = 'AA' [0 2]
	// delay IS NULL OR delay < 0 [1 2]
}

// A table of one column, made by hand: delays of eight flights in minutes, in two bins,
// and one flight of which the delay is not known. Most tables come out of a file
// (OpenTable).
func ExampleEngine_NewTable() {
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
	codes := make([]uint64, rows)
	bins := make([]wah.Builder[uint32], delay.Vectors())
	for row, v := range delays {
		codes[row] = column.IntKey(v) - delay.Base
		bin, _ := delay.Find(codes[row])
		bins[bin].Add(uint64(row))
	}
	bins[2].Add(rows - 1)

	t := &plan.Table{Rows: rows}
	for v := range bins {
		t.AppendVector32(bins[v].AppendTo(nil, rows))
	}
	known := []uint64{1<<len(delays) - 1} // a bit for each row with a delay
	if _, err := t.AppendTiles(codes, known); err != nil {
		log.Fatal(err)
	}

	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.NewTable(ctx, t, []column.Column{delay}, engine.TableOptions{})
	if err != nil {
		log.Fatal(err)
	}
	where := []string{"delay >= 60", "delay BETWEEN 59 AND 61.5", "NOT delay >= 60", "delay IS NULL", "dleay > 0"}
	for _, w := range where {
		rows, err := x.Select(ctx, engine.Selection{Where: w})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d rows, %09b\n", rows.Count, rows.Bits[0]) // row 0 is the last digit
	}
	p, err := x.Prepare(ctx, engine.Selection{Where: where[0]})
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
	// delay: 60 to 200: 2 of 2 bins, checked (8 rows)
}
