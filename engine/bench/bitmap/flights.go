package bitmap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"heddle/engine/bench/harness"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read/csv"
)

// Parameters of the generated flights.
const (
	flightRows      = 2_300_000 // 50 MB of CSV
	shortFlightRows = 150_000
	airports        = 229
)

// flightFile is a CSV file like the flights of a year: ascending minutes, mostly small
// delays with a long tail, and a distance for each pair of 229 airports, of which few
// have most flights.
type flightFile struct {
	dir, path       string
	bytes           int64
	delay, distance []int16 // values of the rows
}

// newFlights writes the file into a temporary folder.
func (s *bench) newFlights() (f *flightFile, err error) {
	rows := min(s.Opt.Rows, harness.Pick[uint32](&s.Opt, flightRows, shortFlightRows))
	f = &flightFile{}
	if f.dir, err = os.MkdirTemp("", "heddle-bench-"); err != nil {
		return nil, err
	}
	f.path = filepath.Join(f.dir, "flights.csv")
	if err := f.write(rows, s.Opt.Seed); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *flightFile) close() error { return os.RemoveAll(f.dir) }

func (f *flightFile) write(rows uint32, seed uint64) error {
	file, err := os.Create(f.path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<16)
	w.WriteString("minutes,delay,distance,origin,destination\n")
	r := rand.New(rand.NewPCG(seed, 229))
	airport := func() int { return int(airports * math.Pow(r.Float64(), 2.5)) }
	var line []byte
	for row := range uint64(rows) {
		from, to := airport(), airport()
		delay := int(12*r.NormFloat64()) - 4
		if r.IntN(5) == 0 {
			delay += int(40 * r.ExpFloat64())
		}
		// A number from 0 to 1 that depends on the pair.
		pair := float64(uint32(min(from, to)*airports+max(from, to))*2654435761) / (1 << 32)
		distance := min(21+int(-700*math.Log(1-pair)), 4962)
		f.delay, f.distance = append(f.delay, int16(delay)), append(f.distance, int16(distance))
		line = strconv.AppendUint(line[:0], 1+row*365*24*60/uint64(rows), 10)
		line = strconv.AppendInt(append(line, ','), int64(delay), 10)
		line = strconv.AppendInt(append(line, ','), int64(distance), 10)
		for _, a := range []int{from, to} {
			line = append(line, ',', 'A'+byte(a/26/26%26), 'A'+byte(a/26%26), 'A'+byte(a%26))
		}
		w.Write(append(line, '\n')) // Flush returns the error
		f.bytes += int64(len(line)) + 1
	}
	return errors.Join(w.Flush(), file.Close())
}

// build builds a table of columns of the file; without names, of all columns.
func (f *flightFile) build(ctx context.Context, opt tablebuild.Options, columns ...string) (*hdb.File, error) {
	src, err := csv.Open(ctx, []string{f.path}, csv.Options{Columns: columns})
	if err != nil {
		return nil, err
	}
	return buildTable(ctx, filepath.Join(f.dir, "table.hdb"), src, opt)
}

// count returns the number of rows with delay and distance in inclusive ranges. It
// reads every row and has no branches that depend on the data.
func (f *flightFile) count(delay, distance [2]int16) (n uint32) {
	within := func(v int16, r [2]int16) uint32 {
		return (uint32(uint16(v-r[0])) - uint32(uint16(r[1]-r[0])) - 1) >> 31
	}
	distances := f.distance[:len(f.delay)]
	for i, d := range f.delay {
		n += within(d, delay) & within(distances[i], distance)
	}
	return n
}

// onTables calls f with the table on each contestant.
func (s *bench) onTables(ctx context.Context, file *hdb.File, f func(who harness.Contestant, t *table) error) error {
	for _, who := range s.Contestants {
		t, err := s.openTable(ctx, who, file.Table(), file.Columns())
		if err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
		if err = errors.Join(f(who, t), t.close()); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	return nil
}
