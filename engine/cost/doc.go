// Package cost says what queries take before they run: a linear model of features of the
// query (Wu et al. 2010, section V.B.6; Ding et al. 2009, section 9) for each index,
// backend and kind of query, corrected by what queries really took.
package cost
