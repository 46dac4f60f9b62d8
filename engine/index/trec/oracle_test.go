package trec

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// oracleFiles makes a run and judgements of 12 queries. Some scores are equal, some documents
// have no judgement or a negative one, and some queries occur in one file only. Relevances
// exceed 1 where graded.
func oracleFiles(seed uint64, graded bool) (run, qrels string) {
	r := rand.New(rand.NewPCG(seed, 7))
	var a, b strings.Builder
	for q := range 12 {
		docs := 1 + r.IntN(40)
		for rank, d := range r.Perm(60)[:docs] {
			if q != 3 {
				fmt.Fprintf(&a, "q%d Q0 d%d %d %d tag%d\n", q, d, rank, r.IntN(25), q)
			}
		}
		for _, d := range r.Perm(60)[:1+r.IntN(30)] {
			relevance := r.IntN(3) - 1
			if graded {
				relevance = r.IntN(6) - 1
			}
			if q != 5 {
				fmt.Fprintf(&b, "q%d 0 d%d %d\n", q, d, relevance)
			}
		}
	}
	return a.String(), b.String()
}

// oracleMeasures are all measures that trec_eval has, too. Its rbp normalises graded
// relevances by memory that it has not set, so that rbp is compared without grades.
func oracleMeasures(graded bool) (names []string) {
	for _, m := range measures {
		if !m.extra && (m.name != "rbp" || !graded) {
			names = append(names, m.name)
		}
	}
	return names
}

// compareWithOracle compares an evaluation with the output of trec_eval -q -c.
func compareWithOracle(t *testing.T, output, runText, qrelsText string, graded bool) {
	t.Helper()
	run, err := ReadRun("run", strings.NewReader(runText))
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := ReadQrels("qrels", strings.NewReader(qrelsText))
	if err != nil {
		t.Fatal(err)
	}
	report, err := Evaluate(run, qrels, Options{Measures: oracleMeasures(graded), Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Value{}
	for i := range report.Queries {
		for _, v := range report.Values(&report.Queries[i]) {
			got[v.Name+" "+report.Queries[i].Query] = v
		}
	}
	for _, v := range report.Values(&report.All) {
		got[v.Name+" all"] = v
	}
	lines := 0
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("line %q", line)
		}
		lines++
		v, ok := got[f[0]+" "+f[1]]
		if f[0] == runID {
			if v.Text != f[2] {
				t.Errorf("runid %q, trec_eval has %q", v.Text, f[2])
			}
			continue
		}
		want, err := strconv.ParseFloat(f[2], 64)
		if !ok || err != nil || math.Abs(v.Value-want) > 0.00005001 {
			t.Errorf("%s of %s is %v, trec_eval has %s", f[0], f[1], v.Value, f[2])
		}
	}
	if lines != len(got) {
		t.Errorf("%d values, trec_eval has %d", len(got), lines)
	}
}

// TestOracleOutput compares all measures with the stored output of trec_eval 10.0-rc3.
// HEDDLE_TREC_EVAL=PROGRAM compares with the program itself, on 200 further inputs, and
// rewrites the stored output.
func TestOracleOutput(t *testing.T) {
	program := os.Getenv("HEDDLE_TREC_EVAL")
	for _, graded := range []bool{false, true} {
		path := filepath.Join("testdata", fmt.Sprintf("trec_eval-graded-%v.txt", graded))
		run, qrels := oracleFiles(0, graded)
		if program != "" {
			for seed := range uint64(101) {
				r, q := oracleFiles(seed, graded)
				output := trecEval(t, program, r, q, graded)
				compareWithOracle(t, output, r, q, graded)
				if seed == 0 {
					if err := os.WriteFile(path, []byte(output), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compareWithOracle(t, string(stored), run, qrels, graded)
	}
}

func trecEval(t *testing.T, program, run, qrels string, graded bool) string {
	t.Helper()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "qrels"), filepath.Join(dir, "run")}
	for i, text := range []string{qrels, run} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-q", "-c"}
	for _, name := range oracleMeasures(graded) {
		args = append(args, "-m", name)
	}
	var out, errs bytes.Buffer
	c := exec.Command(program, append(args, files...)...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatal(err, errs.String())
	}
	return out.String()
}
