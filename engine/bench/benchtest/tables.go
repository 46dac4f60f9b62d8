package benchtest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Numbers of rows of the files of WriteTables.
const (
	WrittenKDD     = 700
	WrittenFlights = 900
)

// kddRow returns a row of KDD Cup 1999: 42 columns.
func kddRow(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d,%s,http%d,SF", i%7, []string{"tcp", "udp"}[i/100%2], i%3)
	for a := 4; a < 41; a++ {
		if a >= 24 && a <= 30 || a >= 33 {
			fmt.Fprintf(&b, ",%.2f", float64(i*a%101)/100)
			continue
		}
		fmt.Fprintf(&b, ",%d", i*a%1000)
	}
	return b.String() + ",normal.\n"
}

func FlightDelay(i int) int16 { return int16(i*i%500) - 60 }

// WriteTables writes small files in the formats of the real tables of bench bitmap into
// dir.
func WriteTables(t *testing.T, dir string) {
	t.Helper()
	write := func(path string, content []byte) {
		t.Helper()
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(content)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var train, test []byte
	for i := range WrittenKDD {
		if i < WrittenKDD/2 {
			train = append(train, kddRow(i)...)
		} else {
			test = append(test, kddRow(i)...)
		}
	}
	write("kddcup99/kddcup.data_10_percent.gz", train)
	write("kddcup99/corrected.gz", test)
	var delay, origin []byte
	for i := range WrittenFlights {
		delay = binary.LittleEndian.AppendUint16(delay, uint16(FlightDelay(i)))
		origin = binary.LittleEndian.AppendUint16(origin, uint16(i%150))
	}
	write("flights/delay_min.i16le.gz", delay)
	write("flights/origin.u16le.gz", origin)
}
