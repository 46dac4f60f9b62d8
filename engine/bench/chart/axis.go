package chart

import (
	"fmt"
	"math"
)

// axis maps values to coordinates.
type axis struct {
	log      bool
	lo, hi   float64 // values at the ends; decimal logarithms of them on a logarithmic axis
	from, to float64 // coordinates of the ends
	ticks    []tick
}

// empty returns an axis without values.
func empty(log bool) axis { return axis{log: log, lo: math.Inf(1), hi: math.Inf(-1)} }

func (a *axis) scaled(v float64) float64 {
	if a.log {
		return math.Log10(v)
	}
	return v
}

// include extends the axis to a value.
func (a *axis) include(v float64) error {
	s := a.scaled(v)
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return fmt.Errorf("an axis has no place for %v", v)
	}
	a.lo, a.hi = min(a.lo, s), max(a.hi, s)
	return nil
}

// at returns the coordinate of a value.
func (a *axis) at(v float64) float64 {
	return a.from + (a.scaled(v)-a.lo)/(a.hi-a.lo)*(a.to-a.from)
}

// mark sets the ticks.
func (a *axis) mark(ticks func(lo, hi float64) []tick) {
	if a.log {
		a.ticks = ticks(math.Pow(10, a.lo), math.Pow(10, a.hi))
	} else {
		a.ticks = ticks(a.lo, a.hi)
	}
}

// scale sets the ends and the ticks of both axes.
func (p *panel) scale() error {
	p.x, p.y = empty(p.LogX && p.Kind == Lines), empty(p.LogY)
	switch {
	case !p.LogY:
		p.y.lo, p.y.hi = 0, 0
	case p.Kind != Lines:
		p.y.lo, p.y.hi = 0, 0 // the logarithms of 1
	}
	sums := make(map[string]float64) // by place
	for _, r := range p.points {
		y := r.Y
		if p.Kind == Stacks {
			sums[r.At] += r.Y
			y = sums[r.At]
		}
		err := p.y.include(y)
		if err == nil && r.Paper > 0 {
			err = p.y.include(r.Paper)
		}
		if err == nil && p.Kind == Lines {
			err = p.x.include(r.X)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Series, err)
		}
	}
	switch {
	case p.Kind != Lines:
		p.x.lo, p.x.hi = -0.5, float64(len(p.places))-0.5
		for i, place := range p.places {
			p.x.ticks = append(p.x.ticks, tick{float64(i), place})
		}
	case p.LogX:
		p.x.lo, p.x.hi = p.x.lo-0.06, p.x.hi+0.06
		p.x.mark(powersOfTwo)
		if p.Tens {
			p.x.mark(oneTwoFive)
		}
	default:
		if p.x.lo == p.x.hi {
			p.x.lo, p.x.hi = p.x.lo-1, p.x.hi+1
		}
		p.x.mark(evenly)
	}
	if p.LogY {
		p.y.lo, p.y.hi = p.y.lo-0.08, p.y.hi+0.08
		p.y.mark(oneTwoFive)
		return nil
	}
	if p.y.hi *= 1.05; p.y.lo == p.y.hi {
		p.y.hi = 1
	}
	p.y.mark(evenly)
	return nil
}
