package load

import (
	"math"

	"heddle/engine/bench/measure"
)

// Stairs finds the rate at which half of the loads hold: the rate rises after a load that held and
// falls after another one (the up-and-down method, Dixon and Mood 1948). A step halves at each turn
// and doubles at each third step in one direction. All rates are powers of 2^(1/32), so that systems
// with their loads in turns meet the same rates.
type Stairs struct {
	level, step int // level of the next load, and the last step
	run         int // steps in one direction
	up          bool
	levels      []int // level of each load
	holds       int
	failed      []*Delays
}

// steps is the number of steps from a rate to its double, and of the first step half of it.
const steps = 32

// NewStairs returns stairs that begin near a rate.
func NewStairs(rate float64) *Stairs {
	return &Stairs{level: int(math.Round(steps * math.Log2(rate))), step: steps / 2}
}

func rateOf(level int) float64 { return math.Exp2(float64(level) / steps) }

// Rate is the rate of the next load.
func (s *Stairs) Rate() float64 { return rateOf(s.level) }

// Add takes the outcome of the next load.
func (s *Stairs) Add(d *Delays) {
	up := d.Held(Mostly)
	switch {
	case len(s.levels) == 0:
	case up != s.up:
		s.run, s.step = 0, max(s.step/2, 1)
	case s.run%3 == 2:
		s.step = min(2*s.step, steps)
	}
	s.levels = append(s.levels, s.level)
	s.up, s.run = up, s.run+1
	if up {
		s.holds++
		s.level += s.step
	} else {
		s.failed = append(s.failed, d)
		s.level -= s.step
	}
}

// Sustained summarises the rates of the later half of the loads and of the next one; ok is false if
// no load held.
func (s *Stairs) Sustained() (of measure.Summary, ok bool) {
	var rates []float64
	for _, level := range append(s.levels[(len(s.levels)+1)/2:], s.level) {
		rates = append(rates, rateOf(level))
	}
	return measure.Summarize(rates), s.holds > 0
}

// Limited is the share of the failed loads in which the sender was late: where it is large, the
// system may sustain more.
func (s *Stairs) Limited() float64 {
	n := 0
	for _, d := range s.failed {
		if d.Limited() {
			n++
		}
	}
	return float64(n) / float64(max(len(s.failed), 1))
}
