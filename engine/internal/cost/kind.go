package cost

import (
	"fmt"
	"strings"
)

// Kind is what is asked of lists: queries of different kinds have different costs.
type Kind uint8

const (
	And       Kind = iota // docIDs that every list has
	Count                 // how many those are
	Formula               // a boolean expression that is no AND of lists
	RankAnd               // the k best of And
	RankOr                // the k best of those that any list has
	RankAndOr             // RankAnd, and RankOr where that gives fewer than k
)

var kindNames = [...]string{"and", "count", "formula", "rank and", "rank or", "rank and-or"}

// Kinds returns all of them.
func Kinds() []Kind { return []Kind{And, Count, Formula, RankAnd, RankOr, RankAndOr} }

// Ranked tells whether scores are asked for.
func (k Kind) Ranked() bool { return k >= RankAnd }

// split is the Common below which queries of a kind are taken for others: RankAndOr costs
// an AND where that has enough documents, else an AND and an OR. Terms of a query belong
// together, so that the AND is far greater than Common.
func (k Kind) split() float64 {
	if k == RankAndOr {
		return 0.1
	}
	return 0
}

// String gives the name that reports and files use.
func (k Kind) String() string { return name(kindNames[:], int(k), "kind") }

// ParseKind is the inverse of String, case ignored.
func ParseKind(s string) (Kind, error) {
	k, err := parse(kindNames[:], s, "kind of query")
	return Kind(k), err
}

// Metric is what the cost of a query is taken to depend on.
type Metric uint8

const (
	// Best is whichever of the others predicts best, by the error on queries that it
	// was not fitted to.
	Best Metric = iota
	// LOS is the length of the shortest list (Wu et al. 2010, section V.B.6).
	LOS
	// UBOC is the upper bound of the number of comparisons: LOS times the sum of the
	// binary logarithms of the lengths of the other lists.
	UBOC
	// UBOCT is UBOC per thread, of which a query has LOS.
	UBOCT
	// Ding is the features of Ding et al. 2009, section 9: the lengths of the shortest
	// and the second shortest list, the sum of all lengths, the number of terms.
	Ding
)

var metricNames = [...]string{"best", "los", "uboc", "uboct", "ding"}

// Metrics returns those that models can be fitted to: all but Best.
func Metrics() []Metric { return []Metric{LOS, UBOC, UBOCT, Ding} }

// String gives the name that command line and files use.
func (m Metric) String() string { return name(metricNames[:], int(m), "metric") }

// ParseMetric is the inverse of String, case ignored.
func ParseMetric(s string) (Metric, error) {
	m, err := parse(metricNames[:], s, "metric")
	return Metric(m), err
}

func name(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func parse(names []string, s, what string) (int, error) {
	for i, n := range names {
		if strings.EqualFold(s, n) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (one of %s)", what, s, strings.Join(names, ", "))
}
