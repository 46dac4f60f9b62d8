package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	someRun   = "a Q0 d1 1 2 t\na Q0 d2 2 1 t\nb Q0 d3 1 1 t\nx Q0 d1 1 1 t\n"
	someQrels = "a 0 d2 1\nb 0 d3 2\nb 0 d4 1\nc 0 d1 1\n"
)

func TestEval(t *testing.T) {
	inTempDir(t)
	writeFile(t, "run.txt", someRun)
	writeFile(t, "qrels.txt", someQrels)
	const half = "heddle eval: 1 queries without results, 1 without judgements\n"
	for _, test := range []struct {
		args string
		want []string // lines, with single blanks
	}{
		{"", []string{"num_q all 2", "num_ret all 3", "num_rel all 3", "num_rel_ret all 2", "map all 0.5000", "recip_rank all 0.7500", "P_5 all 0.2000", "recall_1000 all 0.7500"}},
		{"--complete", []string{"num_q all 3", "num_rel all 4", "map all 0.3333", "recip_rank all 0.5000"}},
		{"-k 2,1", []string{"P_1 all 0.5000", "P_2 all 0.5000", "recall_1 all 0.2500", "ndcg_cut_2 all 0.6956"}},
		{"-q -k 1", []string{"map a 0.5000", "P_1 b 1.0000", "num_ret b 1", "map all 0.5000"}},
		{"--level 2", []string{"num_rel all 1", "map all 0.5000"}},
	} {
		t.Run(test.args, func(t *testing.T) {
			r := heddle(t, append([]string{"eval", "run.txt", "qrels.txt"}, strings.Fields(test.args)...)...)
			if r.code != 0 || r.stderr != half {
				t.Fatalf("%+v", r)
			}
			got := "\n"
			for line := range strings.Lines(r.stdout) {
				if f := strings.Split(line, "\t"); len(f) != 3 || len(f[0]) < 22 {
					t.Errorf("line %q", line)
				}
				got += strings.Join(strings.Fields(line), " ") + "\n"
			}
			for _, line := range test.want {
				if !strings.Contains(got, "\n"+line+"\n") {
					t.Errorf("no line %q in %s", line, got)
				}
			}
		})
	}

	r := heddleWith(t, someRun, nil, "eval", "-", "qrels.txt", "--json", "--per-query", "-k", "1")
	d := json.NewDecoder(strings.NewReader(r.stdout))
	for _, query := range []string{"a", "b", "all"} {
		var m struct {
			Query string
			MAP   float64
			NumQ  *int    `json:"num_q"`
			P1    float64 `json:"P_1"`
		}
		if err := d.Decode(&m); err != nil || m.Query != query || m.MAP != 0.5 || (m.NumQ != nil) != (query == "all") {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if r.code != 0 || d.More() {
		t.Errorf("%+v", r)
	}
}

func TestEvalErrors(t *testing.T) {
	inTempDir(t)
	writeFile(t, "run.txt", someRun)
	writeFile(t, "qrels.txt", someQrels)
	for _, test := range []struct {
		args    string
		code    int
		message string
	}{
		{"eval", exitUsage, "takes a run file and a qrels file, found 0 arguments"},
		{"eval run.txt", exitUsage, "found 1 arguments"},
		{"eval run.txt --fuse rrf", exitUsage, "takes two or more runs"},
		{"eval run.txt run.txt --fuse max", exitUsage, "--fuse \"max\" is unknown (one of [rrf combsum])"},
		{"eval run.txt qrels.txt --fuse rrf", exitFailure, "qrels.txt has judgements"},
		{"eval run.txt qrels.txt run.txt -q", exitUsage, "needs a single run"},
		{"eval run.txt qrels.txt -m prefs_simp", exitUsage, "give the files to trec_eval: trec_eval -m prefs_simp"},
		{"eval - -", exitUsage, "standard input (-) is given twice"},
		{"eval run.txt qrels.txt -k 0,5", exitUsage, "ranks start at 1"},
		{"eval run.txt qrels.txt --level 0", exitUsage, "--level 0 is less than 1"},
		{"eval none.txt qrels.txt", exitFailure, "none.txt"},
		{"eval qrels.txt qrels.txt", exitFailure, "qrels.txt and qrels.txt are both judgements"},
		{"eval run.txt run.txt", exitFailure, "all files are runs"},
		{"eval - qrels.txt", exitFailure, "no query has both results and judgements"},
	} {
		t.Run(test.args, func(t *testing.T) {
			wantFailure(t, heddle(t, strings.Fields(test.args)...), test.code, test.message)
		})
	}
}

// TestEvalOrder: the files may stand in any order.
func TestEvalOrder(t *testing.T) {
	inTempDir(t)
	writeFile(t, "run.txt", someRun)
	writeFile(t, "qrels.txt", "# judgements\n"+someQrels)
	first, second := heddle(t, "eval", "run.txt", "qrels.txt"), heddle(t, "eval", "qrels.txt", "run.txt")
	if first.code != 0 || first != second {
		t.Errorf("%+v, %+v", first, second)
	}
	if r := heddle(t, "eval", "qrels.txt", "run.txt", "-m", "runid", "-m", "RR@1"); r.code != 0 || strings.Join(strings.Fields(r.stdout), " ") != "runid all t RR@1 all 0.5000" {
		t.Errorf("%+v", r)
	}
}

// TestEvalRuns compares runs and fuses them.
func TestEvalRuns(t *testing.T) {
	inTempDir(t)
	writeFile(t, "a.txt", someRun)
	writeFile(t, "b.txt", "a Q0 d2 1 2 u\na Q0 d1 2 1 u\nb Q0 d3 1 1 u\n")
	writeFile(t, "qrels.txt", someQrels)
	r := heddle(t, "eval", "a.txt", "b.txt", "qrels.txt", "-m", "map")
	if want := "map a.txt 0.5000 - - - map b.txt 0.7500 +0.2500 0.5000 1.0000"; r.code != 0 || !strings.HasSuffix(strings.Join(strings.Fields(r.stdout), " "), want) {
		t.Errorf("%+v, want %q", r, want)
	}
	r = heddle(t, "eval", "qrels.txt", "a.txt", "b.txt", "-m", "map", "--json")
	if !strings.Contains(r.stdout, `"difference":0.25`) || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("%+v", r)
	}
	r = heddle(t, "eval", "a.txt", "b.txt", "--fuse", "rrf", "--depth", "1")
	if lines := strings.Split(r.stdout, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "a Q0 d2 1 0.0325") || !strings.HasSuffix(lines[0], " rrf") {
		t.Errorf("%+v", r)
	}
	if back := heddleWith(t, r.stdout, nil, "eval", "-", "qrels.txt", "-m", "P.1"); !strings.Contains(back.stdout, "1.0000") {
		t.Errorf("%+v", back)
	}
}
