package chart

import (
	"fmt"
	"slices"
)

// palette has colours of different lightness. Further series are dashed.
var palette = []string{"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#595959"}

func colour(series int) string { return palette[series%len(palette)] }

// ring draws the hollow mark of a paper's figure.
func (p *panel) ring(colour string, x, y float64) {
	p.circle(fmt.Sprintf(`fill="none" stroke="%s"`, colour), x, y, 5)
}

// drawLines draws one line per series, and hollow marks for the paper's figures.
func (p *panel) drawLines() {
	for i, name := range p.series {
		stroke := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="1.4"`, colour(i))
		if i >= len(palette) {
			stroke += ` stroke-dasharray="5 3"`
		}
		fill := fmt.Sprintf(`fill="%s"`, colour(i))
		var line []float64
		paper := false
		for _, r := range p.points {
			if r.Series != name {
				continue
			}
			x, y := p.x.at(r.X), p.y.at(r.Y)
			line = append(line, x, y)
			p.glyph(i, fill, x, y)
			if r.Paper > 0 {
				paper = true
				p.ring(colour(i), x, p.y.at(r.Paper))
			}
		}
		p.line(stroke, line...)
		p.legend = append(p.legend, entry{name, func(x, y float64) {
			p.line(stroke, x-keyWidth/2, y, x+keyWidth/2, y)
			p.glyph(i, fill, x, y)
		}})
		if paper {
			p.legend = append(p.legend, entry{name + ", paper", func(x, y float64) { p.ring(colour(i), x, y) }})
		}
	}
}

// drawBars draws a group or stack of bars for each place. If bars stand alone, hollow marks show the
// paper's figures.
func (p *panel) drawBars() {
	base := 0.0
	if p.LogY {
		base = 1
	}
	stacked := p.Kind == Stacks
	group := 0.8 * (p.x.to - p.x.from) / float64(len(p.places))
	bar := group
	if !stacked {
		bar /= float64(len(p.series))
	}
	sums := make([]float64, len(p.places))
	paper := false
	for i, name := range p.series {
		fill := fmt.Sprintf(`fill="%s"`, colour(i))
		for _, r := range p.points {
			if r.Series != name {
				continue
			}
			place := slices.Index(p.places, r.At)
			left, low, high := p.x.at(float64(place))-group/2, base, r.Y
			if stacked {
				low = max(base, sums[place])
				sums[place] += r.Y
				high = sums[place]
			} else {
				left += bar * float64(i)
			}
			p.area(fill, left, p.y.at(low), left+bar, p.y.at(low), left+bar, p.y.at(high), left, p.y.at(high))
			if r.Paper > 0 && len(p.series) == 1 {
				paper = true
				p.ring("#000", p.x.at(float64(place)), p.y.at(r.Paper))
			}
		}
		p.legend = append(p.legend, entry{name, func(x, y float64) { p.area(fill, x-7, y-4, x+7, y-4, x+7, y+4, x-7, y+4) }})
	}
	if paper {
		p.legend = append(p.legend, entry{"paper", func(x, y float64) { p.ring("#000", x, y) }})
	}
	p.line(axisStyle, p.x.from, p.y.at(base), p.x.to, p.y.at(base))
}
