package cost

import (
	"fmt"
	"strings"
)

// Kind is a kind of query on lists. Each kind has costs of its own.
type Kind uint8

const (
	And       Kind = iota // docIDs of a conjunction
	Count                 // size of a conjunction
	Boolean               // a boolean expression other than a conjunction
	RankAnd               // the k best documents of a conjunction
	RankOr                // the k best documents of a union
	RankAndOr             // RankAnd, then RankOr if that gives fewer than k
)

var kindNames = [...]string{"and", "count", "boolean", "rank and", "rank or", "rank and-or"}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{And, Count, Boolean, RankAnd, RankOr, RankAndOr} }

// Ranked tells whether queries of the kind return scores.
func (k Kind) Ranked() bool { return k >= RankAnd }

// split is the Common below which queries of a kind have factors of their own. RankAndOr
// costs a conjunction if that has enough documents, else a conjunction and a union. The terms
// of a query are correlated, so that the conjunction is far greater than Common.
func (k Kind) split() float64 {
	if k == RankAndOr {
		return 0.1
	}
	return 0
}

// String returns the name in reports and files.
func (k Kind) String() string { return name(kindNames[:], int(k), "kind") }

// ParseKind is the inverse of String. It ignores case.
func ParseKind(s string) (Kind, error) {
	k, err := parse(kindNames[:], s, "kind of query")
	return Kind(k), err
}

// Metric selects the features that predict the cost of a query.
type Metric uint8

const (
	// Best is the metric with the smallest prediction error on queries outside the fit.
	Best Metric = iota
	// LOS is the length of the shortest list (Wu et al. 2010, section V.B.6).
	LOS
	// UBOC is the upper bound of the number of comparisons: LOS times the sum of the
	// binary logarithms of the lengths of the other lists.
	UBOC
	// UBOCT is UBOC per thread; a query has LOS threads.
	UBOCT
	// Ding is the set of features of Ding et al. 2009, section 9: the lengths of the shortest
	// and the second shortest list, the sum of all lengths, the number of terms.
	Ding
)

var metricNames = [...]string{"best", "los", "uboc", "uboct", "ding"}

// Metrics returns all metrics except Best.
func Metrics() []Metric { return []Metric{LOS, UBOC, UBOCT, Ding} }

// String returns the name on the command line and in files.
func (m Metric) String() string { return name(metricNames[:], int(m), "metric") }

// ParseMetric is the inverse of String. It ignores case.
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
