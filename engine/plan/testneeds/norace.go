//go:build !race

package testneeds

// Race is true if the race detector is on.
const Race = false
