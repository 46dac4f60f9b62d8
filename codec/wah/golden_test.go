package wah

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The records of testdata/vectors.txt fix the code. They change only with the version of
// table files.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for _, block := range blocks[1:] { // the first one is a comment
		record := map[string]string{}
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(line, ":")
			record[key] = strings.TrimSpace(value)
		}
		t.Run(record["name"], func(t *testing.T) {
			golden[uint32](t, record)
			golden[uint64](t, record)
		})
	}
}

func golden[W Word](t *testing.T, record map[string]string) {
	rows := number(t, record["rows"])
	var b Builder[W]
	var ones [][2]uint64
	for field := range strings.FieldsSeq(record["ones"]) {
		from, to, ok := strings.Cut(field, "-")
		if !ok {
			to = from
		}
		run := [2]uint64{number(t, from), number(t, to) + 1}
		b.AddRun(run[0], run[1])
		ones = append(ones, run)
	}
	words := b.AppendTo(nil, rows)
	digits := int(GroupBits[W]()+1) / 4
	var fields []string
	for _, w := range words {
		fields = append(fields, fmt.Sprintf("%0*x", digits, w))
	}
	if got, want := strings.Join(fields, " "), record[fmt.Sprintf("wah%d", 4*digits)]; got != want {
		t.Errorf("words of %d bits:\ngot:  %s\nwant: %s", 4*digits, got, want)
	}
	if err := Validate(words, rows); err != nil {
		t.Error(err)
	}
	var runs [][2]uint64
	for from, to := range Runs(words, rows) {
		runs = append(runs, [2]uint64{from, to})
	}
	if !slices.Equal(runs, ones) {
		t.Errorf("words of %d bits are the ones %v, want %v", 4*digits, runs, ones)
	}
}

func number(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
