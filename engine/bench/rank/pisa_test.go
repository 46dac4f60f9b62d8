package rank

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/bm25"
)

const run = "0 Q0 7 1 2.5 R0\n0 Q0 3 2 2.25 R0\n2 Q0 9 1 0.5 R0\n"

func TestParseRankings(t *testing.T) {
	got, err := parseRankings(run, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[0].Docs, []uint32{7, 3}) || !slices.Equal(got[0].Scores, []float64{2.5, 2.25}) || len(got[1].Docs) != 0 || !slices.Equal(got[2].Docs, []uint32{9}) {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]string{
		"0 Q0 7 1 2.5":            "line 1: 5 fields",
		run + "3 Q0 7 1 2.5 R0":   "line 4: query 3 of 3",
		"-1 Q0 7 1 2.5 R0":        "query -1 of 3",
		"0 Q0 x 1 2.5 R0":         `"x"`,
		"0 Q0 7 1 y R0":           `"y"`,
		"0 Q0 7 2 2.5 R0":         "rank 2 of query 0, not 1",
		"0 Q0 4294967296 1 2.5 R": "out of range",
	} {
		if _, err := parseRankings(text, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParseTimes(t *testing.T) {
	const head = "algorithm\tqid\trun\tusec\n"
	got, err := parseTimes(head+"and\t1\t1\t30\nand\t0\t1\t12\n", 2)
	if err != nil || !slices.Equal(got, []float64{12, 30}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		head + "and\t0\t1\t12\n":                "times of 1 queries, not 2",
		head + "and\t0\t1\t12\nand\t0\t2\t12\n": "line 3: a second time of query 0",
		head + "and\t0\t1\t-1\n":                "time -1",
		head + "and\t0\t1\tNaN\n":               "time NaN",
		head + "and\t0\t1\n":                    "3 fields",
	} {
		if _, err := parseTimes(text, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: the output of a program gives an error or as many answers as there are queries.
func FuzzParse(f *testing.F) {
	f.Add(run)
	f.Add("algorithm\tqid\trun\tusec\nand\t0\t1\t12\n")
	f.Fuzz(func(t *testing.T, text string) {
		if all, err := parseRankings(text, 4); err == nil {
			for _, r := range all {
				if len(r.Docs) != len(r.Scores) {
					t.Fatalf("%+v", r)
				}
			}
		}
		if times, err := parseTimes(text, 4); err == nil && (len(times) != 4 || slices.Min(times) < 0) {
			t.Fatalf("%v", times)
		}
	})
}

func TestCompare(t *testing.T) {
	theirs := pisaRanking{[]uint32{7, 3, 9}, []float64{2.5, 2.25, 2.25}}
	for _, c := range []struct {
		name string
		ours pisaRanking
		want string
	}{
		{"equal", theirs, ""},
		{"rounded", pisaRanking{theirs.Docs, []float64{2.5 + 1e-5, 2.25, 2.25 - 1e-5}}, ""},
		{"ties in another order", pisaRanking{[]uint32{7, 9, 3}, theirs.Scores}, ""},
		{"another tie at the end", pisaRanking{[]uint32{7, 3, 11}, theirs.Scores}, ""},
		{"another document", pisaRanking{[]uint32{8, 3, 9}, theirs.Scores}, "rank 1: document 8"},
		{"documents swapped", pisaRanking{[]uint32{3, 7, 9}, theirs.Scores}, "rank 1: document 3"},
		{"another score", pisaRanking{theirs.Docs, []float64{2.6, 2.25, 2.25}}, "rank 1: score 2.6"},
		{"one too few", pisaRanking{theirs.Docs[:2], theirs.Scores[:2]}, "2 documents, PISA has 3"},
	} {
		err := compareRankings(c.ours, theirs)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// collection has two lists over three documents.
func collection() *pisaCollection {
	lists := [][]uint32{{0, 2}, {1, 2}}
	return &pisaCollection{
		Lengths: []uint32{3, 4, 5}, Lists: 2, Queries: [][]uint32{{0, 1}, {1}}, Params: bm25.Params{K1: 0.9, B: 0.4},
		List: func(list int) (docs, freqs []uint32, err error) { return lists[list], []uint32{1, 2}, nil },
	}
}

// TestPrograms runs the programs of PISA if HEDDLE_PISA names their folder.
func TestPrograms(t *testing.T) {
	folder := os.Getenv("HEDDLE_PISA")
	if folder == "" {
		t.Skip("HEDDLE_PISA does not name the folder of PISA's programs")
	}
	if err := checkPrograms(folder); err != nil {
		t.Fatal(err)
	}
	x, err := buildPISA(t.Context(), folder, t.TempDir(), collection())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := x.Bytes(); err != nil || n < 100 {
		t.Errorf("%d bytes, %v", n, err)
	}
	for algorithm, want := range map[string][][]uint32{"ranked_or": {{0, 1, 2}, {1, 2}}, "ranked_and": {{2}, {1, 2}}} {
		got, err := x.Rank(t.Context(), algorithm, 10)
		if err != nil {
			t.Fatal(err)
		}
		for q := range want {
			if !slices.Equal(slices.Sorted(slices.Values(got[q].Docs)), want[q]) {
				t.Errorf("%s, query %d: %v, want %v", algorithm, q, got[q].Docs, want[q])
			}
		}
		if times, err := x.Time(t.Context(), algorithm, 10); err != nil || len(times) != 2 {
			t.Errorf("%s: times %v, %v", algorithm, times, err)
		}
	}
}

// TestInterface runs scripts with the names of PISA's programs, which check their arguments
// and files.
func TestInterface(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts need a Unix shell")
	}
	folder := t.TempDir()
	err := checkPrograms(folder)
	for _, name := range programs {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Fatalf("an empty folder: %v", err)
		}
	}
	// value NAME prints the argument behind NAME.
	const value = `value() { want=$1; shift; while [ "$1" != "$want" ]; do shift; done; echo "$2"; }` + "\n"
	scripts := map[string]string{
		"compress_inverted_index": `test $(wc -c < $(value --collection "$@").docs) = 32 && cp /dev/null $(value --output "$@")`,
		"create_wand_data":        `test $(wc -c < $(value --collection "$@").sizes) = 16 && test $(value --bm25-k1 "$@") = 0.9 && cp /dev/null $(value --output "$@")`,
		"lexicon":                 `test $(wc -l < $2) = 3 && cp $2 $3`,
		"evaluate_queries":        `test "$(cat $(value --queries "$@"))" = "$(printf '0:0 1\n1:1')" && test -e $(value --index "$@") && echo 0 Q0 2 1 1.5 R0`,
		"queries":                 `test $(value --algorithm "$@") = maxscore || { echo no such algorithm >&2; exit 1; }; printf 'algorithm\tqid\trun\tusec\nmaxscore\t0\t1\t5\nmaxscore\t1\t1\t6\n' > $(value --output "$@")`,
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\nset -e\n"+value+script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkPrograms(folder); err != nil {
		t.Fatal(err)
	}
	x, err := buildPISA(t.Context(), folder, t.TempDir(), collection())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Rank(t.Context(), "maxscore", 10); err != nil || !slices.Equal(got[0].Docs, []uint32{2}) {
		t.Errorf("%v, %v", got, err)
	}
	if times, err := x.Time(t.Context(), "maxscore", 10); err != nil || !slices.Equal(times, []float64{5, 6}) {
		t.Errorf("%v, %v", times, err)
	}
	if _, err := x.Time(t.Context(), "none", 10); err == nil || !strings.Contains(err.Error(), "pisa: queries: exit status 1: no such algorithm") {
		t.Errorf("a program that fails: %v", err)
	}
	broken, lost := collection(), errors.New("lost")
	broken.List = func(int) (docs, freqs []uint32, err error) { return nil, nil, lost }
	if _, err := buildPISA(t.Context(), folder, t.TempDir(), broken); !errors.Is(err, lost) {
		t.Errorf("a list that cannot be read: %v", err)
	}
}
