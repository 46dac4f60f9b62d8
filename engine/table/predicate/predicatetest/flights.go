package predicatetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
)

// Flights is a table of 5003 rows with a column of each type, missing values, every
// encoding, and bins of one value and of several.
var Flights = sync.OnceValue(func() []Column {
	r := rand.New(rand.NewPCG(5, 6))
	columns := []Column{
		{Name: "delay", Type: column.Int, Bin: func(i, n int) int { return i / 7 }},
		{Name: "distance", Type: column.Float, Scale: 2, Encoding: column.Range, Bin: func(i, n int) int { return i * i / n / 40 }},
		{Name: "carrier", Type: column.String, Encoding: column.Interval},
		{Name: "cancelled", Type: column.Bool},
		{Name: "at", Type: column.Timestamp, Encoding: column.Interval, Bin: func(i, n int) int { return i / 100 }},
		{Name: "gate", Type: column.String, Encoding: column.Range},
	}
	day := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5003 {
		values := []any{
			int64(r.ExpFloat64()*40) - 20,
			float64(r.IntN(400)) * 6.25,
			[]string{"AA", "B6", "DL", "UA", "WN"}[min(r.IntN(5), r.IntN(5))],
			r.IntN(30) == 0,
			day.Add(time.Duration(i/3) * time.Hour),
			fmt.Sprint("G", i/1000),
		}
		if r.IntN(12) == 0 {
			values[0], values[2] = nil, nil
		}
		for c, v := range values {
			columns[c].Values = append(columns[c].Values, v)
		}
	}
	return columns
})

// FlightWheres are predicates on Flights that differ in kind.
var FlightWheres = []string{
	"delay >= 60 AND distance < 500",
	"delay BETWEEN 3 AND 4",
	"NOT delay > 12.5",
	"delay IS NULL OR carrier = 'B6'",
	"delay IS NOT NULL AND carrier IN ('AA', 'WN', 'ZZ') AND NOT cancelled",
	"cancelled",
	"at >= '2008-02-01' AND at < '2008-02-03 12:00:00'",
	"(delay < 0 OR distance >= 1e3) AND (carrier = 'DL' OR gate <> 'G3')",
	"distance BETWEEN 100 AND 1100.5 AND delay <> 7",
	"gate >= 'G2' AND gate <= 'G3z' AND 0 <= delay",
	"TRUE",
	"delay = 1e30",
	"carrier = NULL",
}

// FlightAnswers are the answers to FlightWheres by the oracle.
var FlightAnswers = sync.OnceValue(func() (all plan.Rows) {
	for _, where := range FlightWheres {
		rows, n := Select(Flights(), where)
		all.Bits = append(all.Bits, rows...)
		all.Counts = append(all.Counts, n)
		all.Stride = len(rows)
	}
	return all
})

// Select gives the rows of columns for which a predicate is true, as a bitset, and their
// number, by the oracle. It panics on a fault of the predicate.
func Select(columns []Column, where string) (rows []uint64, count uint32) {
	e, err := predicate.Parse(where)
	if err != nil {
		panic(err)
	}
	n := len(columns[0].Values)
	rows = make([]uint64, wah.Bitset(uint64(n)))
	for row := range n {
		value := func(name string) any {
			for _, c := range columns {
				if c.Name == name {
					return c.Values[row]
				}
			}
			panic(name)
		}
		if Eval(&e.Root, value) == True {
			rows[row/64] |= 1 << (row % 64)
			count++
		}
	}
	return rows, count
}
