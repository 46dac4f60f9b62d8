//go:build race

package bench

// raceEnabled says that the race detector makes everything ten times slower.
const raceEnabled = true
