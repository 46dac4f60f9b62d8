// Package binning chooses the bins of a column from the distribution of its values.
// Keys are the integers of package column, in the order of the values.
package binning

import (
	"fmt"

	"heddle/engine/table/column"
)

// MaxBins is how many bins a column may have.
const MaxBins = 10_000

// Sample is the distribution of the values of a column.
type Sample struct {
	Keys []uint64 // ascending and different; the least and the greatest of the column among them
	Rows []uint64 // number of rows of each key; 0 is possible in a sample
	All  bool     // these are all keys of the column, and all of its rows
}

// Choose gives the greatest key of each bin, ascending; the last one is the greatest
// of s.Keys. The bin of a key is the first bin whose greatest key is not below it.
// There are at most n bins, 1 to MaxBins; Distinct has one bin per value. Fewer values
// give fewer bins, and no value gives none. A bin of Width may have no rows. done is the
// binning in force and never Auto.
func Choose(t column.Type, kind column.Binning, n int, s Sample) (done column.Binning, upper []uint64, err error) {
	if n < 1 || n > MaxBins {
		return kind, nil, fmt.Errorf("%d bins, 1 to %d are possible", n, MaxBins)
	}
	if kind == column.Auto {
		kind = column.Quantile
		if s.All && len(s.Keys) <= n {
			kind = column.Distinct
		}
	}
	if len(s.Keys) == 0 {
		return kind, nil, nil
	}
	switch {
	case kind > column.Lloyd:
		return kind, nil, fmt.Errorf("unknown binning %d", kind)
	case kind == column.Distinct:
		if !s.All || len(s.Keys) > MaxBins {
			return kind, nil, fmt.Errorf("more than %d different values, the most that can have a bin each", MaxBins)
		}
		upper = append(upper, s.Keys...)
	case n == 1:
		upper = append(upper, s.Keys[len(s.Keys)-1])
	case kind == column.Width:
		upper = width(t, n, s.Keys)
	case kind == column.Quantile:
		upper = bounds(s, quantile(n, s))
	case kind == column.Lloyd:
		upper = lloyd(t, n, s)
	}
	return kind, upper, nil
}

// bounds is the bounds of bins that end at some places of a sample. A bin with a single
// key of the sample begins with this key, so that keys outside of the sample stay out.
func bounds(s Sample, places []int) []uint64 {
	upper := make([]uint64, len(places))
	for i, p := range places {
		upper[i] = s.Keys[p]
		if !s.All && i+1 < len(places) && places[i+1] == p+1 {
			upper[i] = s.Keys[p+1] - 1
		}
	}
	return upper
}

// quantile gives the places of the greatest keys of bins with about as many rows each.
// A value lies in one bin. One that has the rows of a bin or more gets one of its own,
// as long as there are bins left.
func quantile(n int, s Sample) []int {
	var places []int
	rest, have := uint64(0), uint64(0) // rows behind the last bin, and rows of the current bin
	for i, rows := range s.Rows {
		if rest += rows; len(s.Rows) <= n {
			places = append(places, i)
		}
	}
	if len(s.Rows) <= n {
		return places
	}
	end := func(i int) {
		places = append(places, i)
		rest, have = rest-have, 0
	}
	for i, rows := range s.Rows {
		left := uint64(n - len(places)) // bins
		share := (rest + left - 1) / left
		heavy := rows >= share
		if left > 1 && have > 0 && have+rows > share && (heavy || have+rows-share > share-have) {
			end(i - 1)
			left--
		}
		have += rows
		if left > 1 && have > 0 && (heavy || have >= share) {
			end(i)
		}
	}
	if last := len(s.Rows) - 1; len(places) == 0 || places[len(places)-1] != last {
		places = append(places, last)
	}
	return places
}
