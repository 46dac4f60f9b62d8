// Package docset has the forms of sets of docIDs that intersections go through: bits, words that
// are not zero, runs, intervals, and ascending docIDs with their searches.
package docset
