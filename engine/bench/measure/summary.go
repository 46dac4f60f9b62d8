package measure

import "slices"

// Summary is the median, minimum and maximum of the runs of one figure.
type Summary struct {
	Median, Min, Max float64
	Runs             int
}

// Summarize returns the summary of values. It sorts them in place.
func Summarize(values []float64) Summary {
	n := len(values)
	if n == 0 {
		return Summary{}
	}
	slices.Sort(values)
	return Summary{Median: (values[(n-1)/2] + values[n/2]) / 2, Min: values[0], Max: values[n-1], Runs: n}
}

// ResponseParts is the number of parts of calls and batches whose medians are compared.
const ResponseParts = 5

// Parts returns the summary of the medians of n consecutive parts of values, which are of
// different things, such as batches: its spread is that of the median. Fewer values are
// parts of one each.
func Parts(values []float64, n int) Summary {
	n = min(n, len(values))
	medians := make([]float64, n)
	for i := range medians {
		medians[i] = Summarize(slices.Clone(values[i*len(values)/n : (i+1)*len(values)/n])).Median
	}
	return Summarize(medians)
}

// Into returns row with the values of the summary.
func (s Summary) Into(row Row) Row {
	row.Median, row.Min, row.Max, row.Runs = s.Median, s.Min, s.Max, s.Runs
	return row
}

// Times returns the summary with every value multiplied by a positive factor.
func (s Summary) Times(factor float64) Summary {
	return Summary{s.Median * factor, s.Min * factor, s.Max * factor, s.Runs}
}

// Per returns amount divided by every value: a summary of times becomes a
// summary of rates, and the reverse.
func (s Summary) Per(amount float64) Summary {
	return Summary{amount / s.Median, amount / s.Max, amount / s.Min, s.Runs}
}

// Rate converts seconds for a number of items to G items per second. It returns
// zero if a time was too short for the clock.
func (s Summary) Rate(items int) Summary {
	if s.Min == 0 {
		return Summary{}
	}
	return s.Per(float64(items) / 1e9)
}

// RatioOf returns a over b. The extremes of the ratio combine opposite extremes of a
// and b.
func RatioOf(a, b Summary) Summary {
	return Summary{Median: a.Median / b.Median, Min: a.Min / b.Max, Max: a.Max / b.Min, Runs: min(a.Runs, b.Runs)}
}

// Single is the summary of a value that was measured once, or computed.
func Single(v float64) Summary { return Summary{v, v, v, 1} }

// Percentile returns the smallest of ascending values that p percent of them do not
// exceed, and 0 if there are none.
func Percentile(ascending []float64, p int) float64 { return Permille(ascending, 10*p) }

// Permille is Percentile for thousandths.
func Permille(ascending []float64, p int) float64 {
	n := len(ascending)
	if n == 0 {
		return 0
	}
	return ascending[max((n*p+999)/1000, 1)-1]
}

// Mean returns the arithmetic mean of values, and 0 if there are none.
func Mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}
