package demo

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/raw"
)

// flight is a row of the table.
type flight struct{ delay, distance, minutes int32 }

// predicates run in this order; holds is the same condition in Go. They cover one and
// several columns, ranges that cover bins fully and partly, and few and many rows.
var predicates = []struct {
	where string
	holds func(flight) bool
}{
	{"delay >= 60", func(f flight) bool { return f.delay >= 60 }},
	{"delay >= 15 AND 500 <= distance AND distance < 1000",
		func(f flight) bool { return f.delay >= 15 && 500 <= f.distance && f.distance < 1000 }},
	{"delay IN (-1, 0, 1)", func(f flight) bool { return -1 <= f.delay && f.delay <= 1 }},
	{"minutes BETWEEN 10081 AND 20160 AND NOT delay < 120",
		func(f flight) bool { return 10081 <= f.minutes && f.minutes <= 20160 && f.delay >= 120 }},
	{"(delay < -20 OR delay > 300) AND distance > 1000",
		func(f flight) bool { return (f.delay < -20 || f.delay > 300) && f.distance > 1000 }},
	{"distance <> 337 OR minutes > 40000", func(f flight) bool { return f.distance != 337 || f.minutes > 40000 }},
}

// flightColumns lists the columns: names, types and files of heddle bitmap build --raw.
var flightColumns = []raw.Column{
	{Name: "delay", Kind: "i16", Path: "delay_min.i16.gz"},
	{Name: "distance", Kind: "i16", Path: "distance_miles.i16.gz"},
	{Name: "minutes", Kind: "i32", Path: "minutes.i32.gz"},
}

// readFlights reads the columns without the code under demonstration.
func readFlights(dir string) ([]flight, error) {
	var flights []flight
	for _, c := range flightColumns {
		path := filepath.Join(dir, c.Path)
		data, err := readZipped(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		size := map[string]int{"i16": 2, "i32": 4}[c.Kind]
		if flights == nil {
			flights = make([]flight, len(data)/size)
		}
		if len(data) != len(flights)*size {
			return nil, fmt.Errorf("%s has %d bytes, want %d rows of %d", path, len(data), len(flights), size)
		}
		for i := range flights {
			switch c.Name {
			case "delay":
				flights[i].delay = int32(int16(binary.LittleEndian.Uint16(data[size*i:])))
			case "distance":
				flights[i].distance = int32(int16(binary.LittleEndian.Uint16(data[size*i:])))
			case "minutes":
				flights[i].minutes = int32(binary.LittleEndian.Uint32(data[size*i:]))
			}
		}
	}
	return flights, nil
}

func readZipped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// scanFlights returns the rows that a predicate selects, row i at bit i%64 of word i/64,
// and their number. All backends are compared with it.
func scanFlights(flights []flight, holds func(flight) bool) (rows []uint64, count uint32) {
	rows = make([]uint64, (len(flights)+63)/64)
	for i, f := range flights {
		if holds(f) {
			rows[i/64] |= 1 << (i % 64)
			count++
		}
	}
	return rows, count
}

// buildFlights builds the table.
func buildFlights(ctx context.Context, dir, path string) (r tablebuild.Report, err error) {
	var columns []raw.Column
	for _, c := range flightColumns {
		c.Path = filepath.Join(dir, c.Path)
		columns = append(columns, c)
	}
	src, err := raw.Open(ctx, columns, raw.Options{})
	if err != nil {
		return r, err
	}
	defer src.Close()
	return tablebuild.Build(ctx, src, path, tablebuild.Options{Source: dir})
}
