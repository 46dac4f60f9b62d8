package engine

import (
	"fmt"
	"strings"
	"time"

	"heddle/engine/internal/cost"
)

// The kinds of work that batches consist of.
const (
	workCall      = iota // always 1
	workSelection        // of the batch
	workVector           // that is read
	workByte             // of the words of vectors
	workCheck            // a row whose code is looked at
	workPlace            // a place where such rows lie: a word of the vectors that they come from
	workRow              // of a result that is asked for
	workKinds
)

// work is how much of each kind a batch has.
type work [workKinds]float64

// costModel is what a backend takes for one of each kind, in seconds.
type costModel [workKinds]float64

// sample is a batch and what it took.
type sample struct {
	work
	time time.Duration
}

func (m costModel) seconds(w work) float64 {
	t := 0.0
	for k, n := range w {
		t += n * m[k]
	}
	return t
}

func (m costModel) time(w work) time.Duration { return time.Duration(m.seconds(w) * 1e9) }

// String is a sum such as "12.3µs + 400ns a vector + 0.21 ns a byte".
func (m costModel) String() string {
	var parts []string
	for k, unit := range []string{"a call", "a selection", "a vector", "a byte", "a row checked", "a place of checked rows", "a row of the result"} {
		if ns := 1e9 * m[k]; ns >= 1000 {
			parts = append(parts, fmt.Sprintf("%.1f µs %s", ns/1000, unit))
		} else if ns > 0 {
			parts = append(parts, fmt.Sprintf("%.3g ns %s", ns, unit))
		}
	}
	return strings.Join(parts, " + ")
}

// fitCosts finds the model with the least squares of relative errors among those
// without negative costs.
func fitCosts(seen []sample) (m costModel) {
	var rows [][]float64
	var seconds []float64
	for i := range seen {
		rows, seconds = append(rows, seen[i].work[:]), append(seconds, seen[i].time.Seconds())
	}
	copy(m[:], cost.NonNegative(rows, seconds))
	return m
}
