package rank

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// pisaRanking is the answer to a query, the best document first.
type pisaRanking struct {
	Docs   []uint32
	Scores []float64
}

// lines calls f with the fields of each line that is not empty.
func lines(text string, f func(fields []string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("pisa: line %d: %w", n, err)
		}
	}
	return nil
}

// queryNumber reads the number of a query.
func queryNumber(s string, queries int) (int, error) {
	q, err := strconv.Atoi(s)
	if err == nil && (q < 0 || q >= queries) {
		err = fmt.Errorf("query %d of %d", q, queries)
	}
	return q, err
}

// parseRankings reads the output of evaluate_queries, a TREC run: query, Q0, document, rank
// from 1, score, name of the run.
func parseRankings(text string, queries int) ([]pisaRanking, error) {
	all := make([]pisaRanking, queries)
	err := lines(text, func(fields []string) error {
		if len(fields) != 6 {
			return fmt.Errorf("%d fields, a TREC run has 6", len(fields))
		}
		q, err := queryNumber(fields[0], queries)
		if err != nil {
			return err
		}
		doc, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return err
		}
		score, err := strconv.ParseFloat(fields[4], 64)
		if err != nil {
			return err
		}
		if want := strconv.Itoa(len(all[q].Docs) + 1); fields[3] != want {
			return fmt.Errorf("rank %s of query %d, not %s", fields[3], q, want)
		}
		all[q].Docs, all[q].Scores = append(all[q].Docs, uint32(doc)), append(all[q].Scores, score)
		return nil
	})
	return all, err
}

// parseTimes reads the output of queries: a heading, then algorithm, query, run and
// microseconds.
func parseTimes(text string, queries int) ([]float64, error) {
	times := make([]float64, queries)
	seen := make([]bool, queries)
	count := 0
	err := lines(text, func(fields []string) error {
		if len(fields) != 4 {
			return fmt.Errorf("%d fields, times have 4", len(fields))
		}
		if fields[1] == "qid" {
			return nil
		}
		q, err := queryNumber(fields[1], queries)
		if err != nil {
			return err
		}
		t, err := strconv.ParseFloat(fields[3], 64)
		if err == nil && (t < 0 || math.IsNaN(t) || math.IsInf(t, 0)) {
			err = fmt.Errorf("time %v", t)
		}
		if err != nil {
			return err
		}
		if seen[q] {
			return fmt.Errorf("a second time of query %d", q)
		}
		seen[q], times[q] = true, t
		count++
		return nil
	})
	if err == nil && count != queries {
		err = fmt.Errorf("pisa: times of %d queries, not %d", count, queries)
	}
	return times, err
}

// tolerance is the greatest relative difference between equal scores: PISA adds up
// numbers of 32 bits.
const tolerance = 1e-4

// compareRankings reports the first difference between two rankings of a query by equal formulas.
// Documents with nearly equal scores may have any order, and at the end any of them may be
// missing.
func compareRankings(ours, theirs pisaRanking) error {
	if len(ours.Docs) != len(theirs.Docs) {
		return fmt.Errorf("%d documents, PISA has %d", len(ours.Docs), len(theirs.Docs))
	}
	scores := make(map[uint32]float64, len(theirs.Docs))
	for i, doc := range theirs.Docs {
		scores[doc] = theirs.Scores[i]
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b), 1e-3) }
	for i, doc := range ours.Docs {
		if !near(ours.Scores[i], theirs.Scores[i]) {
			return fmt.Errorf("rank %d: score %v, PISA has %v", i+1, ours.Scores[i], theirs.Scores[i])
		}
		score, ok := scores[doc]
		if !ok && !near(ours.Scores[i], theirs.Scores[len(theirs.Scores)-1]) || ok && !near(ours.Scores[i], score) {
			return fmt.Errorf("rank %d: document %d has score %v, in PISA's answer %v", i+1, doc, ours.Scores[i], score)
		}
	}
	return nil
}
