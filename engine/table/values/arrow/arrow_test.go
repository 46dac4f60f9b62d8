package arrow_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
	"heddle/engine/table/values/valuestest"
)

// TestWrite reads the values of all types with the library of the Arrow project.
func TestWrite(t *testing.T) {
	var out bytes.Buffer
	w, b := arrow.New(&out), valuestest.Batch()
	for _, part := range []values.Batch{b.Cut(0, 1), b.Cut(1, 3)} {
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	want := []string{"int64 -9223372036854775808 9223372036854775807", "uint64 1 18446744073709551615", "float64 -0.1 NaN", "float32 1.5 -Inf", "bool true false",
		"timestamp[us, tz=UTC] 2001-02-03T04:05:06.000001Z 9223372036854775807", "timestamp[ns, tz=UTC] 2001-02-03T04:05:06.000000001Z 1969-12-31T23:59:59.999999999Z",
		"decimal(38, 2) -1.5 92233720368547758.07", "decimal(38, 3) 99999999999999999999999999999999999.999 -0.001", `utf8 a"b, é `, "binary /w== /w=="}
	got := make([]string, len(b))
	rows := 0
	for r.Next() {
		batch := r.RecordBatch()
		for k := range got {
			c := batch.Column(k)
			if rows == 0 {
				got[k] = batch.Schema().Field(k).Type.String()
			}
			for i := range c.Len() {
				if rows+i == 1 {
					if !c.IsNull(i) {
						t.Errorf("column %s: %s", batch.ColumnName(k), c.ValueStr(i))
					}
					continue
				}
				got[k] += " " + c.ValueStr(i)
			}
		}
		rows += int(batch.NumRows())
	}
	if rows != 3 || r.Err() != nil {
		t.Errorf("%d rows, %v", rows, r.Err())
	}
	for k := range got {
		if got[k] != want[k] {
			t.Errorf("column %s: %s, want %s", b[k].Name, got[k], want[k])
		}
	}
}

// TestFull writes to a writer that fails.
func TestFull(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	w := arrow.New(f)
	if err := errors.Join(w.Write(valuestest.Batch()), w.Close()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
	if err := arrow.New(f).Close(); err != nil {
		t.Errorf("nothing to write: %v", err)
	}
}
