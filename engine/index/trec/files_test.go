package trec

import (
	"bufio"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestFileErrors: an error in a file names its line.
func TestFileErrors(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	for _, test := range []struct{ name, run, qrels, want string }{
		{"fields of a run", "a Q0 d 1 2 tag\n\na Q0 d2 1 2\n", "", "f:3: 5 fields, want QUERY Q0 DOCUMENT RANK SCORE TAG"},
		{"score", "a Q0 d 1 two tag\n", "", `f:1: score "two" is no number`},
		{"score is NaN", "a Q0 d 1 NaN tag\n", "", `f:1: score "NaN" is no number`},
		{"document twice in a run", "a Q0 d 1 2 t\nb Q0 d 1 2 t\n# d\na Q0 e 1 2 t\na Q0 d 9 9 t\n", "", `f:5: query "a" has document "d" twice`},
		{"long line of a run", "a Q0 d 1 2 t\n" + long, "", "f:2: a line of 1048577 bytes; at most 1048576 are possible"},
		{"fields of qrels", "", "a 0 d\n", "f:1: 3 fields, want QUERY ITERATION DOCUMENT RELEVANCE"},
		{"too many fields of qrels", "", "a 0 d 1 1\n", "f:1: 5 fields"},
		{"fields of BEIR", "", "query-id\tcorpus-id\tscore\na\td\t1\na\td\n", "f:3: 2 fields, want QUERY DOCUMENT RELEVANCE"},
		{"relevance", "", "a 0 d 1\r\na 0 e 0.5\r\n", `f:2: relevance "0.5" is no whole number`},
		{"great relevance", "", "a 0 d 3000000000\n", `f:1: relevance "3000000000" is no whole number`},
		{"document twice in qrels", "", "a 0 d 1\na 1 d 1\n", `f:2: query "a" has document "d" twice`},
		{"long line of qrels", "", long, "f:1: a line of 1048577 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			if test.run != "" {
				_, err = ReadRun("f", strings.NewReader(test.run))
			} else {
				_, err = ReadQrels("f", strings.NewReader(test.qrels))
			}
			if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	broken := errors.New("disk is gone")
	if _, err := ReadRun("f", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("reading a run: %v", err)
	}
	if _, err := ReadQrels("f", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("reading qrels: %v", err)
	}
}

// TestAppendLine: a written line is read back, whatever the names and the score.
func TestAppendLine(t *testing.T) {
	if got := string(AppendLine(nil, "q 1", "a\tb\u00a0c", 3, 0.1, "")); got != "q_1 Q0 a_b\u00a0c 3 0.1 _\n" {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^ \t-\r#\x00][^ \t-\r\x00]*`)
		query, doc, tag := name.Draw(t, "query"), name.Draw(t, "doc"), name.Draw(t, "tag")
		score := rapid.Float64().Filter(func(x float64) bool { return !math.IsInf(x, 0) }).Draw(t, "score")
		if strings.HasPrefix(query, "\ufeff") {
			t.Skip("a byte order mark")
		}
		run, err := ReadRun("f", strings.NewReader(string(AppendLine(nil, query, doc, 1, score, tag))))
		if err != nil || len(run.Queries[query]) != 1 || run.Queries[query][0] != (Retrieved{doc, score}) {
			t.Fatalf("%v, %v", run, err)
		}
	})
}

// FuzzRun: any bytes give a run in its order, or an error that names a line.
func FuzzRun(f *testing.F) {
	f.Add(goldenRun)
	f.Add("a Q0 d 1 1e400 t\n")
	f.Add("\ufeffa Q0 d 1 0x1p-2 t\x00\r\n")
	f.Fuzz(func(t *testing.T, file string) {
		run, err := ReadRun("f", strings.NewReader(file))
		checkFileError(t, file, err)
		for query, found := range run.Queries {
			if len(found) == 0 {
				t.Fatalf("query %q without a document", query)
			}
			for i, d := range found[1:] {
				if a := found[i]; !(a.Score > d.Score || a.Score == d.Score && a.Doc > d.Doc) {
					t.Fatalf("%+v before %+v", a, d)
				}
			}
		}
	})
}

// FuzzQrels: any bytes give judgements that can be evaluated, or an error that
// names a line.
func FuzzQrels(f *testing.F) {
	f.Add(goldenQrels)
	f.Add("a 0 d -2147483648\na 0 e 2147483647")
	f.Fuzz(func(t *testing.T, file string) {
		qrels, err := ReadQrels("f", strings.NewReader(file))
		checkFileError(t, file, err)
		if len(qrels) == 0 {
			return
		}
		r, err := Evaluate(Run{}, qrels, Options{Complete: true})
		if err != nil || len(r.Queries) != len(qrels) || value(r, "map") != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	})
}

func checkFileError(t *testing.T, file string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*Error](err)
	// Lines end in LF, or in CR in a file without LF.
	if lines := max(strings.Count(file, "\n"), strings.Count(file, "\r")) + 1; !ok || e.Line < 1 || e.Line > lines || e.Err == io.EOF {
		t.Fatalf("%v of a file of %d lines", err, lines)
	}
}

// TestBEIRQrels reads qrels with a header and without iterations.
func TestBEIRQrels(t *testing.T) {
	got, err := ReadQrels("f", strings.NewReader("query-id\tcorpus-id\tscore\nq1\td7\t2\nq1\td8\t0\nq2\td7\t1\n"))
	if want := (Qrels{"q1": {"d7": 2, "d8": 0}, "q2": {"d7": 1}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestIsRun: a file without lines is a run that found nothing.
func TestIsRun(t *testing.T) {
	for text, want := range map[string]bool{"": true, "\n \n": true, "# a comment\n": true, "a 0 d 1\n": false, "# a comment\na Q0 d 1 2 tag\n": true} {
		if got, err := IsRun("f", bufio.NewReader(strings.NewReader(text))); got != want || err != nil {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}
