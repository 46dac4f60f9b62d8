package codec

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the words of the encoders into testdata, after a deliberate change of a format")

// golden compares the records of testdata/name with compute. A record is lines "key:
// value" up to an empty line; the last key is "want". The files fix the formats. They
// change only with FORMAT.md and the version of index files.
func golden(t *testing.T, name string, compute func(t *testing.T, record map[string]string) string) {
	t.Helper()
	path := "testdata/" + name
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for i, block := range blocks[1:] { // the first one is a comment
		record := map[string]string{}
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(line, ":")
			record[key] = strings.TrimSpace(value)
		}
		t.Run(record["name"], func(t *testing.T) {
			got := compute(t, record)
			if *update {
				before, _, _ := strings.Cut(block, "want:")
				blocks[1+i] = strings.TrimSpace(before + "want: " + got)
			} else if want, ok := record["want"]; !ok || got != want {
				t.Errorf("%s\ngot:  %s\nwant: %s", record, got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// numbers reads decimal numbers. a-b stands for a, a+1, ..., b.
func numbers(t *testing.T, s string) (values []uint32) {
	t.Helper()
	parse := func(s string) uint32 {
		v, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(v)
	}
	for field := range strings.FieldsSeq(s) {
		from, to, ok := strings.Cut(field, "-")
		if !ok {
			to = from
		}
		for v, n := parse(from), parse(to)-parse(from); ; v, n = v+1, n-1 {
			values = append(values, v)
			if n == 0 {
				break
			}
		}
	}
	return values
}

func ratio(t *testing.T, s string) Options {
	t.Helper()
	r, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return Options{ExceptionRatio: r}
}

func hex(words []uint32) string {
	var fields []string
	for _, w := range words {
		fields = append(fields, fmt.Sprintf("%08x", w))
	}
	return strings.Join(fields, " ")
}

func TestGoldenLists(t *testing.T) {
	golden(t, "lists.txt", func(t *testing.T, record map[string]string) string {
		id, err := ParseID(record["codec"])
		if err != nil {
			t.Fatal(err)
		}
		docs := numbers(t, record["docs"])
		l := encode(t, id, docs, ratio(t, record["ratio"]))
		if got, err := l.AppendTo(nil); err != nil || !slices.Equal(got, docs) {
			t.Errorf("decodes to %v, %v", got, err)
		}
		return hex(l.Words)
	})
}

func TestGoldenGaps(t *testing.T) {
	golden(t, "gaps.txt", func(t *testing.T, record map[string]string) string {
		id, err := ParseID(record["codec"])
		if err != nil {
			t.Fatal(err)
		}
		levels, err := strconv.Atoi(record["levels"])
		if err != nil {
			t.Fatal(err)
		}
		docs := numbers(t, record["docs"])
		l := encode(t, id, docs, Options{RPFDLevels: levels})
		if got := readGaps(l); !slices.Equal(got, docs) {
			t.Errorf("the oracle reads %v", got)
		}
		return hex(l.Words)
	})
}

func TestGoldenPacked(t *testing.T) {
	golden(t, "packed.txt", func(t *testing.T, record map[string]string) string {
		values := numbers(t, record["values"])
		words, err := AppendPacked(nil, values, ratio(t, record["ratio"]))
		if err != nil {
			t.Fatal(err)
		}
		if got := readPacked(len(values), words); !slices.Equal(got, values) {
			t.Errorf("the oracle reads %v", got)
		}
		return hex(words)
	})
}

func TestGoldenLines(t *testing.T) {
	golden(t, "lines.txt", func(t *testing.T, record map[string]string) string {
		l := checkLine(t, numbers(t, record["docs"]))
		return fmt.Sprint(l.Slope, l.Intercept, l.Left, l.Right)
	})
}

func TestGoldenBuckets(t *testing.T) {
	golden(t, "buckets.txt", func(t *testing.T, record map[string]string) string {
		shift, err := strconv.Atoi(record["shift"])
		if err != nil {
			t.Fatal(err)
		}
		table := AppendBuckets(nil, numbers(t, record["docs"]), uint8(shift))
		return strings.Trim(fmt.Sprint(table), "[]")
	})
}
