package values_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/table/column"
	"heddle/engine/table/values"
	"heddle/engine/table/values/valuestest"
)

// TestCSV reads the values of all types with the package of the standard library.
func TestCSV(t *testing.T) {
	var out bytes.Buffer
	w := values.NewCSV(&out)
	b := valuestest.Batch()
	for _, part := range []values.Batch{b.Cut(0, 1), b.Cut(1, 3)} {
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for k := range b {
		if lines[0][k] != b[k].Name || lines[1][k] != valuestest.Texts[k][0] || lines[2][k] != "" || lines[3][k] != valuestest.Texts[k][1] {
			t.Errorf("column %s: %q, %q, %q", lines[0][k], lines[1][k], lines[2][k], lines[3][k])
		}
	}
}

// TestMissingText: a missing text is empty, and an empty text is in quotes.
func TestMissingText(t *testing.T) {
	b := values.Batch{{Column: column.Column{Name: `a"b`, Type: column.String, Dictionary: []string{"", " x"}}, Codes: []uint64{0, 1, 0}}, {Column: column.Column{Name: "n", Type: column.Uint}, Codes: []uint64{1, 2, 3}}}
	b[0].SetNull(2)
	var out bytes.Buffer
	w := values.NewCSV(&out)
	if err := errors.Join(w.Write(b), w.Close()); err != nil || out.String() != "\"a\"\"b\",n\n\"\",1\n\" x\",2\n,3\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestLines reads the values of all types as JSON.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	w := values.NewLines(&out)
	b := valuestest.Batch()
	if err := errors.Join(w.Write(b), w.Close()); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	d.UseNumber()
	for i := range 3 {
		var line map[string]any
		if err := d.Decode(&line); err != nil || len(line) != len(b) {
			t.Fatalf("%v, %v", line, err)
		}
		for k := range b {
			got := line[b[k].Name]
			if i == 1 {
				if got != nil {
					t.Errorf("column %s: %v", b[k].Name, got)
				}
				continue
			}
			text := strings.ToValidUTF8(valuestest.Texts[k][i/2], "\ufffd")
			switch got := got.(type) {
			case string:
				if number := b[k].Type == column.Int || b[k].Type.IsDecimal(); got != text || number {
					t.Errorf("column %s: text %q", b[k].Name, got)
				}
			case json.Number:
				if string(got) != text {
					t.Errorf("column %s: %s, want %s", b[k].Name, got, text)
				}
			case bool:
				if (text == "true") != got {
					t.Errorf("column %s: %v", b[k].Name, got)
				}
			}
		}
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("more lines: %v", err)
	}
}

// full is a writer that takes some bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// TestFull writes to a writer that fails.
func TestFull(t *testing.T) {
	for name, open := range map[string]func(io.Writer) values.Writer{"csv": values.NewCSV, "json": values.NewLines} {
		f := full(100)
		w := open(&f)
		var err error
		for range 10_000 {
			if err = w.Write(valuestest.Batch()); err != nil {
				break
			}
		}
		if err == nil || err.Error() != "full" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAppend compares batches that are put together with rows of one batch.
func TestAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) values.Batch {
			c := values.Column{Column: column.Column{Type: column.Uint}, Codes: make([]uint64, n)}
			for i := range n {
				if c.Codes[i] = rapid.Uint64Range(0, 3).Draw(t, "code"); c.Codes[i] == 3 {
					c.Codes[i] = 0
					c.SetNull(i)
				}
			}
			return values.Batch{c}
		}
		all := draw(rapid.IntRange(0, 5).Draw(t, "rows"))
		var want []string
		text := func(b values.Batch) (list []string) {
			for i := range b.Len() {
				list = append(list, string(b[0].AppendJSON(nil, i)))
			}
			return list
		}
		want = text(all)
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			part := draw(rapid.IntRange(0, 4).Draw(t, "rows"))
			want = append(want, text(part)...)
			all.Append(part)
		}
		if got := text(all); !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		order := make([]int, all.Len())
		for i := range order {
			order[i] = len(order) - 1 - i
		}
		slices.Reverse(want)
		if got := text(all.Take(order)); !slices.Equal(got, want) {
			t.Fatalf("reversed: %q, want %q", got, want)
		}
	})
}
